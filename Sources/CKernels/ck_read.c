// Reading memory and nothing else: what a kernel with the same pattern of access can reach at most.
//
// One form is written in vector types of the compiler, and made once for each instruction set. Every load goes into an
// accumulator of its own, so that nothing waits for the load before it; what was read is folded into the result, so that no
// load can be left out. A load that is not aligned is as fast as one that is, where the address is.
#include "ck_read.h"

#include <string.h>

#define CK_LOAD(vector, address) (*(const vector *)(address))

/// Makes the four patterns of access for vectors of one width, in bytes.
#define CK_READ_FORMS(suffix, target, width)                                                                           \
    typedef uint64_t ck_vector_##suffix __attribute__((vector_size(width), aligned(1), may_alias));                    \
                                                                                                                       \
    target static inline uint64_t ck_fold_##suffix(ck_vector_##suffix lanes)                                           \
    {                                                                                                                  \
        uint64_t words[width / 8], folded = 0;                                                                         \
        memcpy(words, &lanes, width);                                                                                  \
        for (int i = 0; i < width / 8; i++)                                                                            \
            folded |= words[i];                                                                                        \
        return folded;                                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    target uint64_t ck_read_1_##suffix(const void *bytes, size_t count)                                                \
    {                                                                                                                  \
        typedef ck_vector_##suffix vector;                                                                             \
        const char *p = bytes, *end = p + count / (8 * width) * (8 * width);                                           \
        vector a = {0}, b = {0}, c = {0}, d = {0};                                                                     \
        for (; p != end; p += 8 * width) {                                                                             \
            a |= CK_LOAD(vector, p);                                                                                   \
            b |= CK_LOAD(vector, p + width);                                                                           \
            c |= CK_LOAD(vector, p + 2 * width);                                                                       \
            d |= CK_LOAD(vector, p + 3 * width);                                                                       \
            a |= CK_LOAD(vector, p + 4 * width);                                                                       \
            b |= CK_LOAD(vector, p + 5 * width);                                                                       \
            c |= CK_LOAD(vector, p + 6 * width);                                                                       \
            d |= CK_LOAD(vector, p + 7 * width);                                                                       \
        }                                                                                                              \
        return ck_fold_##suffix(a | b | c | d) | ck_tail(p, (const char *)bytes + count);                              \
    }                                                                                                                  \
                                                                                                                       \
    target uint64_t ck_read_3_##suffix(const void *x, const void *y, const void *z, size_t count)                      \
    {                                                                                                                  \
        typedef ck_vector_##suffix vector;                                                                             \
        const char *px = x, *py = y, *pz = z;                                                                          \
        size_t size = count * 4, whole = size / (4 * width) * (4 * width);                                             \
        vector a = {0}, b = {0}, c = {0}, d = {0};                                                                     \
        for (size_t i = 0; i != whole; i += 4 * width) {                                                               \
            a |= CK_LOAD(vector, px + i);                                                                              \
            b |= CK_LOAD(vector, py + i);                                                                              \
            c |= CK_LOAD(vector, pz + i);                                                                              \
            d |= CK_LOAD(vector, px + i + width);                                                                      \
            a |= CK_LOAD(vector, py + i + width);                                                                      \
            b |= CK_LOAD(vector, pz + i + width);                                                                      \
            c |= CK_LOAD(vector, px + i + 2 * width);                                                                  \
            d |= CK_LOAD(vector, py + i + 2 * width);                                                                  \
            a |= CK_LOAD(vector, pz + i + 2 * width);                                                                  \
            b |= CK_LOAD(vector, px + i + 3 * width);                                                                  \
            c |= CK_LOAD(vector, py + i + 3 * width);                                                                  \
            d |= CK_LOAD(vector, pz + i + 3 * width);                                                                  \
        }                                                                                                              \
        return ck_fold_##suffix(a | b | c | d) | ck_tail(px + whole, px + size) | ck_tail(py + whole, py + size) |     \
               ck_tail(pz + whole, pz + size);                                                                         \
    }                                                                                                                  \
                                                                                                                       \
    target uint64_t ck_read_4_##suffix(const void *t, const void *x, const void *y, const void *z, size_t count)       \
    {                                                                                                                  \
        typedef ck_vector_##suffix vector;                                                                             \
        const char *pt = t, *px = x, *py = y, *pz = z;                                                                 \
        size_t size = count * 4, whole = size / (2 * width) * (2 * width);                                             \
        vector a = {0}, b = {0}, c = {0}, d = {0};                                                                     \
        for (size_t i = 0; i != whole; i += 2 * width) {                                                               \
            a |= CK_LOAD(vector, pt + 2 * i);                                                                          \
            b |= CK_LOAD(vector, pt + 2 * i + width);                                                                  \
            c |= CK_LOAD(vector, px + i);                                                                              \
            d |= CK_LOAD(vector, py + i);                                                                              \
            a |= CK_LOAD(vector, pz + i);                                                                              \
            b |= CK_LOAD(vector, pt + 2 * i + 2 * width);                                                              \
            c |= CK_LOAD(vector, pt + 2 * i + 3 * width);                                                              \
            d |= CK_LOAD(vector, px + i + width);                                                                      \
            a |= CK_LOAD(vector, py + i + width);                                                                      \
            b |= CK_LOAD(vector, pz + i + width);                                                                      \
        }                                                                                                              \
        return ck_fold_##suffix(a | b | c | d) | ck_tail(pt + 2 * whole, pt + 2 * size) |                              \
               ck_tail(px + whole, px + size) | ck_tail(py + whole, py + size) | ck_tail(pz + whole, pz + size);       \
    }                                                                                                                  \
                                                                                                                       \
    target uint64_t ck_read_6_##suffix(const void *const *columns, size_t count)                                       \
    {                                                                                                                  \
        typedef ck_vector_##suffix vector;                                                                             \
        const char *p0 = columns[0], *p1 = columns[1], *p2 = columns[2];                                               \
        const char *p3 = columns[3], *p4 = columns[4], *p5 = columns[5];                                               \
        size_t size = count * 4, whole = size / (2 * width) * (2 * width);                                             \
        uint64_t rest = 0;                                                                                             \
        vector a = {0}, b = {0}, c = {0}, d = {0};                                                                     \
        for (size_t i = 0; i != whole; i += 2 * width) {                                                               \
            a |= CK_LOAD(vector, p0 + i);                                                                              \
            b |= CK_LOAD(vector, p1 + i);                                                                              \
            c |= CK_LOAD(vector, p2 + i);                                                                              \
            d |= CK_LOAD(vector, p3 + i);                                                                              \
            a |= CK_LOAD(vector, p4 + i);                                                                              \
            b |= CK_LOAD(vector, p5 + i);                                                                              \
            c |= CK_LOAD(vector, p0 + i + width);                                                                      \
            d |= CK_LOAD(vector, p1 + i + width);                                                                      \
            a |= CK_LOAD(vector, p2 + i + width);                                                                      \
            b |= CK_LOAD(vector, p3 + i + width);                                                                      \
            c |= CK_LOAD(vector, p4 + i + width);                                                                      \
            d |= CK_LOAD(vector, p5 + i + width);                                                                      \
        }                                                                                                              \
        for (int i = 0; i < 6; i++)                                                                                    \
            rest |= ck_tail((const char *)columns[i] + whole, (const char *)columns[i] + size);                        \
        return ck_fold_##suffix(a | b | c | d) | rest;                                                                 \
    }

/// What does not fill a turn, byte by byte.
static uint64_t ck_tail(const char *from, const char *to)
{
    uint64_t folded = 0;
    for (; from != to; from++)
        folded |= (unsigned char)*from;
    return folded;
}

// SSE2 on x86-64 and NEON on arm64: what every machine of the architecture has.
CK_READ_FORMS(baseline, , 16)

#if defined(__x86_64__)
CK_READ_FORMS(avx2, __attribute__((target("avx2"))), 32)
CK_READ_FORMS(avx512, __attribute__((target("avx512f"))), 64)
#endif
