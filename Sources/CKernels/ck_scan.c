// Scans of three 16-bit axes in the first eight bytes, sixteen or eight bytes apart: to columns, and against a threshold.
#include "ckernels.h"
#include "ck_crossings.h"
#include "ck_target.h"

#include <string.h>

#pragma STDC FP_CONTRACT OFF

#if defined(CK_X86)
#define CK_EACH _Pragma("GCC unroll 16")

CK_AVX2 CK_INLINE __m256i ck_load(const uint8_t *bytes)
{
    return _mm256_loadu_si256((const __m256i *)bytes);
}

/// Every other 32 bits of two registers, from the first or the second on.
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

// MARK: - To columns

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

CK_AVX2 size_t ck_decode_scans16_avx2(
    const void *scans, size_t count, size_t stride, const uint8_t *order, int shift, const double *rows, int64_t *times,
    float *x, float *y, float *z)
{
    return stride == 16 ? ck_decode(scans, count, 16, order, shift, rows, times, x, y, z)
                        : ck_decode(scans, count, 8, order, shift, rows, times, x, y, z);
}

// MARK: - Threshold

/// The sums of squares of eight scans, in the order 0 2 4 6 1 3 5 7 (stride 16) or 0 1 4 5 2 3 6 7 (stride 8).
CK_AVX2 CK_INLINE __m256i ck_sums(const uint8_t *scans, int stride, __m256i mask, int swaps, __m256i swap)
{
    __m256i first, second;
    ck_axes(scans, stride, &first, &second);
    if (swaps) {
        first = _mm256_shuffle_epi8(first, swap);
        second = _mm256_shuffle_epi8(second, swap);
    }
    first = _mm256_and_si256(first, mask);
    second = _mm256_and_si256(second, mask);
    // Two squares of −32768 are 2³¹, which only an unsigned sum holds.
    first = _mm256_madd_epi16(first, first);
    second = _mm256_madd_epi16(second, second);
    return _mm256_add_epi32(ck_alternate(first, second, 0), ck_alternate(first, second, 1));
}

CK_AVX2 CK_INLINE uint64_t ck_not_below(__m256i sums, __m256i limit)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_max_epu32(sums, limit), sums)));
}

/// Brings each eight bits of a mask into the order of the scans.
CK_INLINE uint64_t ck_in_order(uint64_t bits, int stride)
{
    uint64_t moved;
    if (stride == 16) {
        // 0 2 4 6 1 3 5 7: halves interleaved, in two exchanges.
        moved = (bits ^ (bits >> 2)) & 0x0c0c0c0c0c0c0c0c;
        // 0 2 1 3 4 6 5 7
        bits ^= moved ^ (moved << 2);
        moved = (bits ^ (bits >> 1)) & 0x2222222222222222;
    } else {
        // 0 1 4 5 2 3 6 7
        moved = (bits ^ (bits >> 2)) & 0x0c0c0c0c0c0c0c0c;
        return bits ^ moved ^ (moved << 2);
    }
    return bits ^ moved ^ (moved << 1);
}

CK_AVX2 CK_INLINE size_t ck_scan_crossings(
    const uint8_t *scans, size_t count, int stride, uint64_t axes, int swaps, const struct ck_sums *limits, uint64_t *inside,
    uint32_t *crossings)
{
    const __m256i mask = _mm256_set1_epi64x((long long)axes);
    const __m256i swap = _mm256_set_epi8(
        14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1, 14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1);
    const __m256i rise = _mm256_set1_epi32((int)limits->rise), keep = _mm256_set1_epi32((int)limits->keep);
    const __m256i under = _mm256_set1_epi32((int)limits->under), floor = _mm256_set1_epi32((int)limits->floor);
    uint64_t side = *inside;
    uint32_t *end = crossings;
    for (size_t base = 0; base + 64 <= count; base += 64, scans += 64 * stride) {
        __m256i sums[8], greatest, least;
        greatest = least = sums[0] = ck_sums(scans, stride, mask, swaps, swap);
        CK_EACH for (int i = 1; i < 8; i++) {
            sums[i] = ck_sums(scans + 8 * i * stride, stride, mask, swaps, swap);
            greatest = _mm256_max_epu32(greatest, sums[i]);
            least = _mm256_min_epu32(least, sums[i]);
        }
        // Only what says the other side can change anything, and mostly the extremes show that nothing does.
        if (side) {
            if (ck_not_below(least, keep) == 0xff || ck_not_below(greatest, floor) == 0) continue;
        } else {
            if (ck_not_below(greatest, rise) == 0 && ck_not_below(least, under) == 0xff) continue;
        }
        uint64_t rises = 0, keeps = 0;
        CK_EACH for (int i = 0; i < 8; i++) {
            rises |= (ck_not_below(sums[i], rise) | (ck_not_below(sums[i], under) ^ 0xff)) << 8 * i;
            keeps |= (ck_not_below(sums[i], keep) | (ck_not_below(sums[i], floor) ^ 0xff)) << 8 * i;
        }
        end = ck_put_avx2(
            end, ck_changes(ck_in_order(rises, stride), ck_in_order(keeps, stride), &side), (uint32_t)base);
    }
    *inside = side;
    return (size_t)(end - crossings);
}

CK_AVX2 size_t ck_scan_crossings16_avx2(
    const void *scans, size_t count, size_t stride, uint64_t axes, int swaps, const struct ck_sums *limits, uint64_t *inside,
    uint32_t *crossings)
{
    if (stride == 16) {
        return swaps ? ck_scan_crossings(scans, count, 16, axes, 1, limits, inside, crossings)
                     : ck_scan_crossings(scans, count, 16, axes, 0, limits, inside, crossings);
    }
    return swaps ? ck_scan_crossings(scans, count, 8, axes, 1, limits, inside, crossings)
                 : ck_scan_crossings(scans, count, 8, axes, 0, limits, inside, crossings);
}
#endif
