// The forms of the kernels that need instructions which not every machine has. Sources/Kernels chooses among them at run
// time; nobody else calls them. Each says in its name which instruction set it needs, and crashes a machine without it.
#ifndef CKERNELS_H
#define CKERNELS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/// Whether this machine has AVX2, and the system keeps its registers.
int ck_has_avx2(void);
/// Whether this machine has AVX-512 F, BW, DQ and VL, and the system keeps its registers.
int ck_has_avx512(void);
/// What BINNACLE_ISA says; NULL when it is not set.
const char *ck_forced_instruction_set(void);

#if defined(__x86_64__)
/// The signs of four lanes as four bits, which Swift's SIMD types have no word for.
static inline uint32_t ck_signs(__m128 lanes)
{
    return (uint32_t)_mm_movemask_ps(lanes);
}
#elif defined(__aarch64__)
/// The signs of four lanes as four bits, which Swift's SIMD types have no word for.
static inline uint32_t ck_signs(float32x4_t lanes)
{
    static const int32_t shifts[4] = {0, 1, 2, 3};
    uint32x4_t signs = vshrq_n_u32(vreinterpretq_u32_f32(lanes), 31);
    return vaddvq_u32(vshlq_u32(signs, vld1q_s32(shifts)));
}
#endif

// Reading memory and nothing else, in a kernel's pattern of access; the result is all bytes together, and means nothing.
#define CK_READ_DECLARATIONS(suffix)                                                                                   \
    uint64_t ck_read_1_##suffix(const void *bytes, size_t count);                                                      \
    uint64_t ck_read_3_##suffix(const void *x, const void *y, const void *z, size_t count);                            \
    uint64_t ck_read_4_##suffix(const void *t, const void *x, const void *y, const void *z, size_t count);             \
    uint64_t ck_read_6_##suffix(const void *const *columns, size_t count);

CK_READ_DECLARATIONS(baseline)
#if defined(__x86_64__)
CK_READ_DECLARATIONS(avx2)
CK_READ_DECLARATIONS(avx512)
#endif

#endif
