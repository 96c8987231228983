// Files mapped into memory that may shrink while they are read.
//
// Reading a mapped page that the file has lost raises SIGBUS, which ends the process. The handler replaces each such page by 0xFF
// bytes, which are NaN as floats and cannot be mistaken for measurements, and records it; a reader checks the record before it
// uses the data.

#ifndef CMAPPEDFILE_H
#define CMAPPEDFILE_H

#include <stdbool.h>
#include <stddef.h>

/// A file in memory.
struct cmappedfile {
    /// The first byte, at the beginning of a page.
    const void *bytes;
    /// The number of bytes.
    size_t count;
    /// The handler's entry for it.
    int place;
};

/// Maps the first bytes of a file, at least one, for sequential reading.
///
/// Returns 0, or an error number. The descriptor may be closed afterwards. May be called on any thread.
int cmappedfile_map(int descriptor, size_t count, struct cmappedfile *file);

/// Whether a page was read that the file had lost.
bool cmappedfile_is_torn(const struct cmappedfile *file);

/// Releases the pages entirely within a range; the bytes stay readable.
void cmappedfile_release(const struct cmappedfile *file, size_t start, size_t end);

/// Removes the mapping, which must not be read afterwards.
void cmappedfile_unmap(struct cmappedfile *file);

#endif
