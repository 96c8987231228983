#define _GNU_SOURCE
#include "cbench.h"

#include <sched.h>

// Four accumulators, so that no load waits for the previous one.
#define READ(suffix, target, width)                                                                                    \
    typedef uint64_t vector_##suffix __attribute__((vector_size(width), aligned(1), may_alias));                       \
    target uint64_t cbench_read_##suffix(const void *bytes, size_t size)                                               \
    {                                                                                                                  \
        const vector_##suffix *p = bytes, *end = p + size / width;                                                     \
        vector_##suffix a = {0}, b = {0}, c = {0}, d = {0};                                                            \
        for (; p != end; p += 8) {                                                                                     \
            a |= p[0] | p[4];                                                                                          \
            b |= p[1] | p[5];                                                                                          \
            c |= p[2] | p[6];                                                                                          \
            d |= p[3] | p[7];                                                                                          \
        }                                                                                                              \
        a |= b | c | d;                                                                                                \
        uint64_t folded = 0;                                                                                           \
        for (int i = 0; i < width / 8; i++)                                                                            \
            folded |= a[i];                                                                                            \
        return folded;                                                                                                 \
    }

READ(baseline, , 16)
#if defined(__x86_64__)
READ(avx2, __attribute__((target("avx2"))), 32)
READ(avx512, __attribute__((target("avx512f"))), 64)
#endif

int cbench_pin(void)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == -1)
        return -1;
    int last = CPU_SETSIZE - 1;
    while (last > 0 && !CPU_ISSET(last, &allowed))
        last--;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    return sched_setaffinity(0, sizeof one, &one) == -1 ? -1 : last;
}
