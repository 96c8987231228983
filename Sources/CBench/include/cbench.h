// What `binnacle bench` needs and Swift cannot say: reading memory with the widest loads, and staying on one processor.
#ifndef CBENCH_H
#define CBENCH_H

#include <stddef.h>
#include <stdint.h>

// Reads `size` bytes, a multiple of 512, and does nothing else. The result is all bytes or-ed together, so that no load can
// be left out. Each form needs the instruction set in its name.
uint64_t cbench_read_baseline(const void *bytes, size_t size);
#if defined(__x86_64__)
uint64_t cbench_read_avx2(const void *bytes, size_t size);
uint64_t cbench_read_avx512(const void *bytes, size_t size);
#endif

/// Keeps the calling thread on the last processor that it may use. Returns the processor's number, or -1 with errno.
int cbench_pin(void);

#endif
