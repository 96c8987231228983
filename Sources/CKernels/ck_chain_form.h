// Hysteresis over a range, and the quantities compared: K1's values and squared lengths, K3's margins. The same source for
// every instruction set, whose operations are those of a ck_lanes_….h that is included first.
//
// Events are rare, so that a block is first tested for values that could change the side: only a greater value can end
// *outside*, only a smaller one *inside*. Such a block is evaluated with masks of 64 samples, and so are the following ones,
// until one has no crossing.
#ifndef CK_CHAIN_FORM_H
#define CK_CHAIN_FORM_H

#include "ckernels.h"

#include <math.h>

#pragma STDC FP_CONTRACT OFF

/// The number of samples tested together: more would cost more at an event, fewer would cost more without one.
#define CK_BLOCK 256

/// The quantity that is compared; a constant at every use, so that each kind is compiled separately.
enum ck_kind {
    /// Values.
    CK_COLUMN,
    /// Squared lengths of vectors.
    CK_VECTORS,
    /// The margin of an axis in a sector around magnetic north.
    CK_NORTH,
    /// The margin in a sector around magnetic south.
    CK_SOUTH,
    /// The margin in a sector around any bearing.
    CK_BEARING,
};

struct ck_samples {
    /// The values; or the axes of the vectors; or those of the acceleration in cyclic order, the sector's own first.
    const float *a[3];
    /// The axes of the field, in the same order.
    const float *m[3];
    const struct ck_sector *sector;
};

struct ck_band_lanes {
    ck_lanes high, low, under, floor;
};

CK_INLINE int ck_is_two_sided(const struct ck_band *band)
{
    return band->under > -INFINITY || band->floor > -INFINITY;
}

// MARK: - Quantities

/// The margin of the axis in a sector: positive inside, negative outside; only the sign is meaningful.
///
/// With the axis u, e = u·(m × a) and n = u·(m(a·a) − a(a·m)), in which the squares of the axis' own component cancel, the
/// heading is atan2(e·√(a·a), n). The sign of e·√(a·a)·cos α − n·sin α is the side of the ray at α; squares that keep their
/// signs compare the same without the root.
CK_INLINE CK_ISA ck_lanes ck_margin(
    const ck_lanes a[3], const ck_lanes m[3], const struct ck_rays *rays, enum ck_kind kind)
{
    ck_lanes flat = a[1] * a[1] + a[2] * a[2], along = a[1] * m[1] + a[2] * m[2];
    ck_lanes level = m[0] * flat, upright = a[0] * along;
    ck_lanes north = kind == CK_SOUTH ? upright - level : level - upright;
    ck_lanes east = m[1] * a[2] - m[2] * a[1];
    ck_lanes square = flat + a[0] * a[0];
    ck_lanes norths = north * ck_magnitude(north);
    if (kind != CK_BEARING)
        return norths - east * east * square * ck_all(rays->east[0]);
    ck_lanes easts = east * ck_magnitude(east) * square;
    ck_lanes right = norths * ck_all(rays->north[0]) - easts * ck_all(rays->east[0]);
    ck_lanes left = norths * ck_all(rays->north[1]) - easts * ck_all(rays->east[1]);
    return ck_lesser(right, left) * ck_all(rays->sign);
}

CK_INLINE int ck_is_facing(enum ck_kind kind)
{
    return kind >= CK_NORTH;
}

/// The quantities of four vectors of samples; `is_falling` for the limit that ends *inside*.
CK_INLINE CK_ISA void ck_measures(
    const struct ck_samples *from, size_t i, enum ck_kind kind, int is_falling, ck_lanes result[4])
{
    if (ck_is_facing(kind)) {
        for (int k = 0; k < 4; k++) {
            ck_lanes a[3], m[3];
            for (int axis = 0; axis < 3; axis++) {
                a[axis] = ck_load(from->a[axis] + i + CK_LANES * k);
                m[axis] = ck_load(from->m[axis] + i + CK_LANES * k);
            }
            result[k] = ck_margin(a, m, is_falling ? &from->sector->leave : &from->sector->enter, kind);
            // One after the other, because four at once need too many registers.
            if (kind != CK_BEARING)
                CK_KEEP(result[k]);
        }
        return;
    }
    for (int axis = 0; axis < (kind == CK_VECTORS ? 3 : 1); axis++) {
        ck_lanes v[4];
        for (int k = 0; k < 4; k++)
            v[k] = ck_load(from->a[axis] + i + CK_LANES * k);
        for (int k = 0; kind == CK_VECTORS && k < 4; k++)
            v[k] = v[k] * v[k];
        CK_TOGETHER(v[0], v[1], v[2], v[3]);
        for (int k = 0; k < 4; k++) {
            if (axis)
                result[k] += v[k];
            else
                result[k] = v[k];
        }
        CK_TOGETHER(result[0], result[1], result[2], result[3]);
    }
}

