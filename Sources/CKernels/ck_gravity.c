// The gravity filter in whole runs, see GravityFilter.swift: each sample gets the bits of the serial loop.
#include "ckernels.h"
#include "ck_target.h"

#include <math.h>

#pragma STDC FP_CONTRACT OFF

// The compiler's vectors, because Swift's are split into single elements here.
typedef float ck_four __attribute__((vector_size(16)));
typedef float ck_four_anywhere __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t ck_numbers __attribute__((vector_size(16)));
typedef int64_t ck_stamps __attribute__((vector_size(16)));
typedef int64_t ck_stamps_anywhere __attribute__((vector_size(16), aligned(8), may_alias));

#define CK_LOAD(place) (*(const ck_four_anywhere *)(place))
#define CK_ALL(four, n) __builtin_shufflevector(four, four, n, n, n, n)

/// Transposes four rows of four.
CK_INLINE void ck_transpose(ck_four *rows)
{
    ck_four a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5), b = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
    ck_four c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5), d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
    rows[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    rows[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    rows[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    rows[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// The distances of two stamps to their predecessors.
CK_INLINE ck_numbers ck_distances(const int64_t *times)
{
    return (ck_numbers)(*(const ck_stamps_anywhere *)times - *(const ck_stamps_anywhere *)(times - 1));
}

size_t ck_gravity_runs_baseline(
    const int64_t *times, const float *x, const float *y, const float *z, size_t count, float time_constant,
    float *start, float *user, float *total)
{
    ck_four before = CK_LOAD(start);
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        ck_four sx = CK_LOAD(x + i), sy = CK_LOAD(y + i), sz = CK_LOAD(z + i);
        ck_four squares = sx * sx + sy * sy + sz * sz;
        ck_stamps usable = (ck_stamps)(squares < INFINITY);
        // Stamps do not decrease, so the distance of the ends bounds those between.
        uint64_t distance = (uint64_t)times[i + 3] - (uint64_t)times[i - 1];
        if (distance >> 31 || (usable[0] & usable[1]) != -1) break;
        *(ck_four_anywhere *)(total + i) = squares;
        ck_numbers distances = __builtin_shufflevector(ck_distances(times + i), ck_distances(times + i + 2), 0, 2, 4, 6);
        ck_four dt = __builtin_convertvector(distances, ck_four) * 1e-9f;
        ck_four factors = 1.0f - dt / (time_constant + dt);
        // For each sample x, y, z and the share of the previous run.
        ck_four parts[4] = {
            sx - CK_LOAD(x + i - 1), sy - CK_LOAD(y + i - 1), sz - CK_LOAD(z + i - 1), (ck_four){1, 0, 0, 0}};
        ck_transpose(parts);
        parts[0] *= CK_ALL(factors, 0);
        parts[1] = (parts[0] + parts[1]) * CK_ALL(factors, 1);
        parts[2] = (parts[1] + parts[2]) * CK_ALL(factors, 2);
        parts[3] = (parts[2] + parts[3]) * CK_ALL(factors, 3);
        for (int step = 0; step < 4; step++) parts[step] += CK_ALL(parts[step], 3) * before;
        before = parts[3];
        ck_transpose(parts);
        *(ck_four_anywhere *)(user + i) = parts[0] * parts[0] + parts[1] * parts[1] + parts[2] * parts[2];
    }
    *(ck_four_anywhere *)start = before;
    return i;
}

#if defined(CK_X86)
#define CK_EACH _Pragma("GCC unroll 4")

/// Transposes four rows of four, in each half of the registers.
CK_AVX2 CK_INLINE void ck_columns4(__m256 r0, __m256 r1, __m256 r2, __m256 r3, __m256 *columns)
{
    __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(r0, r1));
    __m256d b = _mm256_castps_pd(_mm256_unpackhi_ps(r0, r1));
    __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(r2, r3));
    __m256d d = _mm256_castps_pd(_mm256_unpackhi_ps(r2, r3));
    columns[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
    columns[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
    columns[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
    columns[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
}

/// |v|² of eight vectors, added in the order of squaredLength.
CK_AVX2 CK_INLINE __m256 ck_squares(__m256 x, __m256 y, __m256 z)
{
    return _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(x, x), _mm256_mul_ps(y, y)), _mm256_mul_ps(z, z));
}

/// 1 − dt/(τ + dt) of eight stamps, of which none is 2³¹ nanoseconds or more after its predecessor.
CK_AVX2 CK_INLINE __m256 ck_factors(const int64_t *times, __m256 time_constant)
{
    __m256i low = _mm256_sub_epi64(
        _mm256_loadu_si256((const __m256i *)times), _mm256_loadu_si256((const __m256i *)(times - 1)));
    __m256i high = _mm256_sub_epi64(
        _mm256_loadu_si256((const __m256i *)(times + 4)), _mm256_loadu_si256((const __m256i *)(times + 3)));
    // The lower halves, in the order 0 1 4 5 2 3 6 7, and then in theirs.
    __m256 mixed = _mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), 0x88);
    __m256i distances = _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), 0xd8);
    __m256 dt = _mm256_mul_ps(_mm256_cvtepi32_ps(distances), _mm256_set1_ps(1e-9f));
    return _mm256_sub_ps(_mm256_set1_ps(1), _mm256_div_ps(dt, _mm256_add_ps(time_constant, dt)));
}

