// K1: a threshold with hysteresis over a column of values, or over |v|² of three columns, and the extremes of either. One
// form for every instruction set, whose words are those of a ck_lanes_….h that is included first.
//
// A block is first asked whether anything in it could change the side, because events are rare: only a greater value can end
// *outside*, only a smaller one *inside*. A block in which something could is settled by masks of 64 samples, and so are
// those that follow, until one of them has no crossing.
#include "ckernels.h"

#include <math.h>

#pragma STDC FP_CONTRACT OFF

/// How many samples are asked at once: more would cost more at an event, fewer more where there is none.
#define CK_BLOCK 256

struct ck_columns {
    const float *x, *y, *z;
};

struct ck_band_lanes {
    ck_lanes high, low, under, floor;
};

/// What could change the side, of all samples looked at since a change.
struct ck_watch {
    ck_lanes least[2], greatest[2];
    ck_mask keeps;
};

CK_INLINE int ck_is_two_sided(const struct ck_band *band)
{
    return band->under > -INFINITY || band->floor > -INFINITY;
}

/// The measures of four vectors of samples.
CK_INLINE CK_ISA void ck_measures(const struct ck_columns *from, size_t i, int is_vector, ck_lanes m[4])
{
    const float *columns[3] = {from->x + i, from->y + i, from->z + i};
    for (int axis = 0; axis < (is_vector ? 3 : 1); axis++) {
        ck_lanes v[4];
        for (int k = 0; k < 4; k++)
            v[k] = ck_load(columns[axis] + CK_LANES * k);
        for (int k = 0; is_vector && k < 4; k++)
            v[k] = ck_multiply(v[k], v[k]);
        CK_TOGETHER(v[0], v[1], v[2], v[3]);
        for (int k = 0; k < 4; k++)
            m[k] = axis ? ck_add(m[k], v[k]) : v[k];
        CK_TOGETHER(m[0], m[1], m[2], m[3]);
    }
}

/// The measures of the first `count` samples of a vector.
CK_INLINE CK_ISA ck_lanes ck_measure_some(const struct ck_columns *from, size_t i, size_t count, int is_vector)
{
    ck_lanes x = ck_load_some(from->x + i, count);
    if (!is_vector)
        return x;
    ck_lanes y = ck_load_some(from->y + i, count), z = ck_load_some(from->z + i, count);
    return ck_add(ck_add(ck_multiply(x, x), ck_multiply(y, y)), ck_multiply(z, z));
}

CK_INLINE CK_ISA ck_mask ck_rises(ck_lanes m, const struct ck_band_lanes *band, int is_two_sided)
{
    ck_mask rises = ck_is_above(m, band->high);
    return is_two_sided ? ck_or(rises, ck_is_above(band->under, m)) : rises;
}

CK_INLINE CK_ISA ck_mask ck_keeps(ck_lanes m, const struct ck_band_lanes *band, int is_two_sided)
{
    ck_mask keeps = ck_is_not_below(m, band->low);
    return is_two_sided ? ck_or(keeps, ck_is_not_at_least(m, band->floor)) : keeps;
}

/// Whether a sample of a block, or of those watched before, can change the side. A NaN can not: it comes first in
/// ck_lesser and ck_greater, which then give the second.
CK_INLINE CK_ISA int ck_watch_block(
    const struct ck_columns *from, size_t i, const struct ck_band_lanes *band, struct ck_watch *watch, int is_inside,
    int is_vector, int is_two_sided)
{
    ck_lanes *least = watch->least, *greatest = watch->greatest;
#pragma GCC unroll 4
    for (size_t j = 0; j < CK_BLOCK; j += CK_GROUP) {
        ck_lanes m[4];
        ck_measures(from, i + j, is_vector, m);
        for (int k = 0; !is_inside && k < 4; k++)
            greatest[k & 1] = ck_greater(m[k], greatest[k & 1]);
        for (int k = 0; is_inside != is_two_sided && k < 4; k++)
            least[k & 1] = ck_lesser(m[k], least[k & 1]);
        for (int k = 0; is_inside && is_two_sided && k < 4; k++)
            watch->keeps = ck_and(watch->keeps, ck_keeps(m[k], band, 1));
    }
    if (is_inside && is_two_sided)
        return ck_bits(ck_not(watch->keeps)) != 0;
    if (is_inside)
        return ck_bits(ck_is_above(band->low, ck_lesser(least[0], least[1]))) != 0;
    ck_mask rises = ck_is_above(ck_greater(greatest[0], greatest[1]), band->high);
    if (is_two_sided)
        rises = ck_or(rises, ck_is_above(band->under, ck_lesser(least[0], least[1])));
    return ck_bits(rises) != 0;
}

/// The first block, from one on, in which something can change the side; where the whole ones end when there is none.
///
/// The answer for a block is asked for when the next one has been looked at: a branch on what is not yet known costs more
/// than the look.
CK_INLINE CK_ISA size_t ck_skip(
    const struct ck_columns *from, size_t i, size_t count, const struct ck_band_lanes *band, int is_inside, int is_vector,
    int is_two_sided)
{
    ck_lanes least = ck_all(INFINITY), greatest = ck_all(-INFINITY);
    struct ck_watch watch = {{least, least}, {greatest, greatest}, ck_every_lane()};
    int is_found = 0;
    for (; i + CK_BLOCK <= count; i += CK_BLOCK) {
        int is_found_here = ck_watch_block(from, i, band, &watch, is_inside, is_vector, is_two_sided);
        CK_NOW(is_found_here);
        if (is_found)
            break;
        is_found = is_found_here;
    }
    if (__builtin_expect(is_found, 0))
        return i - CK_BLOCK;
    return i;
}

