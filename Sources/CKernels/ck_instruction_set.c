#include "ckernels.h"

#include <stdlib.h>

#if defined(__x86_64__)
// The AVX2 forms also use BMI, BMI2 and POPCNT, which every real machine with AVX2 has, but an emulator may lack. The test
// for AVX includes that the system saves the registers.
int ck_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}

int ck_has_avx512(void)
{
    return ck_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#else
int ck_has_avx2(void)
{
    return 0;
}

int ck_has_avx512(void)
{
    return 0;
}
#endif

const char *ck_forced_instruction_set(void)
{
    return getenv("BINNACLE_ISA");
}
