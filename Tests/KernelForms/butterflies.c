// K5: the butterflies of four transforms side by side give the bits of a loop over single values.
#include "forms.h"

#include "ckernels.h"

#include <math.h>
#include <string.h>

struct form {
    const char *name;
    void (*combine)(float *, float *, const float *, const float *, size_t);
    int is_here;
};

static void combine(float *re, float *im, const float *cosines, const float *sines, size_t length)
{
    for (size_t half = 1; half < length; half *= 2)
        for (size_t start = 0; start < length; start += 2 * half)
            for (size_t k = 0; k < half; k++)
                for (size_t series = 0; series < 4; series++) {
                    size_t a = 4 * (start + k) + series, b = a + 4 * half;
                    float c = cosines[k * length / half], s = sines[k * length / half];
                    float r = re[b] * c - im[b] * s, i = re[b] * s + im[b] * c;
                    re[b] = re[a] - r;
                    im[b] = im[a] - i;
                    re[a] += r;
                    im[a] += i;
                }
}

/// Equal bits, or both no number: which NaN an operation gives is the machine's choice.
static int is_same(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof a[i]) && !(isnan(a[i]) && isnan(b[i])))
            return 0;
    return 1;
}

static void test_form(const void *which, uint64_t number)
{
    const struct form *form = which;
    form_seed(number);
    size_t length = (size_t)1 << number % 10, count = 4 * length;
    uint64_t specials = form_below(4) ? 0 : form_below(50);
    float *cosines = form_column(length), *sines = form_column(length), *parts[4];
    for (size_t k = 0; k < length; k++) {
        cosines[k] = (float)cos(M_PI * (double)k / (double)length);
        sines[k] = (float)-sin(M_PI * (double)k / (double)length);
    }
    for (int part = 0; part < 4; part++)
        parts[part] = form_column(count);
    for (size_t i = 0; i < count; i++) {
        parts[0][i] = parts[2][i] = form_below(1000) < specials ? form_special() : form_between(-20, 20);
        parts[1][i] = parts[3][i] = form_between(-20, 20);
    }
    form->combine(parts[0], parts[1], cosines, sines, length);
    combine(parts[2], parts[3], cosines, sines, length);
    if (!is_same(parts[0], parts[2], count) || !is_same(parts[1], parts[3], count))
        form_fail(form->name, number, "other bits than the loop");
    form_release();
}

void test_butterfly_forms(uint64_t cases)
{
    const struct form forms[] = {
        {"K5 baseline", ck_forms_baseline.butterflies, 1},
#if defined(HAS_AVX2)
        {"K5 avx2", ck_forms_avx2.butterflies, HAS_AVX2},
        {"K5 avx512", ck_forms_avx512.butterflies, HAS_AVX512},
#endif
    };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
        form_run((struct form_run){forms[f].name, forms[f].is_here, test_form, &forms[f]}, cases);
}
