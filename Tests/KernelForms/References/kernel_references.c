#include "kernel_references.h"

#include <math.h>

#pragma STDC FP_CONTRACT OFF

static float square(const float *x, const float *y, const float *z, size_t i)
{
    // In steps of their own, so that no compiler makes one rounding of two.
    volatile float xx = x[i] * x[i], yy = y[i] * y[i], zz = z[i] * z[i];
    volatile float xy = xx + yy;
    return xy + zz;
}

struct chain {
    float high, low, under, floor;
    uint64_t inside;
    size_t count;
    uint32_t *crossings;
};

static void take(struct chain *chain, float value, size_t index)
{
    uint64_t before = chain->inside;
    if (value > chain->high || value < chain->under)
        chain->inside = 1;
    else if (value >= chain->floor && value < chain->low)
        chain->inside = 0;
    if (chain->inside != before)
        chain->crossings[chain->count++] = (uint32_t)index;
}

size_t reference_crossings_column(
    const float *values, size_t count, float high, float low, float under, float floor, uint64_t *inside,
    uint32_t *crossings)
{
    struct chain chain = {high, low, under, floor, *inside, 0, crossings};
    for (size_t i = 0; i < count; i++)
        take(&chain, values[i], i);
    *inside = chain.inside;
    return chain.count;
}

size_t reference_crossings_vectors(
    const float *x, const float *y, const float *z, size_t count, float high, float low, float under, float floor,
    uint64_t *inside, uint32_t *crossings)
{
    struct chain chain = {high, low, under, floor, *inside, 0, crossings};
    for (size_t i = 0; i < count; i++)
        take(&chain, square(x, y, z, i), i);
    *inside = chain.inside;
    return chain.count;
}

static void widen(float value, float *least, float *greatest)
{
    if (value < *least)
        *least = value;
    if (value > *greatest)
        *greatest = value;
}

void reference_extremes_column(const float *values, size_t count, float *least, float *greatest)
{
    *least = INFINITY;
    *greatest = -INFINITY;
    for (size_t i = 0; i < count; i++)
        widen(values[i] == 0 ? 0 : values[i], least, greatest);
}

void reference_extremes_vectors(
    const float *x, const float *y, const float *z, size_t count, float *least, float *greatest)
{
    *least = INFINITY;
    *greatest = -INFINITY;
    for (size_t i = 0; i < count; i++)
        widen(square(x, y, z, i), least, greatest);
}