/// The quantities of the first `count` samples of a vector.
CK_INLINE CK_ISA ck_lanes ck_measure_some(
    const struct ck_samples *from, size_t i, size_t count, enum ck_kind kind, int is_falling)
{
    ck_lanes a[3], m[3];
    a[0] = ck_load_some(from->a[0] + i, count);
    if (kind == CK_COLUMN)
        return a[0];
    a[1] = ck_load_some(from->a[1] + i, count);
    a[2] = ck_load_some(from->a[2] + i, count);
    if (kind == CK_VECTORS)
        return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    for (int axis = 0; axis < 3; axis++)
        m[axis] = ck_load_some(from->m[axis] + i, count);
    return ck_margin(a, m, is_falling ? &from->sector->leave : &from->sector->enter, kind);
}

/// Makes infinity NaN, because the sign of a margin that overflowed is not meaningful.
CK_INLINE CK_ISA ck_lanes ck_only_finite(ck_lanes value, enum ck_kind kind)
{
    if (ck_is_facing(kind))
        value += value - value;
    return value;
}

CK_INLINE CK_ISA ck_mask ck_rises(ck_lanes m, const struct ck_band_lanes *band, int is_two_sided)
{
    ck_mask rises = ck_is_above(m, band->high);
    if (is_two_sided)
        rises |= ck_is_above(band->under, m);
    return rises;
}

CK_INLINE CK_ISA ck_mask ck_keeps(ck_lanes m, const struct ck_band_lanes *band, int is_two_sided)
{
    ck_mask keeps = ck_is_not_below(m, band->low);
    if (is_two_sided)
        keeps |= ck_is_not_at_least(m, band->floor);
    return keeps;
}

// MARK: - Skipping blocks

/// The extremes of all samples since a change, which tell whether the side can change.
struct ck_watch {
    ck_lanes least[2], greatest[2];
    ck_mask keeps;
};

CK_INLINE CK_ISA struct ck_watch ck_new_watch(void)
{
    ck_lanes least = ck_all(INFINITY), greatest = ck_all(-INFINITY);
    return (struct ck_watch){{least, least}, {greatest, greatest}, ~(ck_mask){0}};
}

/// Whether one of `length` samples, or of those before, can change the side. A NaN cannot: it is the first operand of
/// ck_lesser and ck_greater, which then return the second. A margin that overflowed may seem to, which only costs time.
CK_INLINE CK_ISA int ck_watch_block(
    const struct ck_samples *from, size_t i, size_t length, const struct ck_band_lanes *band, struct ck_watch *watch,
    int is_inside, enum ck_kind kind, int is_two_sided)
{
    ck_lanes *least = watch->least, *greatest = watch->greatest;
#pragma GCC unroll 4
    for (size_t j = 0; j < length; j += CK_GROUP) {
        ck_lanes m[4];
        ck_measures(from, i + j, kind, is_inside, m);
        for (int k = 0; !is_inside && k < 4; k++)
            greatest[k & 1] = ck_greater(m[k], greatest[k & 1]);
        for (int k = 0; is_inside != is_two_sided && k < 4; k++)
            least[k & 1] = ck_lesser(m[k], least[k & 1]);
        for (int k = 0; is_inside && is_two_sided && k < 4; k++)
            watch->keeps &= ck_keeps(m[k], band, 1);
    }
    if (is_inside && is_two_sided)
        return ck_bits(~watch->keeps) != 0;
    if (is_inside)
        return ck_bits(ck_is_above(band->low, ck_lesser(least[0], least[1]))) != 0;
    ck_mask rises = ck_is_above(ck_greater(greatest[0], greatest[1]), band->high);
    if (is_two_sided)
        rises |= ck_is_above(band->under, ck_lesser(least[0], least[1]));
    return ck_bits(rises) != 0;
}

/// The first block in which the side can change, or the end of the whole blocks.
///
/// The branch for a block follows the test of the next one, because waiting for the result costs more than that test.
CK_INLINE CK_ISA size_t ck_skip(
    const struct ck_samples *from, size_t i, size_t count, const struct ck_band_lanes *band, int is_inside,
    enum ck_kind kind, int is_two_sided)
{
    struct ck_watch watch = ck_new_watch();
    int is_found = 0;
    for (; i + CK_BLOCK <= count; i += CK_BLOCK) {
        int is_found_here = ck_watch_block(from, i, CK_BLOCK, band, &watch, is_inside, kind, is_two_sided);
        CK_NOW(is_found_here);
        if (is_found)
            break;
        is_found = is_found_here;
    }
    if (__builtin_expect(is_found, 0))
        return i - CK_BLOCK;
    return i;
}

