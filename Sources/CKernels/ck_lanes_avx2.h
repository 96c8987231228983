// The operations of AVX2 in which the forms of the kernels are written: see ck_chain_form.h.
#ifndef CK_LANES_H
#define CK_LANES_H

#include "ck_crossings.h"

#define CK_FORM(name) name##_avx2
#define CK_ISA CK_AVX2
#define CK_LANES 8
/// The number of lanes in four vectors.
#define CK_GROUP 32

typedef __m256 ck_lanes;
typedef __m256 ck_mask;

CK_INLINE CK_ISA ck_lanes ck_all(float value)
{
    return _mm256_set1_ps(value);
}

CK_INLINE CK_ISA ck_lanes ck_load(const float *from)
{
    return _mm256_loadu_ps(from);
}

/// The first `count` values, without reading beyond them; the other lanes are 0.
CK_INLINE CK_ISA ck_lanes ck_load_some(const float *from, size_t count)
{
    __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_ps(from, _mm256_cmpgt_epi32(_mm256_set1_epi32(count < 8 ? (int)count : 8), lanes));
}

CK_INLINE CK_ISA void ck_store(float *to, ck_lanes a)
{
    _mm256_storeu_ps(to, a);
}

CK_INLINE CK_ISA ck_lanes ck_add(ck_lanes a, ck_lanes b)
{
    return _mm256_add_ps(a, b);
}

CK_INLINE CK_ISA ck_lanes ck_subtract(ck_lanes a, ck_lanes b)
{
    return _mm256_sub_ps(a, b);
}

CK_INLINE CK_ISA ck_lanes ck_multiply(ck_lanes a, ck_lanes b)
{
    return _mm256_mul_ps(a, b);
}

/// The minimum; the second operand when one is NaN.
CK_INLINE CK_ISA ck_lanes ck_lesser(ck_lanes a, ck_lanes b)
{
    return _mm256_min_ps(a, b);
}

/// The maximum; the second operand when one is NaN.
CK_INLINE CK_ISA ck_lanes ck_greater(ck_lanes a, ck_lanes b)
{
    return _mm256_max_ps(a, b);
}

CK_INLINE CK_ISA ck_lanes ck_magnitude(ck_lanes a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

CK_INLINE CK_ISA ck_mask ck_is_above(ck_lanes a, ck_lanes b)
{
    return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}

CK_INLINE CK_ISA ck_mask ck_is_at_least(ck_lanes a, ck_lanes b)
{
    return _mm256_cmp_ps(a, b, _CMP_GE_OQ);
}

CK_INLINE CK_ISA ck_mask ck_is_not_below(ck_lanes a, ck_lanes b)
{
    return _mm256_cmp_ps(a, b, _CMP_NLT_UQ);
}

CK_INLINE CK_ISA ck_mask ck_is_not_at_least(ck_lanes a, ck_lanes b)
{
    return _mm256_cmp_ps(a, b, _CMP_NGE_UQ);
}

CK_INLINE CK_ISA ck_mask ck_every_lane(void)
{
    return _mm256_castsi256_ps(_mm256_set1_epi32(-1));
}

CK_INLINE CK_ISA ck_mask ck_and(ck_mask a, ck_mask b)
{
    return _mm256_and_ps(a, b);
}

CK_INLINE CK_ISA ck_mask ck_or(ck_mask a, ck_mask b)
{
    return _mm256_or_ps(a, b);
}

CK_INLINE CK_ISA ck_mask ck_not(ck_mask a)
{
    return _mm256_xor_ps(a, ck_every_lane());
}

/// One bit per lane.
CK_INLINE CK_ISA uint64_t ck_bits(ck_mask a)
{
    return (uint32_t)_mm256_movemask_ps(a);
}

/// One bit per lane of four vectors.
CK_INLINE CK_ISA uint64_t ck_group_bits(const ck_mask m[4])
{
    __m256i ab = _mm256_packs_epi32(_mm256_castps_si256(m[0]), _mm256_castps_si256(m[1]));
    __m256i cd = _mm256_packs_epi32(_mm256_castps_si256(m[2]), _mm256_castps_si256(m[3]));
    // Packing works in halves of 128 bits, which gives the order 0 2 4 6 1 3 5 7.
    __m256i all = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(ab, cd), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    return (uint32_t)_mm256_movemask_epi8(all);
}

CK_INLINE CK_ISA uint32_t *ck_put_all(uint32_t *end, uint64_t changes, uint32_t base)
{
    return ck_put_avx2(end, changes, base);
}

#endif
