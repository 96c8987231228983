// The chain of hysteresis over a range, and what is compared in it: K1's values and squared lengths, K3's margins. One form
// for every instruction set, whose words are those of a ck_lanes_….h that is included first.
//
// A block is first asked whether anything in it could change the side, because events are rare: only a greater value can end
// *outside*, only a smaller one *inside*. A block in which something could is settled by masks of 64 samples, and so are
// those that follow, until one of them has no crossing.
#ifndef CK_CHAIN_FORM_H
#define CK_CHAIN_FORM_H

#include "ckernels.h"

#include <math.h>

#pragma STDC FP_CONTRACT OFF

/// How many samples are asked at once: more would cost more at an event, fewer more where there is none.
#define CK_BLOCK 256

/// What is compared. Always a constant where it is looked at, so that each kind is compiled by itself.
enum ck_kind {
    /// Values.
    CK_COLUMN,
    /// Squared lengths of vectors.
    CK_VECTORS,
    /// How far inside a sector around magnetic north an axis points.
    CK_NORTH,
    /// How far inside a sector around magnetic south.
    CK_SOUTH,
    /// How far inside a sector around any bearing.
    CK_BEARING,
};

struct ck_samples {
    /// The values; or the axes of the vectors; or those of the acceleration, the axis that points first, in cyclic order.
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

// MARK: - What is compared

/// The margin of the axis in a sector: positive inside, negative outside, and of no use beyond its sign.
///
/// With the axis u, e = u·(m × a) and n = u·(m(a·a) − a(a·m)), in which the squares of the axis' own component cancel, the
/// heading is atan2(e·√(a·a), n). The sign of e·√(a·a)·cos α − n·sin α says on which side of the ray at α it is, and squares
/// that keep their signs compare the same without the root.
CK_INLINE CK_ISA ck_lanes ck_margin(
    const ck_lanes a[3], const ck_lanes m[3], const struct ck_rays *rays, enum ck_kind kind)
{
    ck_lanes flat = ck_add(ck_multiply(a[1], a[1]), ck_multiply(a[2], a[2]));
    ck_lanes along = ck_add(ck_multiply(a[1], m[1]), ck_multiply(a[2], m[2]));
    ck_lanes level = ck_multiply(m[0], flat), upright = ck_multiply(a[0], along);
    ck_lanes north = kind == CK_SOUTH ? ck_subtract(upright, level) : ck_subtract(level, upright);
    ck_lanes east = ck_subtract(ck_multiply(m[1], a[2]), ck_multiply(m[2], a[1]));
    ck_lanes square = ck_add(flat, ck_multiply(a[0], a[0]));
    ck_lanes norths = ck_multiply(north, ck_magnitude(north));
    if (kind != CK_BEARING)
        return ck_subtract(norths, ck_multiply(ck_multiply(ck_multiply(east, east), square), ck_all(rays->east[0])));
    ck_lanes easts = ck_multiply(ck_multiply(east, ck_magnitude(east)), square);
    ck_lanes right = ck_subtract(ck_multiply(norths, ck_all(rays->north[0])), ck_multiply(easts, ck_all(rays->east[0])));
    ck_lanes left = ck_subtract(ck_multiply(norths, ck_all(rays->north[1])), ck_multiply(easts, ck_all(rays->east[1])));
    return ck_multiply(ck_lesser(right, left), ck_all(rays->sign));
}

CK_INLINE int ck_is_facing(enum ck_kind kind)
{
    return kind >= CK_NORTH;
}

/// What is compared of the samples of four vectors; `is_falling` with the limit that ends *inside*.
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
            // One after the other: all at once, four need more registers than there are.
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
            v[k] = ck_multiply(v[k], v[k]);
        CK_TOGETHER(v[0], v[1], v[2], v[3]);
        for (int k = 0; k < 4; k++)
            result[k] = axis ? ck_add(result[k], v[k]) : v[k];
        CK_TOGETHER(result[0], result[1], result[2], result[3]);
    }
}

/// What is compared of the first `count` samples of a vector.
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
        return ck_add(ck_add(ck_multiply(a[0], a[0]), ck_multiply(a[1], a[1])), ck_multiply(a[2], a[2]));
    for (int axis = 0; axis < 3; axis++)
        m[axis] = ck_load_some(from->m[axis] + i, count);
    return ck_margin(a, m, is_falling ? &from->sector->leave : &from->sector->enter, kind);
}

/// A margin that overflowed has lost what its sign says: infinity becomes NaN, everything else stays.
CK_INLINE CK_ISA ck_lanes ck_only_finite(ck_lanes value, enum ck_kind kind)
{
    return ck_is_facing(kind) ? ck_add(value, ck_subtract(value, value)) : value;
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

// MARK: - Passing over blocks

/// What could change the side, of all samples looked at since a change.
struct ck_watch {
    ck_lanes least[2], greatest[2];
    ck_mask keeps;
};

CK_INLINE CK_ISA struct ck_watch ck_new_watch(void)
{
    ck_lanes least = ck_all(INFINITY), greatest = ck_all(-INFINITY);
    return (struct ck_watch){{least, least}, {greatest, greatest}, ck_every_lane()};
}

/// Whether a sample of `length`, or of those watched before, can change the side. A NaN can not: it comes first in
/// ck_lesser and ck_greater, which then give the second. A margin that overflowed may seem to, which costs time alone.
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

// MARK: - The chain

/// Settles 64 samples.
CK_INLINE CK_ISA uint32_t *ck_settle(
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

/// Settles the last samples, fewer than 64.
CK_INLINE CK_ISA uint32_t *ck_settle_rest(
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
                end = ck_settle(from, i + j, &band, kind, is_two_sided, &inside, end);
        }
    }
    for (int is_busy = 0; i + 64 <= count; i += 64) {
        if (!is_busy && ck_is_calm(from, i, &band, inside, kind, is_two_sided))
            continue;
        uint32_t *before = end;
        end = ck_settle(from, i, &band, kind, is_two_sided, &inside, end);
        is_busy = end != before;
    }
    // Those before the rest were looked at already; where even with them nothing can change the side, the rest cannot.
    if (i < count && !(count >= 64 && ck_is_calm(from, count - 64, &band, inside, kind, is_two_sided)))
        end = ck_settle_rest(from, i, count, &band, kind, is_two_sided, &inside, end);
    *side = inside;
    return (size_t)(end - crossings);
}

#endif
