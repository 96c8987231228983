// Decodes scans of three 16-bit axes in the first eight bytes, with a stride of 8 or 16 bytes, to columns.
#include "ckernels.h"
#include "ck_target.h"

#pragma STDC FP_CONTRACT OFF

#if defined(CK_X86)
#define CK_EACH _Pragma("GCC unroll 16")

CK_AVX2 CK_INLINE __m256i ck_load(const uint8_t *bytes)
{
    return _mm256_loadu_si256((const __m256i *)bytes);
}

/// Asks for the eight scans that lie 3 KiB ahead: by itself the processor stops at the end of a page.
CK_INLINE void ck_prefetch_scans(const uint8_t *scans, int stride)
{
    ck_prefetch(scans + 3072);
    if (stride == 16) ck_prefetch(scans + 3072 + 64);
}

/// The even or the odd 32-bit elements of two registers.
CK_AVX2 CK_INLINE __m256i ck_alternate(__m256i a, __m256i b, int odd)
{
    __m256 left = _mm256_castsi256_ps(a), right = _mm256_castsi256_ps(b);
    return _mm256_castps_si256(odd ? _mm256_shuffle_ps(left, right, 0xdd) : _mm256_shuffle_ps(left, right, 0x88));
}

/// The axes of eight scans as 64 bits each, in the order 0 2 1 3, 4 6 5 7 (stride 16) or 0 1 2 3, 4 5 6 7 (stride 8).
CK_AVX2 CK_INLINE void ck_axes(const uint8_t *scans, int stride, __m256i *first, __m256i *second)
{
    if (stride == 16) {
        *first = _mm256_unpacklo_epi64(ck_load(scans), ck_load(scans + 32));
        *second = _mm256_unpacklo_epi64(ck_load(scans + 64), ck_load(scans + 96));
    } else {
        *first = ck_load(scans);
        *second = ck_load(scans + 32);
    }
}

/// Four doubles of one row: ((x·X + y·Y) + z·Z) + constant, in the order of ScanConversion.
CK_AVX2 CK_INLINE __m128 ck_row(const double *row, __m256d x, __m256d y, __m256d z)
{
    __m256d sum = _mm256_add_pd(
        _mm256_mul_pd(_mm256_set1_pd(row[0]), x), _mm256_mul_pd(_mm256_set1_pd(row[1]), y));
    sum = _mm256_add_pd(sum, _mm256_mul_pd(_mm256_set1_pd(row[2]), z));
    return _mm256_cvtpd_ps(_mm256_add_pd(sum, _mm256_set1_pd(row[3])));
}

CK_AVX2 CK_INLINE size_t ck_decode(
    const uint8_t *scans, size_t count, int stride, const uint8_t *order, int shift, const double *rows, int64_t *times,
    float *x, float *y, float *z)
{
    float *columns[3] = {x, y, z};
    const __m256i slots = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)order));
    const __m128i away = _mm_cvtsi32_si128(16 + shift);
    size_t i = 0;
    for (; i + 8 <= count; i += 8, scans += 8 * stride) {
        ck_prefetch_scans(scans, stride);
        __m256i first, second;
        ck_axes(scans, stride, &first, &second);
        first = _mm256_shuffle_epi8(first, slots);
        second = _mm256_shuffle_epi8(second, slots);
        __m256i xy = ck_alternate(first, second, 0), zz = ck_alternate(first, second, 1);
        __m256i raw[3] = {_mm256_sra_epi32(_mm256_slli_epi32(xy, 16), away), _mm256_sra_epi32(xy, away),
                          _mm256_sra_epi32(_mm256_slli_epi32(zz, 16), away)};
        __m256d low[3], high[3];
        CK_EACH for (int axis = 0; axis < 3; axis++) {
            low[axis] = _mm256_cvtepi32_pd(_mm256_castsi256_si128(raw[axis]));
            high[axis] = _mm256_cvtepi32_pd(_mm256_extracti128_si256(raw[axis], 1));
        }
        CK_EACH for (int axis = 0; axis < 3; axis++) {
            __m128 a = ck_row(rows + 4 * axis, low[0], low[1], low[2]);
            __m128 b = ck_row(rows + 4 * axis, high[0], high[1], high[2]);
            // Stride 16 has 0 2 4 6 and 1 3 5 7, stride 8 has 0 1 4 5 and 2 3 6 7.
            if (stride == 16) {
                _mm_storeu_ps(columns[axis] + i, _mm_unpacklo_ps(a, b));
                _mm_storeu_ps(columns[axis] + i + 4, _mm_unpackhi_ps(a, b));
            } else {
                _mm_storeu_ps(columns[axis] + i, _mm_movelh_ps(a, b));
                _mm_storeu_ps(columns[axis] + i + 4, _mm_movehl_ps(b, a));
            }
        }
        if (stride == 16 && times) {
            CK_EACH for (int half = 0; half < 2; half++) {
                __m256i stamps =
                    _mm256_unpackhi_epi64(ck_load(scans + 64 * half), ck_load(scans + 64 * half + 32));
                _mm256_storeu_si256((__m256i *)(times + i + 4 * half), _mm256_permute4x64_epi64(stamps, 0xd8));
            }
        }
    }
    return i;
}

