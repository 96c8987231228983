// libarchive, loaded when a recording is a zip archive: its functions that list the entries and read one.
//
// Their declarations are here, because the library's interface for programs is stable, and its header need not be there.
#ifndef CARCHIVE_H
#define CARCHIVE_H

#include <stdint.h>
#include <sys/types.h>

struct archive;
struct archive_entry;

/// The results of archive_read_next_header; less than a warning is a failure.
enum { CARCHIVE_EOF = 1, CARCHIVE_WARN = -20 };

// The functions in use. Seekable: read by the directory at the archive's end, as unzip does. archive_read_data returns 0 at an
// entry's end, and less after an error; a name is a null pointer when it is no text.
#define CARCHIVE_FUNCTIONS(FUNCTION) \
    FUNCTION(struct archive *_Nullable, archive_read_new, (void)) \
    FUNCTION(int, archive_read_free, (struct archive *_Nonnull)) \
    FUNCTION(int, archive_read_support_format_zip_seekable, (struct archive *_Nonnull)) \
    FUNCTION(int, archive_read_open_fd, (struct archive *_Nonnull, int descriptor, size_t block_size)) \
    FUNCTION(int, archive_read_next_header, (struct archive *_Nonnull, struct archive_entry *_Nullable *_Nonnull)) \
    FUNCTION(ssize_t, archive_read_data, (struct archive *_Nonnull, void *_Nonnull, size_t)) \
    FUNCTION(const char *_Nullable, archive_error_string, (struct archive *_Nonnull)) \
    FUNCTION(const char *_Nullable, archive_format_name, (struct archive *_Nonnull)) \
    FUNCTION(const char *_Nullable, archive_entry_pathname, (struct archive_entry *_Nonnull)) \
    FUNCTION(const char *_Nullable, archive_entry_pathname_utf8, (struct archive_entry *_Nonnull)) \
    FUNCTION(mode_t, archive_entry_filetype, (struct archive_entry *_Nonnull)) \
    FUNCTION(int64_t, archive_entry_size, (struct archive_entry *_Nonnull)) \
    FUNCTION(int, archive_entry_is_encrypted, (struct archive_entry *_Nonnull))

/// The loaded library: a pointer to each function, under the function's own name.
struct carchive {
#define FUNCTION(result, name, parameters) result(*_Nonnull name) parameters;
    CARCHIVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/// Loads the library, the first time on any thread; a null pointer and the reason when it cannot be used.
const struct carchive *_Nullable carchive_load(const char *_Nullable *_Nonnull reason);

#endif
