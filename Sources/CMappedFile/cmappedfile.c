#define _GNU_SOURCE
#include "cmappedfile.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// A mapping known to the signal handler. An end of 0 means no mapping, a start of 0 a free entry.
struct place {
    atomic_uintptr_t start;
    atomic_uintptr_t end;
    atomic_bool is_torn;
};

enum { place_count = 1024 };

static struct place places[place_count];
static struct sigaction previous;
static uintptr_t page_size;
/// A file in memory of one page of 0xFF bytes.
static int filler = -1;
static int failure;

/// Called on the reading thread; async-signal-safe.
static void handle(int number, siginfo_t *information, void *context) {
    (void)number;
    (void)context;
    int error = errno;
    uintptr_t address = (uintptr_t)information->si_addr;
    for (int index = 0; index < place_count; index++) {
        struct place *place = &places[index];
        uintptr_t end = atomic_load(&place->end);
        uintptr_t start = atomic_load(&place->start);
        // Another thread may be reusing the entry, so start and end may belong to different mappings.
        if (address < start || address >= end || atomic_load(&place->end) != end) continue;
        atomic_store(&place->is_torn, true);
        void *page = (void *)(address & ~(page_size - 1));
        // Replaces the page atomically: other threads never see the address unmapped.
        if (mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_FIXED, filler, 0) != MAP_FAILED) {
            errno = error;
            return;
        }
        break;
    }
    // Not a mapping of this module: the read is repeated with the previous handler.
    sigaction(SIGBUS, &previous, NULL);
    errno = error;
}

static void prepare(void) {
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    filler = memfd_create("binnacle-filler", MFD_CLOEXEC);
    if (filler < 0 || ftruncate(filler, (off_t)page_size) != 0) {
        failure = errno;
        return;
    }
    void *page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, filler, 0);
    if (page == MAP_FAILED) {
        failure = errno;
        return;
    }
    memset(page, 0xFF, page_size);
    munmap(page, page_size);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, &previous) != 0) failure = errno;
}

/// Reserves a free entry; -1 when there is none.
static int take_place(uintptr_t start) {
    for (int index = 0; index < place_count; index++) {
        uintptr_t none = 0;
        if (atomic_compare_exchange_strong(&places[index].start, &none, start)) return index;
    }
    return -1;
}

int cmappedfile_map(int descriptor, size_t count, struct cmappedfile *file) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    if (failure != 0) return failure;
    void *bytes = mmap(NULL, count, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED) return errno;
    int index = take_place((uintptr_t)bytes);
    if (index < 0) {
        munmap(bytes, count);
        return EMFILE;
    }
    atomic_store(&places[index].is_torn, false);
    atomic_store(&places[index].end, ((uintptr_t)bytes + count + page_size - 1) & ~(page_size - 1));
    // Optional: without it the kernel reads ahead less.
    madvise(bytes, count, MADV_SEQUENTIAL);
    file->bytes = bytes;
    file->count = count;
    file->place = index;
    return 0;
}

bool cmappedfile_is_torn(const struct cmappedfile *file) {
    return atomic_load(&places[file->place].is_torn);
}

void cmappedfile_release(const struct cmappedfile *file, size_t start, size_t end) {
    start = (start + page_size - 1) & ~(page_size - 1);
    end &= ~(page_size - 1);
    if (start >= end || end > file->count) return;
    // A replaced page becomes the lost page again, which the handler replaces at the next read.
    madvise((char *)file->bytes + start, end - start, MADV_DONTNEED);
}

void cmappedfile_unmap(struct cmappedfile *file) {
    atomic_store(&places[file->place].end, 0);
    munmap((void *)file->bytes, file->count);
    atomic_store(&places[file->place].start, 0);
    file->bytes = NULL;
    file->count = 0;
}