/// One axis of eight scans, which the shift `up` puts at the top of 64 bits, as doubles.
CK_AVX512 CK_INLINE __m512d ck_axis512(__m512i scans, __m128i up, __m128i away)
{
    return _mm512_cvtepi64_pd(_mm512_sra_epi64(_mm512_sll_epi64(scans, up), away));
}

/// Whether each row takes a single axis, which then is in `source`, so that the other products need not be added.
///
/// A sum of products ends in the same bits without the zeros, unless a constant of −0 keeps the sign of a zero.
CK_INLINE int ck_has_single_sources(const double *rows, int *source)
{
    for (int row = 0; row < 3; row++, rows += 4) {
        int count = 0;
        for (int axis = 0; axis < 3; axis++)
            if (rows[axis] != 0) count++, source[row] = axis;
        if (count != 1 || (rows[3] == 0 && __builtin_signbit(rows[3]))) return 0;
    }
    return 1;
}

CK_AVX512 CK_INLINE size_t ck_decode512(
    const uint8_t *scans, size_t count, int stride, const uint8_t *order, int shift, const double *rows,
    const int *source, int64_t *times, float *x, float *y, float *z)
{
    float *columns[3] = {x, y, z};
    const __m512i slots = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)order));
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    const __m128i away = _mm_cvtsi32_si128(48 + shift);
    __m128i up[3];
    __m512d factors[3][4];
    CK_EACH for (int axis = 0; axis < 3; axis++) {
        up[axis] = _mm_cvtsi32_si128(48 - 16 * (source ? source[axis] : axis));
        CK_EACH for (int term = 0; term < 4; term++)
            factors[axis][term] = _mm512_set1_pd(rows[4 * axis + (source && term == 0 ? source[axis] : term)]);
    }
    size_t i = 0;
    for (; i + 8 <= count; i += 8, scans += 8 * stride) {
        ck_prefetch_scans(scans, stride);
        __m512i axes = _mm512_loadu_si512(scans);
        if (stride == 16) {
            __m512i second = _mm512_loadu_si512(scans + 64);
            if (times) _mm512_storeu_si512(times + i, _mm512_permutex2var_epi64(axes, odd, second));
            axes = _mm512_permutex2var_epi64(axes, even, second);
        }
        axes = _mm512_shuffle_epi8(axes, slots);
        __m512d raw[3];
        CK_EACH for (int axis = 0; axis < 3; axis++) raw[axis] = ck_axis512(axes, up[axis], away);
        CK_EACH for (int axis = 0; axis < 3; axis++) {
            __m512d sum = _mm512_mul_pd(factors[axis][0], raw[source ? axis : 0]);
            if (!source) {
                sum = _mm512_add_pd(sum, _mm512_mul_pd(factors[axis][1], raw[1]));
                sum = _mm512_add_pd(sum, _mm512_mul_pd(factors[axis][2], raw[2]));
            }
            _mm256_storeu_ps(columns[axis] + i, _mm512_cvtpd_ps(_mm512_add_pd(sum, factors[axis][3])));
        }
    }
    return i;
}

CK_AVX512 size_t ck_decode_scans16_avx512(
    const void *scans, size_t count, size_t stride, const uint8_t *order, int shift, const double *rows, int64_t *times,
    float *x, float *y, float *z)
{
    int source[3];
    if (!ck_has_single_sources(rows, source))
        return stride == 16 ? ck_decode512(scans, count, 16, order, shift, rows, 0, times, x, y, z)
                            : ck_decode512(scans, count, 8, order, shift, rows, 0, times, x, y, z);
    return stride == 16 ? ck_decode512(scans, count, 16, order, shift, rows, source, times, x, y, z)
                        : ck_decode512(scans, count, 8, order, shift, rows, source, times, x, y, z);
}

CK_AVX2 size_t ck_decode_scans16_avx2(
    const void *scans, size_t count, size_t stride, const uint8_t *order, int shift, const double *rows, int64_t *times,
    float *x, float *y, float *z)
{
    return stride == 16 ? ck_decode(scans, count, 16, order, shift, rows, times, x, y, z)
                        : ck_decode(scans, count, 8, order, shift, rows, times, x, y, z);
}
#endif
