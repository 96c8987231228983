// Repairs umockdev's preload, which masks signals while it holds its lock: it keeps the mask from before in a variable of all threads,
// and restores it after it has released the lock. A thread can get the mask of another one by that, and where that one has all
// signals masked, as worker threads have, the program under test does not see the signal that is to end it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

/// The mask that this thread had before the lock.
static __thread sigset_t before;

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    static int (*next)(int, const sigset_t *, sigset_t *);
    if (next == NULL) next = dlsym(RTLD_NEXT, "pthread_sigmask");
    Dl_info caller;
    int is_umockdev = dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname != NULL
        && strstr(caller.dli_fname, "libumockdev-preload") != NULL;
    if (!is_umockdev || how != SIG_SETMASK) return next(how, set, old);
    if (old == NULL) return next(how, &before, NULL);
    int result = next(how, set, &before);
    *old = before;
    return result;
}
