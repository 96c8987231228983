// One-pole low-pass filters in parallel lanes, without reassociation: each lane gives the bits of the serial loop.
#include "ckernels.h"
#include "ck_target.h"

#include <math.h>

#pragma STDC FP_CONTRACT OFF

#if defined(CK_X86)
#define CK_LANES CK_GRAVITY_LANES
#define CK_STEPS CK_GRAVITY_STEPS

/// One filter.
struct ck_filter {
    float x, y, z;
    int64_t last;
};

/// Filters one sample, like OnePoleFilter.step and the serial loop of separateGravity.
CK_INLINE void ck_gravity_step(
    struct ck_filter *filter, int64_t time, float x, float y, float z, float time_constant, float *user, float *total)
{
    float squared = x * x + y * y + z * z;
    if (!(squared < INFINITY)) {
        *user = NAN;
        *total = NAN;
        return;
    }
    float dt = (float)(int64_t)((uint64_t)time - (uint64_t)filter->last) * 1e-9f;
    filter->last = time;
    if (dt > 0) {
        float coefficient = dt / (time_constant + dt);
        filter->x += (x - filter->x) * coefficient;
        filter->y += (y - filter->y) * coefficient;
        filter->z += (z - filter->z) * coefficient;
    }
    float ux = x - filter->x;
    float uy = y - filter->y;
    float uz = z - filter->z;
    *user = ux * ux + uy * uy + uz * uz;
    *total = squared;
}

/// Filters a block of every lane serially, if it has unusable samples or unusual stamps.
static void ck_gravity_block(
    const int64_t *times, const float *x, const float *y, const float *z, const size_t *starts, size_t offset,
    float time_constant, float *values, int64_t *last, float *user, float *total)
{
    for (int lane = 0; lane < CK_LANES; lane++) {
        struct ck_filter filter = {values[lane], values[CK_LANES + lane], values[2 * CK_LANES + lane], last[lane]};
        size_t start = starts[lane] + offset;
        for (size_t i = start; i < start + CK_STEPS; i++) {
            float nowhere;
            ck_gravity_step(
                &filter, times[i], x[i], y[i], z[i], time_constant, user ? user + i : &nowhere,
                total ? total + i : &nowhere);
        }
        values[lane] = filter.x;
        values[CK_LANES + lane] = filter.y;
        values[2 * CK_LANES + lane] = filter.z;
        last[lane] = filter.last;
    }
}

/// Whether each lane's last sample precedes its block, which the differences of neighbours assume.
static int ck_follow(const int64_t *times, const size_t *starts, size_t offset, const int64_t *last)
{
    for (int lane = 0; lane < CK_LANES; lane++)
        if (last[lane] != times[starts[lane] + offset - 1]) return 0;
    return 1;
}

#define CK_EACH _Pragma("GCC unroll 16")

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

/// The four values at `low` and the four at `high`. A load and a blend, because insertions use a single port; it reads four
/// values after the former and before the latter.
CK_AVX2 CK_INLINE __m256 ck_halves(const float *low, const float *high)
{
    return _mm256_blend_ps(_mm256_loadu_ps(low), _mm256_loadu_ps(high - 4), 0xf0);
}

/// Transposes eight values of eight lanes.
CK_AVX2 CK_INLINE void ck_columns8(const float *values, const size_t *starts, __m256 *columns)
{
    const float *rows[8];
    CK_EACH for (int lane = 0; lane < 8; lane++) rows[lane] = values + starts[lane];
    CK_EACH for (int half = 0; half < 8; half += 4) {
        ck_columns4(
            ck_halves(rows[0] + half, rows[4] + half), ck_halves(rows[1] + half, rows[5] + half),
            ck_halves(rows[2] + half, rows[6] + half), ck_halves(rows[3] + half, rows[7] + half), columns + half);
    }
}

/// dt/(τ + dt) of eight distances in nanoseconds, at least 0.
CK_AVX2 CK_INLINE __m256 ck_shares(__m256i distances, __m256 time_constant)
{
    __m256 dt = _mm256_mul_ps(_mm256_cvtepi32_ps(distances), _mm256_set1_ps(1e-9f));
    return _mm256_div_ps(dt, _mm256_add_ps(time_constant, dt));
}

