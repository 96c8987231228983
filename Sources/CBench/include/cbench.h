// For `binnacle bench`, because Swift cannot express it: reading memory with the widest loads, and pinning a thread.
#ifndef CBENCH_H
#define CBENCH_H

#include <stddef.h>
#include <stdint.h>

// Read `size` bytes, a multiple of 512. The result is all bytes or-ed together, so that no load can be omitted. Each form
// needs the instruction set in its name.
uint64_t cbench_read_baseline(const void *bytes, size_t size);
#if defined(__x86_64__)
uint64_t cbench_read_avx2(const void *bytes, size_t size);
uint64_t cbench_read_avx512(const void *bytes, size_t size);
#endif

/// Binds the calling thread to the last processor that it may use; returns its number, or -1 and errno.
int cbench_pin(void);

#endif
