// What the C forms are compiled with. A function that uses an instruction set names it itself, because the package may
// pass no flags on. With CK_SIMDE, as Tests/KernelForms has it, SIMDe plays the x86 intrinsics on any machine.
#ifndef CK_TARGET_H
#define CK_TARGET_H

#include <stddef.h>
#include <stdint.h>

#if defined(CK_SIMDE)
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
// SIMDe has no second names for these.
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

// No FMA: a sum that is rounded once gives other bits than one that is rounded twice.
#define CK_AVX2 CK_TARGET("avx2,bmi,bmi2,popcnt")
#define CK_AVX512 CK_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,popcnt")

// Pieces of kernels: inlined for the instruction set of whoever uses them.
#define CK_INLINE static inline __attribute__((always_inline, unused))

/// CK_KEEP has a vector ready before what follows is begun, loads included.
///
/// CK_TOGETHER keeps four steps of the same kind together, before all that follows. Left alone, compilers alternate multiplications and
/// additions, which Zen 3 executes a sixth slower than four of the one and then four of the other.
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
/// Has a number worked out here, not where it is first looked at.
#define CK_NOW(number) __asm__ volatile("" : "+r"(number))

#endif
