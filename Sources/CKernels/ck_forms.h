// The forms of K1, K3 and K5 for the instruction set whose ck_lanes_….h is included first.
#include "ck_chain_form.h"

#pragma STDC FP_CONTRACT OFF

CK_INLINE CK_ISA struct ck_extremes ck_extremes_of(const struct ck_samples *from, size_t count, enum ck_kind kind)
{
    ck_lanes least[2] = {ck_all(INFINITY), ck_all(INFINITY)}, greatest[2] = {ck_all(-INFINITY), ck_all(-INFINITY)};
    size_t i = 0;
    for (; i + CK_GROUP <= count; i += CK_GROUP) {
        ck_lanes m[4];
        ck_measures(from, i, kind, 0, m);
        // With a NaN as the first operand, the second one is returned.
        for (int k = 0; k < 4; k++)
            greatest[k & 1] = ck_greater(m[k], greatest[k & 1]);
        for (int k = 0; k < 4; k++)
            least[k & 1] = ck_lesser(m[k], least[k & 1]);
    }
    float low[CK_LANES], high[CK_LANES];
    ck_store(low, ck_lesser(least[0], least[1]));
    ck_store(high, ck_greater(greatest[0], greatest[1]));
    struct ck_extremes result = {INFINITY, -INFINITY};
    for (int lane = 0; lane < CK_LANES; lane++) {
        result.least = low[lane] < result.least ? low[lane] : result.least;
        result.greatest = high[lane] > result.greatest ? high[lane] : result.greatest;
    }
    for (; i < count; i++) {
        float x = from->a[0][i], y = from->a[1][i], z = from->a[2][i];
        float m = kind == CK_VECTORS ? x * x + y * y + z * z : x;
        result.least = m < result.least ? m : result.least;
        result.greatest = m > result.greatest ? m : result.greatest;
    }
    // The form decides which of two signed zeros is found; the sum is positive.
    result.least += 0.0f;
    result.greatest += 0.0f;
    return result;
}

static CK_ISA size_t crossings_column(
    const float *values, size_t count, const struct ck_band *band, uint64_t *inside, uint32_t *crossings)
{
    const struct ck_samples from = {.a = {values, values, values}};
    return ck_is_two_sided(band) ? ck_crossings(&from, count, band, inside, crossings, CK_COLUMN, 1)
                                 : ck_crossings(&from, count, band, inside, crossings, CK_COLUMN, 0);
}

static CK_ISA size_t crossings_vectors(
    const float *x, const float *y, const float *z, size_t count, const struct ck_band *band, uint64_t *inside,
    uint32_t *crossings)
{
    const struct ck_samples from = {.a = {x, y, z}};
    return ck_is_two_sided(band) ? ck_crossings(&from, count, band, inside, crossings, CK_VECTORS, 1)
                                 : ck_crossings(&from, count, band, inside, crossings, CK_VECTORS, 0);
}

static CK_ISA size_t crossings_facing(
    const float *ax, const float *ay, const float *az, const float *mx, const float *my, const float *mz, size_t count,
    const struct ck_sector *sector, uint64_t *inside, uint32_t *crossings)
{
    const float *a[3] = {ax, ay, az}, *m[3] = {mx, my, mz};
    int u = sector->axis, v = (u + 1) % 3, w = (u + 2) % 3;
    const struct ck_samples from = {.a = {a[u], a[v], a[w]}, .m = {m[u], m[v], m[w]}, .sector = sector};
    // Smaller margins change nothing: both vectors are so short that the fourth powers underflow.
    const struct ck_band band = {CK_LEAST_MARGIN, -CK_LEAST_MARGIN, -INFINITY, -INFINITY};
    if (!sector->is_symmetric)
        return ck_crossings(&from, count, &band, inside, crossings, CK_BEARING, 0);
    return sector->enter.north[0] > 0 ? ck_crossings(&from, count, &band, inside, crossings, CK_NORTH, 0)
                                      : ck_crossings(&from, count, &band, inside, crossings, CK_SOUTH, 0);
}

static CK_ISA struct ck_extremes extremes_column(const float *values, size_t count)
{
    const struct ck_samples from = {.a = {values, values, values}};
    return ck_extremes_of(&from, count, CK_COLUMN);
}

static CK_ISA struct ck_extremes extremes_vectors(const float *x, const float *y, const float *z, size_t count)
{
    const struct ck_samples from = {.a = {x, y, z}};
    return ck_extremes_of(&from, count, CK_VECTORS);
}

// One number, and as many as there are lanes, of four series each, as the compiler's vectors.
#define CK_SERIES 4
#define CK_NUMBERS (CK_LANES / CK_SERIES)
typedef float ck_number __attribute__((vector_size(16), aligned(4), may_alias));
typedef float ck_numbers __attribute__((vector_size(16 * CK_NUMBERS), aligned(4), may_alias));

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

/// Each number has the bits of the loop in RealTransform.swift, because none is added to another lane.
static CK_ISA void butterflies(float *re, float *im, const float *cosines, const float *sines, size_t length)
{
    for (size_t half = 1; half < length; half *= 2) {
        size_t step = length / half;
        for (size_t start = 0; start < length; start += 2 * half) {
            size_t k = 0;
            for (; k + CK_NUMBERS <= half; k += CK_NUMBERS) {
                ck_numbers cosine, sine;
#pragma GCC unroll 16
                for (size_t lane = 0; lane < CK_LANES; lane++) {
                    cosine[lane] = cosines[(k + lane / CK_SERIES) * step];
                    sine[lane] = sines[(k + lane / CK_SERIES) * step];
                }
                CK_BUTTERFLY(ck_numbers, start + k, start + k + half, cosine, sine);
            }
            for (; k < half; k++)
                CK_BUTTERFLY(ck_number, start + k, start + k + half, cosines[k * step], sines[k * step]);
        }
    }
}

const struct ck_forms CK_FORM(ck_forms) = {
    crossings_column, crossings_vectors, crossings_facing, extremes_column, extremes_vectors, butterflies};
