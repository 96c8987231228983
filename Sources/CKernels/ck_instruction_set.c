#include "ckernels.h"

#include <stdlib.h>

#if defined(__x86_64__)
// With AVX2 the forms use what every machine with AVX2 has beside it; an emulated one may have left it out. Whether the
// system keeps the registers is part of the answer about AVX.
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
