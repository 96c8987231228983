// Hysteresis as a carry chain, and its crossings as a list; the last step of every threshold kernel.
//
// A sample sets the side to *inside* (its bit in `rises` is 1), to *outside* (its bit in `keeps` is 0), or leaves it. The side
// after each sample is the carry out of its bit in (rises | keeps) + rises + side before: inside generates a carry, leaving
// the side propagates it, outside absorbs it. So one addition evaluates 64 samples without a branch.
#ifndef CK_CROSSINGS_H
#define CK_CROSSINGS_H

#include "ck_target.h"

/// The number of indices after the last one that ck_put_… may overwrite, for which a list needs room.
#define CK_CROSSING_ROOM 64

/// The samples, of 64, at which the side changes.
///
/// rises: the samples that set the side to inside. keeps: those that do not set it to outside, NaN among them. Missing samples
/// have rises 0 and keeps 1. inside: the side before, 0 or 1; receives the side after.
CK_INLINE uint64_t ck_changes(uint64_t rises, uint64_t keeps, uint64_t *inside)
{
    uint64_t passes = rises | keeps;
    uint64_t sum = passes + rises;
    uint64_t carry = sum < passes;
    sum += *inside;
    carry |= sum < *inside;
    // The carry into each bit is the side before its sample.
    uint64_t before = passes ^ rises ^ sum;
    *inside = carry;
    return before ^ (before >> 1 | carry << 63);
}

/// The mask of the first `count` samples of 64.
CK_INLINE uint64_t ck_first(size_t count)
{
    return count < 64 ? ((uint64_t)1 << count) - 1 : ~(uint64_t)0;
}

/// The index of the lowest bit that is set; 64 when none is.
CK_INLINE uint32_t ck_lowest(uint64_t bits)
{
    return bits ? (uint32_t)__builtin_ctzll(bits) : 64;
}

/// Appends the indices of the bits that are set, each with `base` added; returns the new end.
///
/// Eight at a time, so that the only branch is on their number; memory after the end is overwritten.
CK_INLINE uint32_t *ck_put(uint32_t *end, uint64_t changes, uint32_t base)
{
    uint32_t *next = end;
    uint32_t *stop = end + __builtin_popcountll(changes);
    while (next < stop) {
        for (int i = 0; i < 8; i++) {
            next[i] = base + ck_lowest(changes);
            changes &= changes - 1;
        }
        next += 8;
    }
    return stop;
}

#if defined(CK_X86)

/// For each byte the indices of its bits that are set, the lowest one first; filled before main.
extern uint64_t ck_bit_numbers[256];

/// Like ck_put; if many bits are set, a table gives the indices of eight samples at once.
CK_INLINE CK_AVX2 uint32_t *ck_put_avx2(uint32_t *end, uint64_t changes, uint32_t base)
{
    if (!changes)
        return end;
    if (__builtin_popcountll(changes) <= 8)
        return ck_put(end, changes, base);
    for (int i = 0; i < 8; i++) {
        uint64_t eight = changes & 0xFF;
        __m256i numbers = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)&ck_bit_numbers[eight]));
        _mm256_storeu_si256((__m256i *)end, _mm256_add_epi32(numbers, _mm256_set1_epi32((int)(base + 8 * (uint32_t)i))));
        end += __builtin_popcountll(eight);
        changes >>= 8;
    }
    return end;
}

/// Like ck_put, sixteen at once.
CK_INLINE CK_AVX512 uint32_t *ck_put_avx512(uint32_t *end, uint64_t changes, uint32_t base)
{
    if (!changes)
        return end;
    __m512i numbers = _mm512_add_epi32(
        _mm512_set1_epi32((int)base), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    for (int i = 0; i < 4; i++) {
        __mmask16 sixteen = (__mmask16)changes;
        // Not compressed directly into memory, which takes Zen 4 a hundred cycles.
        _mm512_storeu_si512(end, _mm512_maskz_compress_epi32(sixteen, numbers));
        end += __builtin_popcountll(changes & 0xFFFF);
        numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(16));
        changes >>= 16;
    }
    return end;
}

#endif

#endif
