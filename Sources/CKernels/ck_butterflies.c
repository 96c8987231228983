// The butterflies of a transform, see RealTransform.swift: each number has the bits of the loop, because none is added to another lane.
#include "ckernels.h"
#include "ck_target.h"

#pragma STDC FP_CONTRACT OFF

// The compiler's vectors, of one to four numbers of four series each.
#define CK_SERIES 4
#define CK_VECTOR(name, numbers) \
    typedef float name __attribute__((vector_size(16 * (numbers)), aligned(4), may_alias))
CK_VECTOR(ck_numbers1, 1);
CK_VECTOR(ck_numbers2, 2);
CK_VECTOR(ck_numbers4, 4);

/// One butterfly of the type's numbers: a and b are half a block apart.
#define CK_BUTTERFLY(type, a, b, cosine, sine) \
    do { \
        type *ra = (type *)(re + CK_SERIES * (a)), *ia = (type *)(im + CK_SERIES * (a)); \
        type *rb = (type *)(re + CK_SERIES * (b)), *ib = (type *)(im + CK_SERIES * (b)); \
        type r = *rb * (cosine) - *ib * (sine), i = *rb * (sine) + *ib * (cosine); \
        *rb = *ra - r; \
        *ib = *ia - i; \
        *ra += r; \
        *ia += i; \
    } while (0)

#define CK_BUTTERFLIES(name, isa, type, numbers) \
    isa void name(float *re, float *im, const float *cosines, const float *sines, size_t length) \
    { \
        for (size_t half = 1; half < length; half *= 2) { \
            size_t step = length / half; \
            for (size_t start = 0; start < length; start += 2 * half) { \
                size_t k = 0; \
                for (; k + (numbers) <= half; k += (numbers)) { \
                    type cosine, sine; \
                    _Pragma("GCC unroll 16") for (size_t lane = 0; lane < CK_SERIES * (numbers); lane++) { \
                        cosine[lane] = cosines[(k + lane / CK_SERIES) * step]; \
                        sine[lane] = sines[(k + lane / CK_SERIES) * step]; \
                    } \
                    CK_BUTTERFLY(type, start + k, start + k + half, cosine, sine); \
                } \
                for (; k < half; k++) \
                    CK_BUTTERFLY(ck_numbers1, start + k, start + k + half, cosines[k * step], sines[k * step]); \
            } \
        } \
    }

CK_BUTTERFLIES(ck_butterflies_baseline, , ck_numbers1, 1)
#if defined(CK_X86)
CK_BUTTERFLIES(ck_butterflies_avx2, CK_AVX2, ck_numbers2, 2)
CK_BUTTERFLIES(ck_butterflies_avx512, CK_AVX512, ck_numbers4, 4)
#endif