/// Whether none of 64 samples can change the side.
CK_INLINE CK_ISA int ck_is_calm(
    const struct ck_samples *from, size_t i, const struct ck_band_lanes *band, uint64_t inside, enum ck_kind kind,
    int is_two_sided)
{
    struct ck_watch watch = ck_new_watch();
    return inside ? !ck_watch_block(from, i, 64, band, &watch, 1, kind, is_two_sided)
                  : !ck_watch_block(from, i, 64, band, &watch, 0, kind, is_two_sided);
}

// MARK: - Hysteresis

/// Evaluates 64 samples.
CK_INLINE CK_ISA uint32_t *ck_evaluate(
    const struct ck_samples *from, size_t i, const struct ck_band_lanes *band, enum ck_kind kind, int is_two_sided,
    uint64_t *inside, uint32_t *end)
{
    uint64_t rises = 0, keeps = 0;
    for (size_t j = 0; j < 64; j += CK_GROUP) {
        ck_lanes rising[4], falling[4];
        ck_mask r[4], k[4];
        ck_measures(from, i + j, kind, 0, rising);
        if (ck_is_facing(kind))
            ck_measures(from, i + j, kind, 1, falling);
        for (int n = 0; n < 4; n++) {
            ck_lanes last = ck_is_facing(kind) ? falling[n] : rising[n];
            r[n] = ck_rises(ck_only_finite(rising[n], kind), band, is_two_sided);
            k[n] = ck_keeps(ck_only_finite(last, kind), band, is_two_sided);
        }
        rises |= ck_group_bits(r) << j;
        keeps |= ck_group_bits(k) << j;
    }
    return ck_put_all(end, ck_changes(rises, keeps, inside), (uint32_t)i);
}

/// Evaluates the last samples, fewer than 64.
CK_INLINE CK_ISA uint32_t *ck_evaluate_rest(
    const struct ck_samples *from, size_t i, size_t count, const struct ck_band_lanes *band, enum ck_kind kind,
    int is_two_sided, uint64_t *inside, uint32_t *end)
{
    uint64_t rises = 0, keeps = 0, some = ck_first(count - i);
    for (size_t j = 0; j < count - i; j += CK_LANES) {
        ck_lanes rising = ck_only_finite(ck_measure_some(from, i + j, count - i - j, kind, 0), kind);
        ck_lanes falling = ck_only_finite(ck_measure_some(from, i + j, count - i - j, kind, 1), kind);
        rises |= ck_bits(ck_rises(rising, band, is_two_sided)) << j;
        keeps |= ck_bits(ck_keeps(falling, band, is_two_sided)) << j;
    }
    return ck_put(end, ck_changes(rises & some, keeps | ~some, inside), (uint32_t)i);
}

CK_INLINE CK_ISA size_t ck_crossings(
    const struct ck_samples *from, size_t count, const struct ck_band *limits, uint64_t *side, uint32_t *crossings,
    enum ck_kind kind, int is_two_sided)
{
    struct ck_band_lanes band = {
        ck_all(limits->high), ck_all(limits->low), ck_all(limits->under), ck_all(limits->floor)};
    uint64_t inside = *side;
    uint32_t *end = crossings;
    size_t i = 0;
    while (i + CK_BLOCK <= count) {
        i = inside ? ck_skip(from, i, count, &band, 1, kind, is_two_sided)
                   : ck_skip(from, i, count, &band, 0, kind, is_two_sided);
        for (uint32_t *before = 0; before != end && i + CK_BLOCK <= count; i += CK_BLOCK) {
            before = end;
            for (size_t j = 0; j < CK_BLOCK; j += 64)
                end = ck_evaluate(from, i + j, &band, kind, is_two_sided, &inside, end);
        }
    }
    for (int is_busy = 0; i + 64 <= count; i += 64) {
        if (!is_busy && ck_is_calm(from, i, &band, inside, kind, is_two_sided))
            continue;
        uint32_t *before = end;
        end = ck_evaluate(from, i, &band, kind, is_two_sided, &inside, end);
        is_busy = end != before;
    }
    // The last 64 samples, some of which were evaluated, cannot change the side if none of them can.
    if (i < count && !(count >= 64 && ck_is_calm(from, count - 64, &band, inside, kind, is_two_sided)))
        end = ck_evaluate_rest(from, i, count, &band, kind, is_two_sided, &inside, end);
    *side = inside;
    return (size_t)(end - crossings);
}

#endif
