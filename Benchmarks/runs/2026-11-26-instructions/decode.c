// Decodes scans from DRAM with the kernels of two versions, in turns with reading the same bytes, and prints the least time of each.
//
//   for version in BEFORE NOW; do git show $version:Sources/CKernels/ck_scan.c | sed "s/ck_decode_scans16/$name/" >$name.c; done
//   clang -O2 -ISources/CKernels/include -ISources/CKernels decode.c before.c now.c && ./a.out
//
// where $name is `before` and `now`; on a processor with AVX-512.
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 8 << 20, PIECE = 4096, PASSES = 25 };
typedef size_t decode(const void *, size_t, size_t, const uint8_t *, int, const double *, int64_t *, float *, float *, float *);
decode before_avx512, now_avx512, before_avx2, now_avx2;

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

// Four streams, the fastest of several ways to read.
__attribute__((target("avx512f"))) static long read_all(const char *bytes, size_t size)
{
    __m512i sums[4] = {0};
    for (size_t i = 0; i < size / 4; i += 64)
        for (int stream = 0; stream < 4; stream++)
            sums[stream] = _mm512_or_si512(sums[stream], _mm512_loadu_si512(bytes + stream * (size / 4) + i));
    return _mm512_reduce_or_epi64(_mm512_or_si512(_mm512_or_si512(sums[0], sums[1]), _mm512_or_si512(sums[2], sums[3])));
}

int main(void)
{
    char *scans = aligned_alloc(4096, 16 * (size_t)COUNT);
    int64_t *times = aligned_alloc(4096, 8 * PIECE);
    float *columns[3];
    for (int axis = 0; axis < 3; axis++) columns[axis] = aligned_alloc(4096, 4 * PIECE);
    for (size_t i = 0; i < 16 * (size_t)COUNT; i++) scans[i] = (char)(7 * i);
    const uint8_t order[16] = {0, 1, 2, 3, 4, 5, 0x80, 0x80, 8, 9, 10, 11, 12, 13, 0x80, 0x80};
    const double rows[12] = {0.01, 0, 0, 0, 0, 0.01, 0, 0, 0, 0, 0.01, 0};
    decode *forms[] = {before_avx512, now_avx512, before_avx2, now_avx2, 0};
    const char *names[] = {"AVX-512, before", "AVX-512, now", "AVX2, before", "AVX2, now", "reading"};
    double best[5] = {1, 1, 1, 1, 1};
    volatile long sink = 0;
    (void)sink;
    for (int pass = 0; pass < PASSES; pass++)
        for (int form = 0; form < 5; form++) {
            double start = seconds();
            if (forms[form])
                for (size_t i = 0; i < COUNT; i += PIECE)
                    forms[form](scans + 16 * i, PIECE, 16, order, 0, rows, times, columns[0], columns[1], columns[2]);
            else
                sink = read_all(scans, 16 * (size_t)COUNT);
            double took = seconds() - start;
            if (took < best[form]) best[form] = took;
        }
    for (int form = 0; form < 5; form++)
        printf("%-16s %.2f ns a scan, %3.0f %% of reading\n", names[form], best[form] * 1e9 / COUNT, 100 * best[4] / best[form]);
}
