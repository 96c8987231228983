// Files mapped into memory that may shrink while they are read.
//
// Reading a mapped page that the file has no longer raises SIGBUS, which ends the process. The handler here puts a page of
// 0xFF bytes in the place of each such page and takes note of it: 0xFF is NaN in every float, so nothing can be mistaken
// for a measurement, and whoever reads looks at the note before anything is believed.

#ifndef CMAPPEDFILE_H
#define CMAPPEDFILE_H

#include <stdbool.h>
#include <stddef.h>

/// A file in memory.
struct cmappedfile {
    /// The first byte, at the beginning of a page.
    const void *bytes;
    /// How many bytes there are.
    size_t count;
    /// Where the handler keeps note of it.
    int place;
};

/// Maps the first bytes of a file, at least one, to be read from front to back.
///
/// Returns 0, or the number of the error. The descriptor may be closed afterwards. May be called on any thread.
int cmappedfile_map(int descriptor, size_t count, struct cmappedfile *file);

/// Whether a page was read that the file had no longer.
bool cmappedfile_is_torn(const struct cmappedfile *file);

/// Lets go of the pages that lie wholly within a range; the bytes stay readable.
void cmappedfile_release(const struct cmappedfile *file, size_t start, size_t end);

/// Ends the mapping; nothing may read it any more.
void cmappedfile_unmap(struct cmappedfile *file);

#endif