CK_INLINE CK_ISA uint32_t *ck_settle(
    const struct ck_columns *from, size_t i, const struct ck_band_lanes *band, int is_vector, int is_two_sided,
    uint64_t *inside, uint32_t *end)
{
    uint64_t rises = 0, keeps = 0;
    for (size_t j = 0; j < 64; j += CK_GROUP) {
        ck_lanes m[4];
        ck_mask r[4], k[4];
        ck_measures(from, i + j, is_vector, m);
        for (int n = 0; n < 4; n++) {
            r[n] = ck_rises(m[n], band, is_two_sided);
            k[n] = ck_keeps(m[n], band, is_two_sided);
        }
        rises |= ck_group_bits(r) << j;
        keeps |= ck_group_bits(k) << j;
    }
    return ck_put_all(end, ck_changes(rises, keeps, inside), (uint32_t)i);
}

CK_INLINE CK_ISA size_t ck_crossings(
    struct ck_columns from, size_t count, const struct ck_band *limits, uint64_t *side, uint32_t *crossings, int is_vector,
    int is_two_sided)
{
    struct ck_band_lanes band = {
        ck_all(limits->high), ck_all(limits->low), ck_all(limits->under), ck_all(limits->floor)};
    uint64_t inside = *side;
    uint32_t *end = crossings;
    size_t i = 0;
    while (i + CK_BLOCK <= count) {
        i = inside ? ck_skip(&from, i, count, &band, 1, is_vector, is_two_sided)
                   : ck_skip(&from, i, count, &band, 0, is_vector, is_two_sided);
        for (uint32_t *before = 0; before != end && i + CK_BLOCK <= count; i += CK_BLOCK) {
            before = end;
            for (size_t j = 0; j < CK_BLOCK; j += 64)
                end = ck_settle(&from, i + j, &band, is_vector, is_two_sided, &inside, end);
        }
    }
    for (; i + 64 <= count; i += 64)
        end = ck_settle(&from, i, &band, is_vector, is_two_sided, &inside, end);
    if (i < count) {
        uint64_t rises = 0, keeps = 0, some = ck_first(count - i);
        for (size_t j = 0; j < count - i; j += CK_LANES) {
            ck_lanes m = ck_measure_some(&from, i + j, count - i - j, is_vector);
            rises |= ck_bits(ck_rises(m, &band, is_two_sided)) << j;
            keeps |= ck_bits(ck_keeps(m, &band, is_two_sided)) << j;
        }
        end = ck_put(end, ck_changes(rises & some, keeps | ~some, &inside), (uint32_t)i);
    }
    *side = inside;
    return (size_t)(end - crossings);
}

CK_INLINE CK_ISA struct ck_extremes ck_extremes_of(struct ck_columns from, size_t count, int is_vector)
{
    ck_lanes least[2] = {ck_all(INFINITY), ck_all(INFINITY)}, greatest[2] = {ck_all(-INFINITY), ck_all(-INFINITY)};
    size_t i = 0;
    for (; i + CK_GROUP <= count; i += CK_GROUP) {
        ck_lanes m[4];
        ck_measures(&from, i, is_vector, m);
        for (int k = 0; k < 4; k++)
            greatest[k & 1] = ck_greater(m[k], greatest[k & 1]);
        for (int k = 0; k < 4; k++)
            least[k & 1] = ck_lesser(m[k], least[k & 1]);
    }
    float low[CK_LANES], high[CK_LANES];
    ck_store(low, ck_lesser(least[0], least[1]));
    ck_store(high, ck_greater(greatest[0], greatest[1]));
    struct ck_extremes result = {INFINITY, -INFINITY};
    for (int lane = 0; lane < CK_LANES; lane++) {
        result.least = low[lane] < result.least ? low[lane] : result.least;
        result.greatest = high[lane] > result.greatest ? high[lane] : result.greatest;
    }
    for (; i < count; i++) {
        float m = from.x[i];
        if (is_vector)
            m = m * m + from.y[i] * from.y[i] + from.z[i] * from.z[i];
        result.least = m < result.least ? m : result.least;
        result.greatest = m > result.greatest ? m : result.greatest;
    }
    // Of zeros of both signs any one may come out; as a sum it is the positive one.
    result.least += 0.0f;
    result.greatest += 0.0f;
    return result;
}

CK_ISA size_t CK_FORM(ck_crossings_column)(
    const float *values, size_t count, const struct ck_band *band, uint64_t *inside, uint32_t *crossings)
{
    struct ck_columns from = {values, values, values};
    return ck_is_two_sided(band) ? ck_crossings(from, count, band, inside, crossings, 0, 1)
                                 : ck_crossings(from, count, band, inside, crossings, 0, 0);
}

CK_ISA size_t CK_FORM(ck_crossings_vectors)(
    const float *x, const float *y, const float *z, size_t count, const struct ck_band *band, uint64_t *inside,
    uint32_t *crossings)
{
    struct ck_columns from = {x, y, z};
    return ck_is_two_sided(band) ? ck_crossings(from, count, band, inside, crossings, 1, 1)
                                 : ck_crossings(from, count, band, inside, crossings, 1, 0);
}

CK_ISA struct ck_extremes CK_FORM(ck_extremes_column)(const float *values, size_t count)
{
    struct ck_columns from = {values, values, values};
    return ck_extremes_of(from, count, 0);
}

CK_ISA struct ck_extremes CK_FORM(ck_extremes_vectors)(const float *x, const float *y, const float *z, size_t count)
{
    struct ck_columns from = {x, y, z};
    return ck_extremes_of(from, count, 1);
}
