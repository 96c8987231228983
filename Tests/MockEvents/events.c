// Preloaded into the program under test: the descriptor of a device's events, which only the kernel of the caller can make.
//
// IIO_GET_EVENT_FD_IOCTL on a node gives the FIFO with ".events" behind its name, with both ends open as the kernel's never
// hangs up. Without that FIFO there are no events (ENODEV); with a file ".held" beside it another program has them (EBUSY).
// Every other request goes on to umockdev and the kernel.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int event_descriptor(int device, int *result) {
    char link[64], node[512], path[600];
    snprintf(link, sizeof link, "/proc/self/fd/%d", device);
    ssize_t count = readlink(link, node, sizeof node - 1);
    if (count < 0) return -1;
    node[count] = '\0';
    snprintf(path, sizeof path, "%s.held", node);
    if (access(path, F_OK) == 0) {
        errno = EBUSY;
        return -1;
    }
    snprintf(path, sizeof path, "%s.events", node);
    int events = open(path, O_RDWR | O_CLOEXEC);
    if (events < 0) {
        errno = ENODEV;
        return -1;
    }
    *result = events;
    return 0;
}

int ioctl(int descriptor, unsigned long request, ...) {
    static int (*next)(int, unsigned long, ...);
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (request == _IOR('i', 0x90, int)) return event_descriptor(descriptor, argument);
    if (next == NULL) next = dlsym(RTLD_NEXT, "ioctl");
    return next(descriptor, request, argument);
}
