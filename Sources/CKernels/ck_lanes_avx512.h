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

CK_INLINE CK_ISA ck_lanes ck_all(float value)
{
    return _mm512_set1_ps(value);
}

CK_INLINE CK_ISA ck_lanes ck_load(const float *from)
{
    return _mm512_loadu_ps(from);
}

/// The first `count` values, without reading beyond them; the other lanes are 0.
CK_INLINE CK_ISA ck_lanes ck_load_some(const float *from, size_t count)
{
    return _mm512_maskz_loadu_ps((__mmask16)ck_first(count), from);
}

CK_INLINE CK_ISA void ck_store(float *to, ck_lanes a)
{
    _mm512_storeu_ps(to, a);
}

CK_INLINE CK_ISA ck_lanes ck_add(ck_lanes a, ck_lanes b)
{
    return _mm512_add_ps(a, b);
}

CK_INLINE CK_ISA ck_lanes ck_subtract(ck_lanes a, ck_lanes b)
{
    return _mm512_sub_ps(a, b);
}

CK_INLINE CK_ISA ck_lanes ck_multiply(ck_lanes a, ck_lanes b)
{
    return _mm512_mul_ps(a, b);
}

/// The minimum; the second operand when one is NaN.
CK_INLINE CK_ISA ck_lanes ck_lesser(ck_lanes a, ck_lanes b)
{
    return _mm512_min_ps(a, b);
}

/// The maximum; the second operand when one is NaN.
CK_INLINE CK_ISA ck_lanes ck_greater(ck_lanes a, ck_lanes b)
{
    return _mm512_max_ps(a, b);
}

CK_INLINE CK_ISA ck_lanes ck_magnitude(ck_lanes a)
{
    return _mm512_abs_ps(a);
}

CK_INLINE CK_ISA ck_mask ck_is_above(ck_lanes a, ck_lanes b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}

CK_INLINE CK_ISA ck_mask ck_is_at_least(ck_lanes a, ck_lanes b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ);
}

CK_INLINE CK_ISA ck_mask ck_is_not_below(ck_lanes a, ck_lanes b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ);
}

CK_INLINE CK_ISA ck_mask ck_is_not_at_least(ck_lanes a, ck_lanes b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_NGE_UQ);
}

CK_INLINE CK_ISA ck_mask ck_every_lane(void)
{
    return 0xFFFF;
}

CK_INLINE CK_ISA ck_mask ck_and(ck_mask a, ck_mask b)
{
    return a & b;
}

CK_INLINE CK_ISA ck_mask ck_or(ck_mask a, ck_mask b)
{
    return a | b;
}

CK_INLINE CK_ISA ck_mask ck_not(ck_mask a)
{
    return (ck_mask)~a;
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

CK_INLINE CK_ISA uint32_t *ck_put_all(uint32_t *end, uint64_t changes, uint32_t base)
{
    return ck_put_avx512(end, changes, base);
}

#endif