/// The columns of a block, and whether all samples examined so far are usable.
struct ck_block {
    const int64_t *times;
    const float *axes[3];
    __m256 time_constant;
    uint64_t distances;
    __m256 usable;
};

/// Examines eight samples from `i` on: writes |a|², and returns the factors.
CK_AVX2 CK_INLINE __m256 ck_look(struct ck_block *block, size_t i, float *total)
{
    const int64_t *times = block->times + i;
    __m256 squares = ck_squares(
        _mm256_loadu_ps(block->axes[0] + i), _mm256_loadu_ps(block->axes[1] + i), _mm256_loadu_ps(block->axes[2] + i));
    _mm256_storeu_ps(total + i, squares);
    block->usable = _mm256_and_ps(block->usable, _mm256_cmp_ps(squares, _mm256_set1_ps(INFINITY), _CMP_LT_OQ));
    // Stamps do not decrease, so the distance of the ends bounds those between.
    block->distances |= (uint64_t)times[7] - (uint64_t)times[-1];
    return ck_factors(times, block->time_constant);
}

/// Computes what does not depend on earlier runs: for each axis and the share (the fourth) the four samples of eight runs side
/// by side, in the order 0 2 4 6 1 3 5 7; and the ends of two runs in each of `ends`: x, y, z and the share.
CK_AVX2 CK_INLINE void ck_prepare(
    const struct ck_block *block, size_t i, const __m256 *rows, __m256 parts[4][4], __m256 *ends)
{
    __m256 factors[4], changes[4];
    ck_columns4(rows[0], rows[1], rows[2], rows[3], factors);
    parts[3][0] = factors[0];
    CK_EACH for (int step = 1; step < 4; step++) parts[3][step] = _mm256_mul_ps(parts[3][step - 1], factors[step]);
    CK_EACH for (int axis = 0; axis < 3; axis++) {
        const float *values = block->axes[axis] + i;
        CK_EACH for (int row = 0; row < 4; row++) changes[row] =
            _mm256_sub_ps(_mm256_loadu_ps(values + 8 * row), _mm256_loadu_ps(values + 8 * row - 1));
        ck_columns4(changes[0], changes[1], changes[2], changes[3], changes);
        parts[axis][0] = _mm256_mul_ps(changes[0], factors[0]);
        CK_EACH for (int step = 1; step < 4; step++) parts[axis][step] =
            _mm256_mul_ps(_mm256_add_ps(parts[axis][step - 1], changes[step]), factors[step]);
    }
    ck_columns4(parts[0][3], parts[1][3], parts[2][3], parts[3][3], ends);
}

