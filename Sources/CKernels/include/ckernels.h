// The forms of the kernels for each instruction set, with its name as the suffix; Sources/Kernels, the only caller, chooses at
// run time.
#ifndef CKERNELS_H
#define CKERNELS_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__clang__)
#define _Nullable
#endif
#pragma clang assume_nonnull begin

/// Whether this machine has AVX2, and the system saves its registers.
int ck_has_avx2(void);
/// Whether this machine has AVX-512 F, BW, DQ and VL, and the system saves its registers.
int ck_has_avx512(void);
/// The value of BINNACLE_ISA; NULL when it is not set.
const char *_Nullable ck_forced_instruction_set(void);

/// Prefetches memory, which Swift cannot express; any address is allowed.
static inline void ck_prefetch(const void *address)
{
    __builtin_prefetch(address);
}

/// A threshold: inside above `high` or below `under`, outside from `floor` up to but not including `low`. Without a lower
/// side, `under` and `floor` are -INFINITY.
struct ck_band {
    float high, low, under, floor;
};

/// The extremes of some values; INFINITY and -INFINITY without values.
struct ck_extremes {
    float least, greatest;
};

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

/// The forms of K1, K3 and K5 for an instruction set.
///
/// crossings_…: writes the indices at which the side changes, and returns their number. `inside` is the side before, 0 or 1, and
/// receives the side after. `crossings` has room for `count` + 64 indices. extremes_…: ignores NaN.
///
/// …_column: of values. …_vectors: of the squared lengths of vectors. …_facing: for the heading of the sector's axis, from the
/// acceleration a… and the field m….
///
/// butterflies: of `length` complex numbers in bit-reversed order, a power of two, of four series side by side, in place.
/// cosines, sines: cos and -sin of pi k / length for k below length.
struct ck_forms {
    size_t (*crossings_column)(
        const float *values, size_t count, const struct ck_band *band, uint64_t *inside, uint32_t *crossings);
    size_t (*crossings_vectors)(
        const float *x, const float *y, const float *z, size_t count, const struct ck_band *band, uint64_t *inside,
        uint32_t *crossings);
    size_t (*crossings_facing)(
        const float *ax, const float *ay, const float *az, const float *mx, const float *my, const float *mz, size_t count,
        const struct ck_sector *sector, uint64_t *inside, uint32_t *crossings);
    struct ck_extremes (*extremes_column)(const float *values, size_t count);
    struct ck_extremes (*extremes_vectors)(const float *x, const float *y, const float *z, size_t count);
    void (*butterflies)(float *re, float *im, const float *cosines, const float *sines, size_t length);
};

/// For SSE2 or NEON, which every machine of the architecture has.
extern const struct ck_forms ck_forms_baseline;
#if defined(__x86_64__)
extern const struct ck_forms ck_forms_avx2, ck_forms_avx512;
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
/// K4 for eight runs at a time: ends before 32 samples of which one is unusable, or of which eight last for 2³¹ ns or
/// longer.
size_t ck_gravity_runs_avx2(
    const int64_t *times, const float *x, const float *y, const float *z, size_t count, float time_constant,
    float *start, float *user, float *total);

/// Decodes scans of three 16-bit axes within the first eight bytes; returns their number, a multiple of eight.
///
/// stride: 8 or 16. order: the shuffle of two scans into x, y, z and 0 in little-endian; bit 7 for zero. shift: the number
/// of unused low bits. rows: four factors of each axis. times: receives the eight bytes after the axes; NULL for none, and
/// for stride 8.
size_t ck_decode_scans16_avx2(
    const void *scans, size_t count, size_t stride, const uint8_t *order, int shift, const double *rows,
    int64_t *_Nullable times, float *x, float *y, float *z);
/// The same, with AVX-512.
size_t ck_decode_scans16_avx512(
    const void *scans, size_t count, size_t stride, const uint8_t *order, int shift, const double *rows,
    int64_t *_Nullable times, float *x, float *y, float *z);

/// Marks the bytes of blocks of 64 that are one of four: a bit for each byte, the first in the lowest, and a word for each block.
void ck_marks_avx2(const uint8_t *text, size_t blocks, const uint8_t *sought, uint64_t *words);
void ck_marks_avx512(const uint8_t *text, size_t blocks, const uint8_t *sought, uint64_t *words);
#endif

#pragma clang assume_nonnull end

#endif
