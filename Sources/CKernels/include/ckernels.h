// The forms of the kernels for instruction sets that not every machine has. Sources/Kernels, the only caller, chooses among
// them at run time. The name of each ends with the instruction set that it needs.
#ifndef CKERNELS_H
#define CKERNELS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/// Whether this machine has AVX2, and the system saves its registers.
int ck_has_avx2(void);
/// Whether this machine has AVX-512 F, BW, DQ and VL, and the system saves its registers.
int ck_has_avx512(void);
/// The value of BINNACLE_ISA; NULL when it is not set.
const char *ck_forced_instruction_set(void);

/// Prefetches memory, which Swift cannot express; any address is allowed.
static inline void ck_prefetch(const void *address)
{
    __builtin_prefetch(address);
}

#if defined(__x86_64__)
/// The signs of four lanes as four bits, which Swift's SIMD types cannot express.
static inline uint32_t ck_signs(__m128 lanes)
{
    return (uint32_t)_mm_movemask_ps(lanes);
}

/// Converts four signed numbers to floats, which Swift's SIMD types do one by one.
static inline __m128 ck_floats(__m128i numbers)
{
    return _mm_cvtepi32_ps(numbers);
}

/// One bit per lane of four vectors, whose lanes are all ones or zero.
static inline uint32_t ck_sixteen_bits(__m128 a, __m128 b, __m128 c, __m128 d)
{
    __m128i ab = _mm_packs_epi32(_mm_castps_si128(a), _mm_castps_si128(b));
    __m128i cd = _mm_packs_epi32(_mm_castps_si128(c), _mm_castps_si128(d));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(ab, cd));
}
#elif defined(__aarch64__)
/// Converts four signed numbers to floats, which Swift's SIMD types do one by one.
static inline float32x4_t ck_floats(int32x4_t numbers)
{
    return vcvtq_f32_s32(numbers);
}

/// The signs of four lanes as four bits, which Swift's SIMD types cannot express.
static inline uint32_t ck_signs(float32x4_t lanes)
{
    static const int32_t shifts[4] = {0, 1, 2, 3};
    uint32x4_t signs = vshrq_n_u32(vreinterpretq_u32_f32(lanes), 31);
    return vaddvq_u32(vshlq_u32(signs, vld1q_s32(shifts)));
}

/// One bit per lane of four vectors, whose lanes are all ones or zero.
static inline uint32_t ck_sixteen_bits(float32x4_t a, float32x4_t b, float32x4_t c, float32x4_t d)
{
    static const uint8_t places[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint16x8_t ab = vuzp1q_u16(vreinterpretq_u16_f32(a), vreinterpretq_u16_f32(b));
    uint16x8_t cd = vuzp1q_u16(vreinterpretq_u16_f32(c), vreinterpretq_u16_f32(d));
    uint8x16_t bits = vandq_u8(vuzp1q_u8(vreinterpretq_u8_u16(ab), vreinterpretq_u8_u16(cd)), vld1q_u8(places));
    return vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}
#endif

/// A threshold: inside above `high` or below `under`, outside from `floor` up to but not including `low`. Without a lower
/// side, `under` and `floor` are -INFINITY.
struct ck_band {
    float high, low, under, floor;
};

/// The extremes of some values; INFINITY and -INFINITY without values.
struct ck_extremes {
    float least, greatest;
};

// K1. ck_crossings_…: writes the indices at which the side changes, and returns their number. `inside` is the side before, 0
// or 1, and receives the side after. `crossings` has room for `count` + 64 indices. ck_extremes_…: ignores NaN.
//
// …_column_…: of values. …_vectors_…: of the squared lengths of vectors.
#define CK_DECLARE_THRESHOLD(isa)                                                                                              \
    size_t ck_crossings_column_##isa(                                                                                      \
        const float *values, size_t count, const struct ck_band *band, uint64_t *inside, uint32_t *crossings);             \
    size_t ck_crossings_vectors_##isa(                                                                                     \
        const float *x, const float *y, const float *z, size_t count, const struct ck_band *band, uint64_t *inside,        \
        uint32_t *crossings);                                                                                              \
    struct ck_extremes ck_extremes_column_##isa(const float *values, size_t count);                                        \
    struct ck_extremes ck_extremes_vectors_##isa(const float *x, const float *y, const float *z, size_t count);

