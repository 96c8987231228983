// The operations of AVX-512 in which the forms of the kernels are written: see ck_chain_form.h.
#ifndef CK_LANES_H
#define CK_LANES_H

#include "ck_crossings.h"

#define CK_FORM(name) name##_avx512
#define CK_ISA CK_AVX512
#define CK_LANES 16
/// The number of lanes in four vectors.
#define CK_GROUP 64

typedef __m512 ck_lanes;
typedef __mmask16 ck_mask;

#define ck_all _mm512_set1_ps
#define ck_load _mm512_loadu_ps
#define ck_store _mm512_storeu_ps
#define ck_put_all ck_put_avx512

/// The minimum and the maximum; the second operand when one is NaN.
#define ck_lesser _mm512_min_ps
#define ck_greater _mm512_max_ps
#define ck_magnitude _mm512_abs_ps

#define ck_is_above(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ)
#define ck_is_not_below(a, b) _mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ)
#define ck_is_not_at_least(a, b) _mm512_cmp_ps_mask(a, b, _CMP_NGE_UQ)

/// The first `count` values, without reading beyond them; the other lanes are 0.
CK_INLINE CK_ISA ck_lanes ck_load_some(const float *from, size_t count)
{
    return _mm512_maskz_loadu_ps((__mmask16)ck_first(count), from);
}

/// One bit per lane.
CK_INLINE CK_ISA uint64_t ck_bits(ck_mask a)
{
    return a;
}

/// One bit per lane of four vectors.
CK_INLINE CK_ISA uint64_t ck_group_bits(const ck_mask m[4])
{
    return (uint64_t)m[0] | (uint64_t)m[1] << 16 | (uint64_t)m[2] << 32 | (uint64_t)m[3] << 48;
}

#endif
