// Compilation of the forms in C. Each function names its instruction set, because a package must not require flags. With
// CK_SIMDE, as in Tests/KernelForms, SIMDe emulates the x86 intrinsics on any machine.
#ifndef CK_TARGET_H
#define CK_TARGET_H

#include <stddef.h>
#include <stdint.h>

#if defined(CK_SIMDE)
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
// SIMDe has no aliases for these.
#define _CMP_LT_OQ SIMDE_CMP_LT_OQ
#define _CMP_GT_OQ SIMDE_CMP_GT_OQ
#define _CMP_GE_OQ SIMDE_CMP_GE_OQ
#define _CMP_NLT_UQ SIMDE_CMP_NLT_UQ
#define _CMP_NGE_UQ SIMDE_CMP_NGE_UQ
#define CK_TARGET(features)
#define CK_X86 1
#elif defined(__x86_64__)
#include <immintrin.h>
#define CK_TARGET(features) __attribute__((target(features)))
#define CK_X86 1
#elif defined(__aarch64__)
#include <arm_neon.h>
#define CK_TARGET(features)
#define CK_ARM 1
#else
#define CK_TARGET(features)
#endif

// No FMA, because rounding once gives other bits than rounding twice.
#define CK_AVX2 CK_TARGET("avx2,bmi,bmi2,popcnt")
#define CK_AVX512 CK_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,popcnt")

// Parts of kernels, inlined for the instruction set of their callers.
#define CK_INLINE static inline __attribute__((always_inline, unused))

/// CK_KEEP completes a vector before anything that follows, loads included.
///
/// CK_TOGETHER keeps four operations of the same kind together. Otherwise compilers alternate multiplications and additions,
/// which Zen 3 executes a sixth slower than four of each in succession.
#if defined(CK_SIMDE)
#define CK_TOGETHER(a, b, c, d) ((void)0)
#define CK_KEEP(a) ((void)0)
#elif defined(CK_ARM)
#define CK_TOGETHER(a, b, c, d) __asm__ volatile("" : "+w"(a), "+w"(b), "+w"(c), "+w"(d) : : "memory")
#define CK_KEEP(a) __asm__ volatile("" : "+w"(a) : : "memory")
#else
#define CK_TOGETHER(a, b, c, d) __asm__ volatile("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d) : : "memory")
#define CK_KEEP(a) __asm__ volatile("" : "+v"(a) : : "memory")
#endif
/// Computes a number here, not at its first use.
#define CK_NOW(number) __asm__ volatile("" : "+r"(number))

#endif
