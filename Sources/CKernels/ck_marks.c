// Marks the bytes of a text that are one of four.
#include "ckernels.h"
#include "ck_target.h"

#if defined(CK_X86)
CK_AVX2 CK_INLINE uint32_t ck_marks32(const uint8_t *text, __m256i a, __m256i b, __m256i c, __m256i d)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)text);
    __m256i ab = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, a), _mm256_cmpeq_epi8(bytes, b));
    __m256i cd = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, c), _mm256_cmpeq_epi8(bytes, d));
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(ab, cd));
}

CK_AVX2 void ck_marks_avx2(const uint8_t *text, size_t blocks, const uint8_t *sought, uint64_t *words)
{
    const __m256i a = _mm256_set1_epi8((char)sought[0]), b = _mm256_set1_epi8((char)sought[1]);
    const __m256i c = _mm256_set1_epi8((char)sought[2]), d = _mm256_set1_epi8((char)sought[3]);
    for (size_t i = 0; i < blocks; i++)
        words[i] = ck_marks32(text + 64 * i, a, b, c, d) | (uint64_t)ck_marks32(text + 64 * i + 32, a, b, c, d) << 32;
}

CK_AVX512 void ck_marks_avx512(const uint8_t *text, size_t blocks, const uint8_t *sought, uint64_t *words)
{
    const __m512i a = _mm512_set1_epi8((char)sought[0]), b = _mm512_set1_epi8((char)sought[1]);
    const __m512i c = _mm512_set1_epi8((char)sought[2]), d = _mm512_set1_epi8((char)sought[3]);
    for (size_t i = 0; i < blocks; i++) {
        __m512i bytes = _mm512_loadu_si512(text + 64 * i);
        words[i] = _mm512_cmpeq_epi8_mask(bytes, a) | _mm512_cmpeq_epi8_mask(bytes, b) |
                   _mm512_cmpeq_epi8_mask(bytes, c) | _mm512_cmpeq_epi8_mask(bytes, d);
    }
}
#endif
