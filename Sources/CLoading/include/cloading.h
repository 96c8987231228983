// Libraries that are loaded when they are used, and their functions: what CSQLite, CMosquitto, CUdev and CEvdev have in
// common. Each of them has its own table, lock and names.
#ifndef CLOADING_H
#define CLOADING_H

#include <stddef.h>

/// Loads a library; a null pointer, and the loader's words in `problem`, which takes `size` bytes, when that fails.
void *_Nullable cloading_open(const char *_Nonnull library, char *_Nonnull problem, size_t size);

/// A function of a loaded library; a null pointer, and a sentence in `problem`, when it has none of that name.
///
/// What is found is the function of that name, whatever pointer it is given as.
void *_Nullable cloading_find(
    void *_Nonnull handle, const char *_Nonnull library, const char *_Nonnull function, char *_Nonnull problem, size_t size);

#endif