/// dt/(τ + dt) of eight neighbours, in the order 0 1 4 5 2 3 6 7; negative for repeated stamps.
///
/// The distances are at least 0 and below 2³¹ nanoseconds.
CK_AVX2 CK_INLINE __m256 ck_coefficients(const int64_t *times, __m256 time_constant)
{
    __m256i low = _mm256_sub_epi64(
        _mm256_loadu_si256((const __m256i *)times), _mm256_loadu_si256((const __m256i *)(times - 1)));
    __m256i high = _mm256_sub_epi64(
        _mm256_loadu_si256((const __m256i *)(times + 4)), _mm256_loadu_si256((const __m256i *)(times + 3)));
    __m256i distances =
        _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), 0x88));
    __m256 coefficients = ck_shares(distances, time_constant);
    __m256i none = _mm256_cmpgt_epi32(_mm256_set1_epi32(1), distances);
    return _mm256_or_ps(coefficients, _mm256_castsi256_ps(none));
}

/// |v|² of eight lanes, added in the order of squaredLength.
CK_AVX2 CK_INLINE __m256 ck_squares(__m256 x, __m256 y, __m256 z)
{
    return _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(x, x), _mm256_mul_ps(y, y)), _mm256_mul_ps(z, z));
}

/// Moves the value towards a sample; with a negative coefficient it keeps every bit.
CK_AVX2 CK_INLINE __m256 ck_moved(__m256 value, __m256 sample, __m256 coefficient)
{
    __m256 moved = _mm256_add_ps(value, _mm256_mul_ps(_mm256_sub_ps(sample, value), coefficient));
    return _mm256_blendv_ps(moved, value, coefficient);
}

