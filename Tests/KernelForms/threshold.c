// K1 in every form that can be called here, against the reference.
#include "forms.h"

#include "ckernels.h"
#include "kernel_references.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct form {
    const char *name;
    const struct ck_forms *forms;
    int is_here;
};

struct samples {
    size_t count;
    float *x, *y, *z;
    struct ck_band band;
    uint64_t inside;
    int is_vector;
};

static int compare(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

static struct ck_band make_band(int is_vector)
{
    float limits[4];
    for (int i = 0; i < 4; i++)
        limits[i] = form_between(is_vector ? 0 : -2, 3);
    if (!form_below(4))
        limits[1] = limits[0];
    if (!form_below(20))
        limits[0] = INFINITY;
    qsort(limits, 4, sizeof limits[0], compare);
    struct ck_band band = {limits[3], limits[2], -INFINITY, -INFINITY};
    if (form_below(2)) {
        band.under = limits[0];
        band.floor = limits[1];
    }
    return band;
}

static struct samples make_samples(uint64_t number)
{
    struct samples s;
    s.count = number % 5 == 4 ? form_below(2000) : number % 258;
    s.is_vector = (int)form_below(2);
    s.band = make_band(s.is_vector);
    s.inside = form_below(2);
    s.x = form_column(s.count);
    s.y = form_column(s.count);
    s.z = form_column(s.count);
    static const uint64_t rates[] = {0, 1, 10, 100, 500, 1000};
    uint64_t events = rates[form_below(6)], specials = form_below(2) ? 0 : rates[form_below(6)], inside = s.inside;
    for (size_t i = 0; i < s.count; i++) {
        if (form_below(1000) < events)
            inside ^= 1;
        float limits[] = {s.band.high, s.band.low, s.band.under, s.band.floor}, m;
        switch (form_below(12)) {
        case 0:
            m = limits[form_below(4)];
            m = isfinite(m) ? nextafterf(m, (float)form_below(2) * 10 - 5) : 1;
            break;
        case 1:
            m = limits[form_below(4)];
            break;
        case 2:
            m = form_between(-3, 3);
            break;
        default:
            m = inside ? s.band.high + 0.1f : (fmaxf(s.band.floor, -3) + s.band.low) / 2;
        }
        float length = s.is_vector ? sqrtf(fmaxf(m, 0)) : m;
        int is_along = !s.is_vector || form_below(2);
        s.x[i] = is_along ? length : length * 0.6f;
        s.y[i] = is_along ? 0 : length * -0.48f;
        s.z[i] = is_along ? 0 : length * 0.64f;
        if (form_below(1000) < specials)
            *(form_below(2) ? &s.x[i] : form_below(2) ? &s.y[i] : &s.z[i]) = form_special();
    }
    return s;
}

static size_t call(const struct form *form, const struct samples *s, size_t from, size_t to, uint64_t *inside, uint32_t *list)
{
    const struct ck_forms *f = form->forms;
    return s->is_vector ? f->crossings_vectors(s->x + from, s->y + from, s->z + from, to - from, &s->band, inside, list)
                        : f->crossings_column(s->x + from, to - from, &s->band, inside, list);
}

static void test_crossings(const struct form *form, const struct samples *s, uint64_t number)
{
    static uint32_t expected[2100], found[2100];
    uint64_t inside = s->inside, expected_inside = s->inside;
    const struct ck_band *b = &s->band;
    size_t count = s->is_vector ? reference_crossings_vectors(
                                      s->x, s->y, s->z, s->count, b->high, b->low, b->under, b->floor, &expected_inside, expected)
                                : reference_crossings_column(
                                      s->x, s->count, b->high, b->low, b->under, b->floor, &expected_inside, expected);
    size_t whole = call(form, s, 0, s->count, &inside, found);
    if (whole != count || inside != expected_inside || memcmp(found, expected, count * sizeof found[0]))
        form_fail(form->name, number, "crossings differ");

    size_t cut = form_below(s->count + 1);
    inside = s->inside;
    size_t first = call(form, s, 0, cut, &inside, found);
    size_t second = call(form, s, cut, s->count, &inside, found + first);
    for (size_t i = 0; i < second; i++)
        found[first + i] += (uint32_t)cut;
    if (first + second != count || inside != expected_inside || memcmp(found, expected, count * sizeof found[0]))
        form_fail(form->name, number, "crossings of two parts differ");
}

static void test_extremes(const struct form *form, const struct samples *s, uint64_t number)
{
    struct ck_extremes expected, found;
    if (s->is_vector) {
        reference_extremes_vectors(s->x, s->y, s->z, s->count, &expected.least, &expected.greatest);
        found = form->forms->extremes_vectors(s->x, s->y, s->z, s->count);
    } else {
        reference_extremes_column(s->x, s->count, &expected.least, &expected.greatest);
        found = form->forms->extremes_column(s->x, s->count);
    }
    if (memcmp(&found, &expected, sizeof found))
        form_fail(form->name, number, "extremes differ");
}

static void test_form(const void *which, uint64_t number)
{
    const struct form *form = which;
    form_seed(number);
    struct samples samples = make_samples(number);
    test_crossings(form, &samples, number);
    test_extremes(form, &samples, number);
    form_release();
}

void test_threshold_forms(uint64_t cases)
{
    const struct form forms[] = {
        {"K1 baseline", &ck_forms_baseline, 1},
#if defined(HAS_AVX2)
        {"K1 avx2", &ck_forms_avx2, HAS_AVX2},
        {"K1 avx512", &ck_forms_avx512, HAS_AVX512},
#endif
    };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
        form_run((struct form_run){forms[f].name, forms[f].is_here, test_form, &forms[f]}, cases);
}
