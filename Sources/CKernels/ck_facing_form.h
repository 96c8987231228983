// K3: whether an axis points into a sector of headings, without an arc tangent and without a root.
#include "ck_chain_form.h"

#pragma STDC FP_CONTRACT OFF

CK_ISA size_t CK_FORM(ck_crossings_facing)(
    const float *ax, const float *ay, const float *az, const float *mx, const float *my, const float *mz, size_t count,
    const struct ck_sector *sector, uint64_t *inside, uint32_t *crossings)
{
    const float *a[3] = {ax, ay, az}, *m[3] = {mx, my, mz};
    int u = sector->axis, v = (u + 1) % 3, w = (u + 2) % 3;
    const struct ck_samples from = {.a = {a[u], a[v], a[w]}, .m = {m[u], m[v], m[w]}, .sector = sector};
    // Smaller margins change nothing: both vectors are so short that the fourth powers vanish.
    const struct ck_band band = {CK_LEAST_MARGIN, -CK_LEAST_MARGIN, -INFINITY, -INFINITY};
    if (!sector->is_symmetric)
        return ck_crossings(&from, count, &band, inside, crossings, CK_BEARING, 0);
    return sector->enter.north[0] > 0 ? ck_crossings(&from, count, &band, inside, crossings, CK_NORTH, 0)
                                      : ck_crossings(&from, count, &band, inside, crossings, CK_SOUTH, 0);
}
