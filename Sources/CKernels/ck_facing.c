#include "ckernels.h"

#include <math.h>

/// x·|x|, which keeps the sign of x.
static float signed_square(double x)
{
    return (float)(x * fabs(x));
}

/// The rays at `half_width` degrees to both sides of a bearing. A reversed axis changes the signs of both components.
static struct ck_rays make_rays(double bearing, double half_width, int is_reversed)
{
    const double radian = 3.14159265358979323846 / 180;
    double right = (bearing + half_width) * radian, left = (bearing - half_width) * radian;
    // Inside is right of the left ray and left of the right one; from 90 degrees on, one of them is enough.
    double sign = half_width < 90 ? 1 : -1;
    double scale = is_reversed ? -sign : sign;
    struct ck_rays rays = {
        {signed_square(sin(right)) * (float)scale, -signed_square(sin(left)) * (float)scale},
        {signed_square(cos(right)) * (float)scale, -signed_square(cos(left)) * (float)scale},
        (float)sign};
    return rays;
}

/// Both rays of a sector around north or south in one: they differ only in the sign of east, which is squared.
static struct ck_rays make_symmetric_rays(double half_width, int is_south)
{
    const double radian = 3.14159265358979323846 / 180;
    double cotangent = cos(half_width * radian) / sin(half_width * radian);
    struct ck_rays rays = {{is_south ? -1 : 1, 0}, {signed_square(cotangent), 0}, 1};
    return rays;
}

struct ck_sector ck_make_sector(int axis, int is_reversed, double bearing, double tolerance, double exit)
{
    struct ck_sector sector;
    sector.axis = axis;
    sector.is_symmetric = bearing == 0 || bearing == 180;
    if (sector.is_symmetric) {
        // The reversed axis points south where the axis points north.
        int is_south = (bearing == 180) != (is_reversed != 0);
        sector.enter = make_symmetric_rays(tolerance, is_south);
        sector.leave = make_symmetric_rays(exit, is_south);
    } else {
        sector.enter = make_rays(bearing, tolerance, is_reversed);
        sector.leave = make_rays(bearing, exit, is_reversed);
    }
    return sector;
}
