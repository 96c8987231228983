// K3 in every form that can be called here: the same crossings in all of them, and the sides that the arc tangent gives.
#include "forms.h"

#include "ckernels.h"
#include "kernel_references.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct form {
    const char *name;
    const struct ck_forms *forms;
    int is_here;
};

/// Headings nearer to a limit than this, in degrees, are Float's to decide.
#define EDGE 1e-3

static struct reference_sector make_reference_sector(void)
{
    static const double bearings[] = {0, 180, 90, 270};
    struct reference_sector sector;
    sector.axis = (int)form_below(3);
    sector.is_reversed = (int)form_below(2);
    sector.bearing = form_below(2) ? bearings[form_below(4)] : form_between(0, 359.9f);
    sector.tolerance = form_below(4) ? form_between(0.5f, 179) : 90;
    sector.exit = form_below(4) ? fmin(sector.tolerance * (1 + form_between(0, 1)), 179.5) : sector.tolerance;
    return sector;
}

/// A vector of a length from 0.1 to 100, in any direction.
static void make_vector(float *x, float *y, float *z, size_t i)
{
    float length = powf(10, form_between(-1, 2)), square;
    do {
        x[i] = form_between(-1, 1);
        y[i] = form_between(-1, 1);
        z[i] = form_between(-1, 1);
        square = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
    } while (square > 1 || square < 0.01f);
    length /= sqrtf(square);
    x[i] *= length;
    y[i] *= length;
    z[i] *= length;
}

static void test_form(const void *which, uint64_t number)
{
    const struct form *form = which;
    static uint32_t list[2100], parts[2100];
    form_seed(number);
    struct reference_sector reference = make_reference_sector();
    struct ck_sector sector = ck_make_sector(
        reference.axis, reference.is_reversed, reference.bearing, reference.tolerance, reference.exit);
    size_t count = number % 5 == 4 ? form_below(2000) : number % 258;
    uint64_t start = form_below(2), inside = start, specials = form_below(2) ? 0 : form_below(200);
    // What lasts is passed over in blocks; what changes is not.
    uint64_t lasting = form_below(2) ? 1 : 1 + form_below(600);
    float *a[3], *m[3];
    for (int axis = 0; axis < 3; axis++) {
        a[axis] = form_column(count);
        m[axis] = form_column(count);
    }
    for (size_t i = 0; i < count; i++) {
        if (i && i % lasting) {
            for (int axis = 0; axis < 3; axis++) {
                a[axis][i] = a[axis][i - 1];
                m[axis][i] = m[axis][i - 1];
            }
        } else {
            make_vector(a[0], a[1], a[2], i);
            make_vector(m[0], m[1], m[2], i);
        }
        if (form_below(1000) < specials)
            *(form_below(2) ? &a[form_below(3)][i] : &m[form_below(3)][i]) = form_special();
    }
    size_t found = form->forms->crossings_facing(a[0], a[1], a[2], m[0], m[1], m[2], count, &sector, &inside, list);

    uint64_t side = start;
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        float av[3] = {a[0][i], a[1][i], a[2][i]}, mv[3] = {m[0][i], m[1][i], m[2][i]};
        double nearest;
        int expected = reference_facing(&reference, av, mv, &nearest);
        uint64_t before = side;
        if (next < found && list[next] == i) {
            next++;
            side ^= 1;
        }
        if (nearest > EDGE && isfinite(nearest)) {
            uint64_t wanted = expected > 0 ? 1 : expected < 0 ? 0 : before;
            // Of vectors too long or too short for Float's squares of squares nothing is said, and nothing changes.
            double aa = 0, mm = 0;
            for (int axis = 0; axis < 3; axis++) {
                aa += (double)av[axis] * av[axis];
                mm += (double)mv[axis] * mv[axis];
            }
            int is_usable = aa > 1e-12 && aa < 1e12 && mm > 1e-6 && mm < 1e9;
            if (is_usable ? side != wanted : side != wanted && side != before)
                form_fail(form->name, number, "the arc tangent disagrees");
        } else if (!isfinite(nearest) && side != before) {
            form_fail(form->name, number, "a number that is none changes the side");
        }
    }
    if (next != found || side != inside)
        form_fail(form->name, number, "the crossings do not lead to the side");

    size_t cut = form_below(count + 1);
    uint64_t again = start;
    size_t first = form->forms->crossings_facing(a[0], a[1], a[2], m[0], m[1], m[2], cut, &sector, &again, parts);
    size_t second = form->forms->crossings_facing(
        a[0] + cut, a[1] + cut, a[2] + cut, m[0] + cut, m[1] + cut, m[2] + cut, count - cut, &sector, &again, parts + first);
    for (size_t i = 0; i < second; i++)
        parts[first + i] += (uint32_t)cut;
    if (first + second != found || again != inside || memcmp(parts, list, found * sizeof list[0]))
        form_fail(form->name, number, "two parts give something else");
    form_release();
}

void test_facing_forms(uint64_t cases)
{
    const struct form forms[] = {
        {"K3 baseline", &ck_forms_baseline, 1},
#if defined(HAS_AVX2)
        {"K3 avx2", &ck_forms_avx2, HAS_AVX2},
        {"K3 avx512", &ck_forms_avx512, HAS_AVX512},
#endif
    };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
        form_run((struct form_run){forms[f].name, forms[f].is_here, test_form, &forms[f]}, cases);
}
