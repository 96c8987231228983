#include "forms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static void *columns[64];
static size_t column_count;

void form_seed(uint64_t number)
{
    state = number * 0x9E3779B97F4A7C15u + 0x1234567;
}

uint64_t form_random(void)
{
    uint64_t mixed = state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

uint64_t form_below(uint64_t bound)
{
    return form_random() % bound;
}

float form_between(float low, float high)
{
    return low + (high - low) * (float)(form_random() >> 40) / (float)(1 << 24);
}

float form_special(void)
{
    static const uint32_t bits[] = {
        0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x7F800000, 0xFF800000, 0x00000000, 0x80000000,
        0x00000001, 0x80000001, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7149F2CA, 0x8DA24260, 0x3F800000};
    float value;
    memcpy(&value, &bits[form_below(sizeof bits / sizeof bits[0])], sizeof value);
    return value;
}

float *form_column(size_t count)
{
    size_t offset = form_below(17);
    float *memory = malloc((offset + count) * sizeof(float) + 1);
    if (!memory || column_count == 64)
        abort();
    columns[column_count++] = memory;
    return memory + offset;
}

void form_release(void)
{
    while (column_count)
        free(columns[--column_count]);
}

void form_fail(const char *kernel, uint64_t number, const char *what)
{
    printf("%s, case %llu: %s\n", kernel, (unsigned long long)number, what);
    exit(1);
}

void form_run(struct form_run run, uint64_t cases)
{
    if (!run.is_here) {
        printf("%s: not on this machine\n", run.name);
        return;
    }
    for (uint64_t number = 0; number < cases; number++)
        run.test(run.form, number);
    printf("%s: %llu cases\n", run.name, (unsigned long long)cases);
}

int main(int count, char **arguments)
{
    uint64_t cases = count > 1 ? strtoull(arguments[1], NULL, 10) : 3000;
    test_threshold_forms(cases);
    test_facing_forms(cases);
    test_gravity_forms(cases);
    test_mark_forms(cases);
    test_butterfly_forms(cases);
    return 0;
}