/// The two rays that bound a sector of headings, for ck_margin. Around north and south one stands for both sides; north[0]
/// is 1 or -1 then.
struct ck_rays {
    float north[2], east[2], sign;
};

/// A sector: inside within the tolerance of a bearing, outside beyond the exit angle.
struct ck_sector {
    /// The axis: 0 for x, 1 for y, 2 for z.
    int axis;
    /// Whether the bearing is north or south.
    int is_symmetric;
    struct ck_rays enter, leave;
};

/// Margins nearer to 0 change nothing.
#define CK_LEAST_MARGIN 1e-30f

/// All angles in degrees, 0 < tolerance <= exit < 180; a reversed axis points in the opposite direction.
struct ck_sector ck_make_sector(int axis, int is_reversed, double bearing, double tolerance, double exit);

// K3: like ck_crossings_…, for the heading of the sector's axis, from the acceleration a… and the field m….
#define CK_DECLARE_FACING(isa)                                                                                             \
    size_t ck_crossings_facing_##isa(                                                                                      \
        const float *ax, const float *ay, const float *az, const float *mx, const float *my, const float *mz,              \
        size_t count, const struct ck_sector *sector, uint64_t *inside, uint32_t *crossings);

#if defined(__x86_64__)
CK_DECLARE_THRESHOLD(avx2)
CK_DECLARE_THRESHOLD(avx512)
CK_DECLARE_FACING(avx2)
CK_DECLARE_FACING(avx512)
#elif defined(__aarch64__)
CK_DECLARE_THRESHOLD(neon)
CK_DECLARE_FACING(neon)
#endif

/// K4. Filters runs of four samples, see GravityFilter.swift, and writes |a − g|² and |a|²; returns the number of samples, a
/// multiple of four. It ends before four samples of which one is unusable, or which last for 2³¹ nanoseconds or longer.
///
/// The first sample begins a run, and the one before it in the columns is the filter's last one. start: four floats, the user
/// acceleration at the sample before and, when it returns, at the last one filtered; the fourth has no meaning.
/// time_constant: τ in seconds, above 0. The stamps do not decrease.
size_t ck_gravity_runs_baseline(
    const int64_t *times, const float *x, const float *y, const float *z, size_t count, float time_constant,
    float *start, float *user, float *total);

#if defined(__x86_64__)
/// The same for eight runs at a time: ends before 32 samples of which one is unusable, or of which eight last for 2³¹
/// nanoseconds or longer.
size_t ck_gravity_runs_avx2(
    const int64_t *times, const float *x, const float *y, const float *z, size_t count, float time_constant,
    float *start, float *user, float *total);

/// Decodes scans of three 16-bit axes within the first eight bytes; returns their number, a multiple of eight.
///
/// stride: 8 or 16. order: the shuffle of two scans into x, y, z and 0 in little-endian; bit 7 for zero. shift: the number
/// of unused low bits. rows: four factors of each axis. times: receives the eight bytes after the axes; NULL for none, and
/// for stride 8.
size_t ck_decode_scans16_avx2(
    const void *scans, size_t count, size_t stride, const uint8_t *order, int shift, const double *rows, int64_t *times,
    float *x, float *y, float *z);

/// Marks the bytes of blocks of 64 that are one of four: a bit for each byte, the first in the lowest, and a word for each block.
void ck_marks_avx2(const uint8_t *text, size_t blocks, const uint8_t *sought, uint64_t *words);
void ck_marks_avx512(const uint8_t *text, size_t blocks, const uint8_t *sought, uint64_t *words);
#endif

#endif
