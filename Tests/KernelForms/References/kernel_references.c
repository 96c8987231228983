#include "kernel_references.h"

#include <math.h>

#pragma STDC FP_CONTRACT OFF

static float square(const float *x, const float *y, const float *z, size_t i)
{
    // In steps of their own, so that no compiler makes one rounding of two.
    volatile float xx = x[i] * x[i], yy = y[i] * y[i], zz = z[i] * z[i];
    volatile float xy = xx + yy;
    return xy + zz;
}

struct chain {
    float high, low, under, floor;
    uint64_t inside;
    size_t count;
    uint32_t *crossings;
};

static void take(struct chain *chain, float value, size_t index)
{
    uint64_t before = chain->inside;
    if (value > chain->high || value < chain->under)
        chain->inside = 1;
    else if (value >= chain->floor && value < chain->low)
        chain->inside = 0;
    if (chain->inside != before)
        chain->crossings[chain->count++] = (uint32_t)index;
}

size_t reference_crossings_column(
    const float *values, size_t count, float high, float low, float under, float floor, uint64_t *inside,
    uint32_t *crossings)
{
    struct chain chain = {high, low, under, floor, *inside, 0, crossings};
    for (size_t i = 0; i < count; i++)
        take(&chain, values[i], i);
    *inside = chain.inside;
    return chain.count;
}

size_t reference_crossings_vectors(
    const float *x, const float *y, const float *z, size_t count, float high, float low, float under, float floor,
    uint64_t *inside, uint32_t *crossings)
{
    struct chain chain = {high, low, under, floor, *inside, 0, crossings};
    for (size_t i = 0; i < count; i++)
        take(&chain, square(x, y, z, i), i);
    *inside = chain.inside;
    return chain.count;
}

static void widen(float value, float *least, float *greatest)
{
    if (value < *least)
        *least = value;
    if (value > *greatest)
        *greatest = value;
}

void reference_extremes_column(const float *values, size_t count, float *least, float *greatest)
{
    *least = INFINITY;
    *greatest = -INFINITY;
    for (size_t i = 0; i < count; i++)
        widen(values[i] == 0 ? 0 : values[i], least, greatest);
}

void reference_extremes_vectors(
    const float *x, const float *y, const float *z, size_t count, float *least, float *greatest)
{
    *least = INFINITY;
    *greatest = -INFINITY;
    for (size_t i = 0; i < count; i++)
        widen(square(x, y, z, i), least, greatest);
}

int reference_facing(const struct reference_sector *sector, const float a[3], const float m[3], double *nearest)
{
    int u = sector->axis, v = (u + 1) % 3, w = (u + 2) % 3;
    double aa = 0, am = 0, mm = 0;
    for (int i = 0; i < 3; i++) {
        aa += (double)a[i] * a[i];
        am += (double)a[i] * m[i];
        mm += (double)m[i] * m[i];
    }
    double east = ((double)m[v] * a[w] - (double)m[w] * a[v]) * sqrt(aa);
    double north = m[u] * aa - a[u] * am;
    double heading = atan2(east, north) * 180 / 3.14159265358979323846 + (sector->is_reversed ? 180 : 0);
    double off = fabs(remainder(heading - sector->bearing, 360));
    *nearest = fmin(fabs(off - sector->tolerance), fabs(off - sector->exit));
    // Where the axis is nearly vertical, or the field nearly parallel to gravity, Float knows the heading less well.
    double share = sqrt(east * east + north * north) / (aa * sqrt(mm));
    if (share < 0.1)
        *nearest *= share * 10;
    return off < sector->tolerance ? 1 : off > sector->exit ? -1 : 0;
}
