// Libraries that are loaded when they are used, and their functions: what CSQLite, CMosquitto, CCurl, CSDBus, CZstd, CArchive,
// CUdev and CEvdev have in common. Each of them has its own table, lock and names.
#ifndef CLOADING_H
#define CLOADING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/// A library, and the table of its functions in use.
struct cloading {
    const char *_Nonnull library;
    /// The functions' names, and the table that gets a pointer to each, in the same order.
    const char *_Nonnull const *_Nonnull names;
    void *_Nonnull functions;
    size_t count;
    /// Called once all functions are found, with what dlsym(3) takes; it may write a problem, and is then called again by the next load.
    void (*_Nullable begin)(void *_Nonnull handle);
    pthread_mutex_t lock;
    bool is_loaded;
    char problem[256];
};

/// A library that is not loaded yet, with an array of names and a table.
#define CLOADING(library_name, names_array, table, begin_function) \
    { \
        .library = library_name, .names = names_array, .functions = &table, \
        .count = sizeof names_array / sizeof *names_array, .begin = begin_function, .lock = PTHREAD_MUTEX_INITIALIZER \
    }

/// Loads the library, the first time on any thread; the table, or a null pointer and the reason when it cannot be used, which stays
/// until the thread's next call. A failure is not kept: the next call tries again.
const void *_Nullable cloading_load(struct cloading *_Nonnull library, const char *_Nullable *_Nonnull reason);

// For a list of functions that are defined under the library's own names, as results, names, parameters and arguments.
#define CLOADING_NAME(result, name, parameters, arguments) #name,
#define CLOADING_MEMBER(result, name, parameters, arguments) result(*name) parameters;
#define CLOADING_CALL(result, name, parameters, arguments) \
    result name parameters \
    { \
        return functions.name arguments; \
    }

/// Loads a library; a null pointer, and the loader's words in `problem`, which takes `size` bytes, when that fails.
void *_Nullable cloading_open(const char *_Nonnull library, char *_Nonnull problem, size_t size);

/// A function of a loaded library; a null pointer, and a sentence in `problem`, when it has none of that name.
///
/// What is found is the function of that name, whatever pointer it is given as.
void *_Nullable cloading_find(
    void *_Nonnull handle, const char *_Nonnull library, const char *_Nonnull function, char *_Nonnull problem, size_t size);

#endif
