// The operations of NEON in which the forms of the kernels are written: see ck_chain_form.h.
#ifndef CK_LANES_H
#define CK_LANES_H

#include "ckernels.h"

#include "ck_crossings.h"

#define CK_FORM(name) name##_neon
#define CK_ISA
#define CK_LANES 4
/// The number of lanes in four vectors.
#define CK_GROUP 16

typedef float32x4_t ck_lanes;
typedef uint32x4_t ck_mask;

CK_INLINE ck_lanes ck_all(float value)
{
    return vdupq_n_f32(value);
}

CK_INLINE ck_lanes ck_load(const float *from)
{
    return vld1q_f32(from);
}

/// The first `count` values, without reading beyond them; the other lanes are 0.
CK_INLINE ck_lanes ck_load_some(const float *from, size_t count)
{
    float values[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < 4 && i < count; i++)
        values[i] = from[i];
    return vld1q_f32(values);
}

CK_INLINE void ck_store(float *to, ck_lanes a)
{
    vst1q_f32(to, a);
}

CK_INLINE ck_lanes ck_add(ck_lanes a, ck_lanes b)
{
    return vaddq_f32(a, b);
}

CK_INLINE ck_lanes ck_subtract(ck_lanes a, ck_lanes b)
{
    return vsubq_f32(a, b);
}

CK_INLINE ck_lanes ck_multiply(ck_lanes a, ck_lanes b)
{
    return vmulq_f32(a, b);
}

/// The minimum; the second operand when one is NaN. Not fminnm, which returns NaN for a signalling NaN.
CK_INLINE ck_lanes ck_lesser(ck_lanes a, ck_lanes b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

/// The maximum; the second operand when one is NaN.
CK_INLINE ck_lanes ck_greater(ck_lanes a, ck_lanes b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

CK_INLINE ck_lanes ck_magnitude(ck_lanes a)
{
    return vabsq_f32(a);
}

CK_INLINE ck_mask ck_is_above(ck_lanes a, ck_lanes b)
{
    return vcgtq_f32(a, b);
}

CK_INLINE ck_mask ck_is_at_least(ck_lanes a, ck_lanes b)
{
    return vcgeq_f32(a, b);
}

CK_INLINE ck_mask ck_is_not_below(ck_lanes a, ck_lanes b)
{
    return vmvnq_u32(vcltq_f32(a, b));
}

CK_INLINE ck_mask ck_is_not_at_least(ck_lanes a, ck_lanes b)
{
    return vmvnq_u32(vcgeq_f32(a, b));
}

CK_INLINE ck_mask ck_every_lane(void)
{
    return vdupq_n_u32(~0u);
}

CK_INLINE ck_mask ck_and(ck_mask a, ck_mask b)
{
    return vandq_u32(a, b);
}

CK_INLINE ck_mask ck_or(ck_mask a, ck_mask b)
{
    return vorrq_u32(a, b);
}

CK_INLINE ck_mask ck_not(ck_mask a)
{
    return vmvnq_u32(a);
}

/// One bit per lane.
CK_INLINE uint64_t ck_bits(ck_mask a)
{
    const uint32x4_t places = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(a, places));
}

/// One bit per lane of four vectors.
CK_INLINE uint64_t ck_group_bits(const ck_mask m[4])
{
    return ck_sixteen_bits(
        vreinterpretq_f32_u32(m[0]), vreinterpretq_f32_u32(m[1]), vreinterpretq_f32_u32(m[2]), vreinterpretq_f32_u32(m[3]));
}

CK_INLINE uint32_t *ck_put_all(uint32_t *end, uint64_t changes, uint32_t base)
{
    return ck_put(end, changes, base);
}

#endif