/// The user acceleration before each of two runs; `user` becomes the one after them, whose fourth component is undefined.
CK_AVX2 CK_INLINE __m256 ck_starts(__m256 ends, __m128 *user)
{
    __m256 shares = _mm256_permute_ps(ends, 0xff);
    __m128 first = *user;
    __m128 second = _mm_add_ps(_mm_mul_ps(_mm256_castps256_ps128(shares), first), _mm256_castps256_ps128(ends));
    *user = _mm_add_ps(_mm_mul_ps(_mm256_extractf128_ps(shares, 1), second), _mm256_extractf128_ps(ends, 1));
    return _mm256_insertf128_ps(_mm256_castps128_ps256(first), second, 1);
}

/// Writes |start · share + part|² of 32 samples.
CK_AVX2 CK_INLINE void ck_finish(__m256 parts[4][4], const __m256 *starts, float *user)
{
    __m256 start[4], squares[4], value[3];
    ck_columns4(starts[0], starts[1], starts[2], starts[3], start);
    CK_EACH for (int step = 0; step < 4; step++) {
        CK_EACH for (int axis = 0; axis < 3; axis++) value[axis] =
            _mm256_add_ps(_mm256_mul_ps(parts[3][step], start[axis]), parts[axis][step]);
        squares[step] = ck_squares(value[0], value[1], value[2]);
    }
    ck_columns4(squares[0], squares[1], squares[2], squares[3], squares);
    CK_EACH for (int row = 0; row < 4; row++) _mm256_storeu_ps(user + 8 * row, squares[row]);
}

/// Five streams are too many for some prefetchers.
CK_AVX2 CK_INLINE void ck_prefetch_rows(const struct ck_block *block, size_t i)
{
    i += 192;
    _mm_prefetch((const char *)(block->times + i), _MM_HINT_T0);
    _mm_prefetch((const char *)(block->times + i + 8), _MM_HINT_T0);
    CK_EACH for (int axis = 0; axis < 3; axis++) _mm_prefetch((const char *)(block->axes[axis] + i), _MM_HINT_T0);
}

CK_AVX2 size_t ck_gravity_runs_avx2(
    const int64_t *times, const float *x, const float *y, const float *z, size_t count, float time_constant,
    float *start, float *user, float *total)
{
    struct ck_block block = {
        times, {x, y, z}, _mm256_set1_ps(time_constant), 0, _mm256_castsi256_ps(_mm256_set1_epi32(-1))};
    // Runs that change nothing precede the first block.
    const __m256 nothing = _mm256_setr_ps(0, 0, 0, 1, 0, 0, 0, 1);
    __m256 rows[4], parts[4][4], starts[4], ends[4] = {nothing, nothing, nothing, nothing};
    __m128 value = _mm_loadu_ps(start);
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        // The chain of the previous block has a long latency; it is computed in parallel to the memory accesses.
        CK_EACH for (int row = 0; row < 4; row++) {
            if (row % 2 == 0) ck_prefetch_rows(&block, i + 8 * (size_t)row);
            rows[row] = ck_look(&block, i + 8 * (size_t)row, total);
            starts[row] = ck_starts(ends[row], &value);
        }
        if (i) ck_finish(parts, starts, user + i - 32);
        if (block.distances >> 31 || _mm256_movemask_ps(block.usable) != 0xff) {
            _mm_storeu_ps(start, value);
            return i;
        }
        ck_prepare(&block, i, rows, parts, ends);
    }
    CK_EACH for (int row = 0; row < 4; row++) starts[row] = ck_starts(ends[row], &value);
    if (i) ck_finish(parts, starts, user + i - 32);
    _mm_storeu_ps(start, value);
    return i;
}
#endif
