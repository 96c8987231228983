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
typedef __m256i ck_mask;

#define ck_all _mm256_set1_ps
#define ck_load _mm256_loadu_ps
#define ck_store _mm256_storeu_ps
#define ck_put_all ck_put_avx2

/// The minimum and the maximum; the second operand when one is NaN.
#define ck_lesser _mm256_min_ps
#define ck_greater _mm256_max_ps
#define ck_magnitude(a) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a)

#define CK_COMPARE(a, b, how) _mm256_castps_si256(_mm256_cmp_ps(a, b, how))
#define ck_is_above(a, b) CK_COMPARE(a, b, _CMP_GT_OQ)
#define ck_is_not_below(a, b) CK_COMPARE(a, b, _CMP_NLT_UQ)
#define ck_is_not_at_least(a, b) CK_COMPARE(a, b, _CMP_NGE_UQ)

/// The first `count` values, without reading beyond them; the other lanes are 0.
CK_INLINE CK_ISA ck_lanes ck_load_some(const float *from, size_t count)
{
    __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_ps(from, _mm256_cmpgt_epi32(_mm256_set1_epi32(count < 8 ? (int)count : 8), lanes));
}

/// One bit per lane.
CK_INLINE CK_ISA uint64_t ck_bits(ck_mask a)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(a));
}

/// One bit per lane of four vectors.
CK_INLINE CK_ISA uint64_t ck_group_bits(const ck_mask m[4])
{
    __m256i ab = _mm256_packs_epi32(m[0], m[1]), cd = _mm256_packs_epi32(m[2], m[3]);
    // Packing works in halves of 128 bits, which gives the order 0 2 4 6 1 3 5 7.
    __m256i all = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(ab, cd), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    return (uint32_t)_mm256_movemask_epi8(all);
}

#endif