CK_AVX2 CK_INLINE void ck_gravity_stretches(
    const int64_t *times, const float *x, const float *y, const float *z, const size_t *starts, size_t count,
    float time_constant, float *values, int64_t *last, float *user, float *total, int writes)
{
    // The columns of a block: three axes and the coefficient, by group of eight lanes and step; and the coefficients before
    // they are transposed. All of it fits into the level-1 cache.
    __m256 columns[4][2][CK_STEPS], coefficients[CK_LANES][CK_STEPS / 8];
    static const size_t rows[8] = {0,            CK_STEPS,     2 * CK_STEPS, 3 * CK_STEPS,
                                   4 * CK_STEPS, 5 * CK_STEPS, 6 * CK_STEPS, 7 * CK_STEPS};
    const __m256 tau = _mm256_set1_ps(time_constant);
    const __m256 infinity = _mm256_set1_ps(INFINITY);
    int follows = ck_follow(times, starts, 0, last);
    for (size_t offset = 0; offset < count; offset += CK_STEPS) {
        uint64_t far = 0;
        __m256 usable = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
        // Lane by lane, because sixteen lanes of six columns lie on more pages than the level-1 TLB has entries.
        for (int lane = 0; lane < CK_LANES; lane++) {
            size_t start = starts[lane] + offset;
            CK_EACH for (int step = 0; step < CK_STEPS; step += 8) {
                size_t i = start + (size_t)step;
                // Sixteen times five streams are too many for the hardware prefetcher.
                _mm_prefetch((const char *)(times + i + 2 * CK_STEPS), _MM_HINT_T0);
                if (step % 16 == 0) {
                    _mm_prefetch((const char *)(x + i + 2 * CK_STEPS), _MM_HINT_T0);
                    _mm_prefetch((const char *)(y + i + 2 * CK_STEPS), _MM_HINT_T0);
                    _mm_prefetch((const char *)(z + i + 2 * CK_STEPS), _MM_HINT_T0);
                }
                // Stamps do not decrease, so that the distance of the ends bounds those between.
                far |= (uint64_t)times[i + 7] - (uint64_t)times[i - 1];
                __m256 squares = ck_squares(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i), _mm256_loadu_ps(z + i));
                usable = _mm256_and_ps(usable, _mm256_cmp_ps(squares, infinity, _CMP_LT_OQ));
                if (writes) _mm256_storeu_ps(total + i, squares);
                coefficients[lane][step / 8] = ck_coefficients(times + i, tau);
            }
        }
        if (!follows || far >> 31 || _mm256_movemask_ps(usable) != 0xff) {
            ck_gravity_block(times, x, y, z, starts, offset, time_constant, values, last, user, total);
            follows = ck_follow(times, starts, offset + CK_STEPS, last);
            continue;
        }
        const float *axes[3] = {x + offset, y + offset, z + offset};
        for (int group = 0; group < 2; group++) {
            for (int axis = 0; axis < 3; axis++)
                CK_EACH for (int step = 0; step < CK_STEPS; step += 8)
                    ck_columns8(axes[axis] + step, starts + 8 * group, columns[axis][group] + step);
            for (int step = 0; step < CK_STEPS; step += 8) {
                __m256 *found = columns[3][group] + step, mixed[8];
                ck_columns8((const float *)&coefficients[8 * group][step / 8], rows, mixed);
                found[0] = mixed[0];
                found[1] = mixed[1];
                found[4] = mixed[2];
                found[5] = mixed[3];
                found[2] = mixed[4];
                found[3] = mixed[5];
                found[6] = mixed[6];
                found[7] = mixed[7];
            }
        }
        __m256 filters[3][2];
        CK_EACH for (int i = 0; i < 6; i++) filters[i / 2][i % 2] = _mm256_loadu_ps(values + 8 * i);
        for (int step = 0; step < CK_STEPS; step++) {
            // Two groups hide half of each other's latency.
            CK_EACH for (int group = 0; group < 2; group++) {
                __m256 c = columns[3][group][step], sample[3];
                CK_EACH for (int axis = 0; axis < 3; axis++) {
                    sample[axis] = columns[axis][group][step];
                    filters[axis][group] = ck_moved(filters[axis][group], sample[axis], c);
                }
                if (writes) {
                    columns[3][group][step] = ck_squares(
                        _mm256_sub_ps(sample[0], filters[0][group]), _mm256_sub_ps(sample[1], filters[1][group]),
                        _mm256_sub_ps(sample[2], filters[2][group]));
                }
            }
        }
        CK_EACH for (int i = 0; i < 6; i++) _mm256_storeu_ps(values + 8 * i, filters[i / 2][i % 2]);
        for (int lane = 0; lane < CK_LANES; lane++) last[lane] = times[starts[lane] + offset + CK_STEPS - 1];
        if (!writes) continue;
        for (int group = 0; group < 2; group++) {
            const size_t *own = starts + 8 * group;
            for (size_t step = 0; step < CK_STEPS; step += 4) {
                const __m256 *squares = columns[3][group] + step;
                __m256 turned[4];
                ck_columns4(squares[0], squares[1], squares[2], squares[3], turned);
                CK_EACH for (int lane = 0; lane < 4; lane++) {
                    _mm_storeu_ps(user + own[lane] + offset + step, _mm256_castps256_ps128(turned[lane]));
                    _mm_storeu_ps(user + own[lane + 4] + offset + step, _mm256_extractf128_ps(turned[lane], 1));
                }
            }
        }
    }
}

CK_AVX2 void ck_gravity_stretches_avx2(
    const int64_t *times, const float *x, const float *y, const float *z, const size_t *starts, size_t count,
    float time_constant, float *values, int64_t *last, float *user, float *total)
{
    ck_gravity_stretches(times, x, y, z, starts, count, time_constant, values, last, user, total, 1);
}

CK_AVX2 void ck_gravity_warm_up_avx2(
    const int64_t *times, const float *x, const float *y, const float *z, const size_t *starts, size_t count,
    float time_constant, float *values, int64_t *last)
{
    ck_gravity_stretches(times, x, y, z, starts, count, time_constant, values, last, NULL, NULL, 0);
}
#endif
