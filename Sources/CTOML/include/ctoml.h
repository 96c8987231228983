// A C interface to toml++: Swift cannot import the C++ header without C++ interoperability in every module above it.
//
//     bytes ──▶ ctoml_parse ──▶ document ──▶ root node ──▶ children ──▶ strings, numbers, positions
//
// A document owns everything that is reached through it. No function throws or keeps its argument's buffer.

#ifndef CTOML_H
#define CTOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A parsed text, or the reason why it could not be parsed.
typedef struct ctoml_document ctoml_document;

/// A value of a document, with its key.
typedef struct ctoml_node ctoml_node;

/// Bytes that belong to a document: UTF-8, not terminated, may contain NUL.
typedef struct ctoml_text {
    const char *_Nullable bytes;
    size_t length;
} ctoml_text;

/// A place in the text; lines and columns (in code points) count from 1.
typedef struct ctoml_position {
    uint32_t line;
    uint32_t column;
} ctoml_position;

/// The type of a value.
typedef enum ctoml_kind {
    ctoml_kind_table,
    ctoml_kind_array,
    ctoml_kind_string,
    ctoml_kind_integer,
    ctoml_kind_float,
    ctoml_kind_boolean,
    /// A date, a time, or both.
    ctoml_kind_other
} ctoml_kind;

/// Parses a text; the result is released with ctoml_free. NULL only when out of memory.
///
/// Values nested deeper than 32 levels, and keys of more than 16 dotted parts, are errors: toml++ builds and frees
/// its tree recursively, and would overflow the stack with a hostile text.
ctoml_document *_Nullable ctoml_parse(const char *_Nullable bytes, size_t length);

/// Frees a document and everything reached through it.
void ctoml_free(ctoml_document *_Nullable document);

/// The top-level table; NULL when the text could not be parsed.
const ctoml_node *_Nullable ctoml_root(const ctoml_document *_Nonnull document);

/// Why the text could not be parsed; empty when it could.
ctoml_text ctoml_error_message(const ctoml_document *_Nonnull document);

/// Where the text could not be parsed.
ctoml_position ctoml_error_position(const ctoml_document *_Nonnull document);

/// The type of the value.
ctoml_kind ctoml_node_kind(const ctoml_node *_Nonnull node);

/// Where the value begins; for a table with a header, where its header begins.
ctoml_position ctoml_node_position(const ctoml_node *_Nonnull node);

/// The value's key; empty in arrays and at the root.
ctoml_text ctoml_node_key(const ctoml_node *_Nonnull node);

/// Where the key occurs first.
ctoml_position ctoml_node_key_position(const ctoml_node *_Nonnull node);

/// The number of children of a table or an array; 0 for other types.
size_t ctoml_node_count(const ctoml_node *_Nonnull node);

/// A child of a table or an array, in the order of the text; NULL for an index beyond the count.
const ctoml_node *_Nullable ctoml_node_child(const ctoml_node *_Nonnull node, size_t index);

/// The string; empty for other types.
ctoml_text ctoml_node_string(const ctoml_node *_Nonnull node);

/// The integer; 0 for other types.
int64_t ctoml_node_integer(const ctoml_node *_Nonnull node);

/// The floating-point number; 0 for other types.
double ctoml_node_float(const ctoml_node *_Nonnull node);

/// The boolean; false for other types.
bool ctoml_node_boolean(const ctoml_node *_Nonnull node);

#ifdef __cplusplus
}
#endif

#endif
