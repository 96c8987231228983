// The harness of the kernels' C forms: random cases, and a loop in C that says what they have to give. It runs where Swift
// does not: with SIMDe as an AVX-512 machine, and in an emulated arm64.
#ifndef FORMS_H
#define FORMS_H

#include <stddef.h>
#include <stdint.h>

/// Whether forms of these instruction sets can be called here.
#if defined(CK_SIMDE)
#define HAS_AVX2 1
#define HAS_AVX512 1
#elif defined(__x86_64__)
#define HAS_AVX2 ck_has_avx2()
#define HAS_AVX512 ck_has_avx512()
#endif

/// Starts the random numbers of a case; the same number gives the same ones everywhere.
void form_seed(uint64_t number);
/// The next random number (SplitMix64, Steele and others 2014).
uint64_t form_random(void);
/// A random number below a bound.
uint64_t form_below(uint64_t bound);
/// A random number from `low` to `high`.
float form_between(float low, float high);
/// A value that comparisons and sums trip over.
float form_special(void);

/// Room for values at an address that is no multiple of a vector's length, and that ends where the values do: what reads
/// behind them is seen by the address sanitizer.
float *form_column(size_t count);
/// Releases all columns of a case.
void form_release(void);

/// Reports that a case failed, and ends.
void form_fail(const char *kernel, uint64_t number, const char *what);

/// One form of a kernel, with what its cases need.
struct form_run {
    const char *name;
    /// Whether it can be called here.
    int is_here;
    /// Runs a case of it, which it seeds itself.
    void (*test)(const void *form, uint64_t number);
    const void *form;
};

/// Runs a number of cases of a form, or prints that this machine does not have it.
void form_run(struct form_run run, uint64_t cases);

/// Each runs a number of cases.
void test_threshold_forms(uint64_t cases);
void test_facing_forms(uint64_t cases);
void test_gravity_forms(uint64_t cases);
void test_mark_forms(uint64_t cases);
void test_butterfly_forms(uint64_t cases);

#endif
