// K4: whole runs give the bits of a loop over samples, and end where they have to.
#include "forms.h"

#include "ckernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct form {
    const char *name;
    size_t (*filter)(
        const int64_t *, const float *, const float *, const float *, size_t, float, float *, float *, float *);
    /// The number of samples that are filtered together, or not at all.
    size_t block;
    /// How many of them have to lie within 2³¹ nanoseconds.
    size_t stretch;
    int is_here;
};

/// The user acceleration in runs of four samples, see GravityFilter.swift.
struct run {
    float start[3], part[3], share;
    int count;
};

static float square(const float *v)
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

static float step(struct run *run, const float *before, const float *sample, int64_t distance, float time_constant)
{
    float dt = (float)distance * 1e-9f, user[3];
    float factor = 1 - (dt > 0 ? dt / (time_constant + dt) : 0);
    run->share *= factor;
    for (int axis = 0; axis < 3; axis++) {
        run->part[axis] = (run->part[axis] + (sample[axis] - before[axis])) * factor;
        user[axis] = run->share * run->start[axis] + run->part[axis];
    }
    if (++run->count == 4) {
        memcpy(run->start, user, sizeof user);
        memset(run->part, 0, sizeof run->part);
        run->share = 1;
        run->count = 0;
    }
    return square(user);
}

/// Whether the form has to filter a block.
static int is_usable(const struct form *form, const int64_t *times, float *const *axes, size_t i)
{
    for (size_t n = i; n < i + form->block; n++) {
        size_t offset = n - i;
        if (offset % form->stretch == 0 && ((uint64_t)times[n + form->stretch - 1] - (uint64_t)times[n - 1]) >> 31)
            return 0;
        float sample[3] = {axes[0][n], axes[1][n], axes[2][n]};
        if (!(square(sample) < INFINITY))
            return 0;
    }
    return 1;
}

static void test_form(const void *which, uint64_t number)
{
    const struct form *form = which;
    form_seed(number);
    size_t count = 1 + (number % 5 == 4 ? form_below(2000) : number % 258);
    static const float constants[] = {1e-30f, 0.01f, 0.5f, 1e4f, INFINITY};
    float time_constant = constants[form_below(5)];
    uint64_t specials = form_below(2) ? 0 : form_below(50), repeated = form_below(3), far = form_below(4) ? 0 : 1;
    int64_t *times = malloc(count * sizeof *times);
    float *axes[3], *user = form_column(count), *total = form_column(count);
    if (!times)
        abort();
    for (int axis = 0; axis < 3; axis++)
        axes[axis] = form_column(count);
    uint64_t now = form_random();
    for (size_t i = 0; i < count; i++) {
        if (form_below(3) >= repeated)
            now += far && !form_below(100) ? form_random() >> 30 : form_below(20000000);
        times[i] = (int64_t)now;
        for (int axis = 0; axis < 3; axis++)
            axes[axis][i] = i && form_below(1000) < specials ? form_special() : form_between(-20, 20);
    }
    struct run run = {.share = 1};
    float start[4] = {form_between(-1, 1), form_between(-1, 1), form_between(-1, 1), 0};
    memcpy(run.start, start, sizeof run.start);
    size_t done = form->filter(
        times + 1, axes[0] + 1, axes[1] + 1, axes[2] + 1, count - 1, time_constant, start, user + 1, total + 1);
    if (done % form->block || done > count - 1)
        form_fail(form->name, number, "no whole runs");
    if (done + form->block <= count - 1 && is_usable(form, times, axes, done + 1))
        form_fail(form->name, number, "ends before samples that are usable");
    for (size_t i = 1; i <= done; i++) {
        float before[3], sample[3];
        for (int axis = 0; axis < 3; axis++) {
            before[axis] = axes[axis][i - 1];
            sample[axis] = axes[axis][i];
        }
        if ((i - 1) % form->block == 0 && !is_usable(form, times, axes, i))
            form_fail(form->name, number, "goes on behind samples that are not usable");
        float expected[2] = {
            step(&run, before, sample, (int64_t)((uint64_t)times[i] - (uint64_t)times[i - 1]), time_constant), square(sample)};
        if (memcmp(&expected[0], &user[i], sizeof(float)) || memcmp(&expected[1], &total[i], sizeof(float)))
            form_fail(form->name, number, "other bits than the loop");
    }
    for (int axis = 0; axis < 3; axis++) {
        if (run.start[axis] != start[axis])
            form_fail(form->name, number, "another state than the loop");
    }
    free(times);
    form_release();
}

void test_gravity_forms(uint64_t cases)
{
    const struct form forms[] = {
        {"K4 baseline", ck_gravity_runs_baseline, 4, 4, 1},
#if defined(HAS_AVX2)
        {"K4 avx2", ck_gravity_runs_avx2, 32, 8, HAS_AVX2},
#endif
    };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
        form_run((struct form_run){forms[f].name, forms[f].is_here, test_form, &forms[f]}, cases);
}
