// The operations of SSE2 and of NEON, which every machine of their architectures has, in which the forms of the kernels are
// written: see ck_chain_form.h.
#ifndef CK_LANES_H
#define CK_LANES_H

#include "ck_crossings.h"

#define CK_FORM(name) name##_baseline
#define CK_ISA
#define CK_LANES 4
/// The number of lanes in four vectors.
#define CK_GROUP 16

#define ck_put_all ck_put

#if defined(CK_ARM)
typedef float32x4_t ck_lanes;
typedef uint32x4_t ck_mask;

#define ck_all vdupq_n_f32
#define ck_load vld1q_f32
#define ck_store vst1q_f32

/// The minimum and the maximum; the second operand when one is NaN. Not fminnm, which returns NaN for a signalling NaN.
#define ck_lesser(a, b) vbslq_f32(vcltq_f32(a, b), a, b)
#define ck_greater(a, b) vbslq_f32(vcgtq_f32(a, b), a, b)
#define ck_magnitude vabsq_f32

#define ck_is_above vcgtq_f32
#define ck_is_not_below(a, b) vmvnq_u32(vcltq_f32(a, b))
#define ck_is_not_at_least(a, b) vmvnq_u32(vcgeq_f32(a, b))

/// One bit per lane.
CK_INLINE uint64_t ck_bits(ck_mask a)
{
    const uint32x4_t places = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(a, places));
}

/// One bit per lane of four vectors.
CK_INLINE uint64_t ck_group_bits(const ck_mask m[4])
{
    static const uint8_t places[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint16x8_t ab = vuzp1q_u16(vreinterpretq_u16_u32(m[0]), vreinterpretq_u16_u32(m[1]));
    uint16x8_t cd = vuzp1q_u16(vreinterpretq_u16_u32(m[2]), vreinterpretq_u16_u32(m[3]));
    uint8x16_t bits = vandq_u8(vuzp1q_u8(vreinterpretq_u8_u16(ab), vreinterpretq_u8_u16(cd)), vld1q_u8(places));
    return vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}
#else
// The two margins of a sample have most of their operations in common, which four lanes have the registers to compute once.
#undef CK_KEEP
#define CK_KEEP(a) ((void)0)

typedef __m128 ck_lanes;
typedef __m128i ck_mask;

#define ck_all _mm_set1_ps
#define ck_load _mm_loadu_ps
#define ck_store _mm_storeu_ps

/// The minimum and the maximum; the second operand when one is NaN.
#define ck_lesser _mm_min_ps
#define ck_greater _mm_max_ps
#define ck_magnitude(a) _mm_andnot_ps(_mm_set1_ps(-0.0f), a)

#define ck_is_above(a, b) _mm_castps_si128(_mm_cmpgt_ps(a, b))
#define ck_is_not_below(a, b) _mm_castps_si128(_mm_cmpnlt_ps(a, b))
#define ck_is_not_at_least(a, b) _mm_castps_si128(_mm_cmpnge_ps(a, b))

/// One bit per lane.
CK_INLINE uint64_t ck_bits(ck_mask a)
{
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(a));
}

/// One bit per lane of four vectors.
CK_INLINE uint64_t ck_group_bits(const ck_mask m[4])
{
    __m128i ab = _mm_packs_epi32(m[0], m[1]), cd = _mm_packs_epi32(m[2], m[3]);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(ab, cd));
}
#endif

/// The first `count` values, without reading beyond them; the other lanes are 0.
CK_INLINE ck_lanes ck_load_some(const float *from, size_t count)
{
    float values[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < 4 && i < count; i++)
        values[i] = from[i];
    return ck_load(values);
}

#endif
