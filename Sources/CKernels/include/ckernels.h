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
/// Four signed numbers as floats, for which Swift's SIMD types take one after the other.
static inline __m128 ck_floats(__m128i numbers)
{
    return _mm_cvtepi32_ps(numbers);
}
#elif defined(__aarch64__)
/// Four signed numbers as floats, for which Swift's SIMD types take one after the other.
static inline float32x4_t ck_floats(int32x4_t numbers)
{
    return vcvtq_f32_s32(numbers);
}
/// The signs of four lanes as four bits, which Swift's SIMD types have no word for.
static inline uint32_t ck_signs(float32x4_t lanes)
{
    static const int32_t shifts[4] = {0, 1, 2, 3};
    uint32x4_t signs = vshrq_n_u32(vreinterpretq_u32_f32(lanes), 31);
    return vaddvq_u32(vshlq_u32(signs, vld1q_s32(shifts)));
}
#endif

/// How many filters run side by side.
#define CK_GRAVITY_LANES 16
/// How many samples each of them takes at a time.
#define CK_GRAVITY_STEPS 32

#if defined(__x86_64__)
/// Moves sixteen gravity filters on, each along a stretch of its own of the same columns, and writes |a − g|² and |a|².
///
/// starts: the first index of each stretch, rising by at least CK_GRAVITY_STEPS; the first one at least 1. count: the samples
/// of a stretch, a multiple of CK_GRAVITY_STEPS. values: sixteen x, sixteen y, sixteen z. last: the stamp of each filter's
/// last sample. time_constant: τ in seconds, at least 0. The stamps do not fall.
void ck_gravity_stretches_avx2(
    const int64_t *times, const float *x, const float *y, const float *z, const size_t *starts, size_t count,
    float time_constant, float *values, int64_t *last, float *user, float *total);
/// The same without writing anything.
void ck_gravity_warm_up_avx2(
    const int64_t *times, const float *x, const float *y, const float *z, const size_t *starts, size_t count,
    float time_constant, float *values, int64_t *last);

/// Decodes as many scans of three 16-bit axes as come in eights; returns how many. The axes are within the first eight bytes.
///
/// stride: 8 or 16. order: for each of eight bytes, twice, which byte of the scan stands there, so that x, y, z and 0 follow
/// each other, the low byte first; the second eight are eight higher; bit 7 for none. shift: the bits at the bottom that mean
/// nothing. rows: four factors of each axis. times: receives the eight bytes behind the axes; NULL for none, and for stride 8.
size_t ck_decode_scans16_avx2(
    const void *scans, size_t count, size_t stride, const uint8_t *order, int shift, const double *rows, int64_t *times,
    float *x, float *y, float *z);

/// Finds where the sum of the axes' squares changes sides, in as many scans as come in 64s.
///
/// stride: 8 or 16. axes: the bits of the first eight bytes that mean something, after swapping. swaps: whether each two bytes
/// are exchanged. rise: sums from here on say inside. keep: sums below this say outside. inside: the side before, receives the
/// side after. crossings: room for 64 more than there are scans. Returns how many crossings there are.
size_t ck_scan_crossings16_avx2(
    const void *scans, size_t count, size_t stride, uint64_t axes, int swaps, uint32_t rise, uint32_t keep, int *inside,
    uint32_t *crossings);
#endif

#endif
