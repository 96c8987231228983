// Reading memory and nothing else, in the patterns of access that kernels have. The result is all bytes or-ed together, and
// means nothing. Sources/Kernels chooses among the forms; nobody else calls them.
#ifndef CK_READ_H
#define CK_READ_H

#include <stddef.h>
#include <stdint.h>

// ck_read_1_…: one stream of `count` bytes. ck_read_3_…: three columns of `count` 4-byte values. ck_read_4_…: a column of
// stamps of 8 bytes and three such columns. ck_read_6_…: six such columns.
#define CK_READ_DECLARATIONS(suffix)                                                                                   \
    uint64_t ck_read_1_##suffix(const void *bytes, size_t count);                                                      \
    uint64_t ck_read_3_##suffix(const void *x, const void *y, const void *z, size_t count);                            \
    uint64_t ck_read_4_##suffix(const void *t, const void *x, const void *y, const void *z, size_t count);             \
    uint64_t ck_read_6_##suffix(const void *const *columns, size_t count);

CK_READ_DECLARATIONS(baseline)
#if defined(__x86_64__)
CK_READ_DECLARATIONS(avx2)
CK_READ_DECLARATIONS(avx512)
#endif

#endif
