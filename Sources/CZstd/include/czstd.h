// libzstd, loaded when a recording is compressed: its functions for streams that are unpacked.
//
// Their declarations are here, because the library's interface for programs is stable, and its header need not be there.
#ifndef CZSTD_H
#define CZSTD_H

#include <stddef.h>

/// Bytes to be unpacked: `pos` is how many of them were used.
typedef struct {
    const void *_Nullable src;
    size_t size;
    size_t pos;
} ZSTD_inBuffer;

/// Room for unpacked bytes: `pos` is how much of it is filled.
typedef struct {
    void *_Nullable dst;
    size_t size;
    size_t pos;
} ZSTD_outBuffer;

typedef struct ZSTD_DCtx_s ZSTD_DStream;

ZSTD_DStream *_Nullable ZSTD_createDStream(void);
size_t ZSTD_freeDStream(ZSTD_DStream *_Nullable stream);
/// Begins another frame, also after an error.
size_t ZSTD_initDStream(ZSTD_DStream *_Nonnull stream);
/// 0 at the end of a frame, an error, or how many bytes are expected next.
size_t ZSTD_decompressStream(
    ZSTD_DStream *_Nonnull stream, ZSTD_outBuffer *_Nonnull output, ZSTD_inBuffer *_Nonnull input);
unsigned ZSTD_isError(size_t code);
const char *_Nonnull ZSTD_getErrorName(size_t code);

/// The functions in use.
#define CZSTD_FUNCTIONS(FUNCTION)   \
    FUNCTION(ZSTD_createDStream)    \
    FUNCTION(ZSTD_freeDStream)      \
    FUNCTION(ZSTD_initDStream)      \
    FUNCTION(ZSTD_decompressStream) \
    FUNCTION(ZSTD_isError)          \
    FUNCTION(ZSTD_getErrorName)

/// The loaded library: a pointer to each function, under the function's own name.
struct czstd {
#define FUNCTION(name) __typeof__(&name) _Nonnull name;
    CZSTD_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/// Loads the library, the first time on any thread; a null pointer and the reason when it cannot be used.
const struct czstd *_Nullable czstd_load(const char *_Nullable *_Nonnull reason);

#endif
