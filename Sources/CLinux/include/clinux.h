// Linux calls that Swift's Glibc does not import.
#ifndef CLINUX_H
#define CLINUX_H

#include <linux/input.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/types.h>

/// The token of a descriptor that is ready, and whether its other end is closed.
struct clinux_ready {
    uint64_t token;
    int is_hung_up;
};

/// epoll_create1(2), closed on exec.
static inline int clinux_epoll_create(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

/// Registers a descriptor for reading; -1 and errno when the kernel refuses it.
static inline int clinux_epoll_add(int epoll, int descriptor, uint64_t token)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = token}};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

/// Changes the events of a registered descriptor; a hang-up is always reported.
static inline int clinux_epoll_change(int epoll, int descriptor, uint64_t token, int reads, int writes)
{
    struct epoll_event event = {.events = (reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0), .data = {.u64 = token}};
    return epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
}

/// Removes a descriptor.
static inline int clinux_epoll_remove(int epoll, int descriptor)
{
    struct epoll_event event = {0};
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event);
}

/// Waits for at most 16 ready descriptors; a time-out of -1 is infinite.
static inline int clinux_epoll_wait(int epoll, struct clinux_ready *ready, int timeout_ms)
{
    struct epoll_event events[16];
    int count = epoll_wait(epoll, events, 16, timeout_ms);
    for (int i = 0; i < count; i++) {
        ready[i].token = events[i].data.u64;
        ready[i].is_hung_up = (events[i].events & (EPOLLHUP | EPOLLERR)) != 0;
    }
    return count;
}

/// eventfd(2), closed on exec, never blocking.
static inline int clinux_eventfd(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

/// A descriptor for an additional IIO buffer of a device; -1 and errno when there is none with this number.
///
/// IIO_BUFFER_GET_FD_IOCTL of linux/iio/buffer.h, which is not in every distribution's headers: _IOWR('i', 0x91, int).
static inline int clinux_iio_buffer(int device, int number)
{
    int value = number;
    return ioctl(device, _IOWR('i', 0x91, int), &value) == -1 ? -1 : value;
}

/// The descriptor of an IIO device's events; -1 and errno when it has none (ENODEV) or another program has it (EBUSY).
///
/// IIO_GET_EVENT_FD_IOCTL of linux/iio/events.h, which is not in every distribution's headers: _IOR('i', 0x90, int).
static inline int clinux_iio_events(int device)
{
    int value = -1;
    return ioctl(device, _IOR('i', 0x90, int), &value) == -1 ? -1 : value;
}

/// Sets the clock of an event node's stamps; -1 and errno when the kernel refuses it.
static inline int clinux_evdev_clock(int device, int clock)
{
    return ioctl(device, EVIOCSCLOCKID, &clock);
}

/// ppoll(2): waits until one of at most eight descriptors is readable or hung up; negative ones are ignored.
///
/// Returns a bit for each that is ready, the lowest for the first; -1 after a signal. A negative timeout is infinite.
int clinux_wait(const int *descriptors, int count, int64_t timeout_ns);

/// pipe2(2): both ends closed on exec, neither a standard descriptor; -1 and errno on failure.
int clinux_pipe(int ends[2]);

/// pidfd_open(2): a descriptor that is readable once the process has ended, closed on exec.
int clinux_pidfd_open(pid_t process);

/// posix_spawn(3): starts a program; returns an error number, or 0.
///
/// With an output the program is isolated: it leads a session and a process group of its own without a terminal, starts in
/// "/", and has the output as its standard output and standard error. With an output of -1 it belongs to this session: it is
/// searched in PATH, and inherits the directory, the output and the terminal. In both cases it has the input as its
/// standard input and no descriptor beyond the three; all signals have their default actions, and none is blocked.
int clinux_spawn(pid_t *process, const char *program, char *const arguments[], char *const environment[], int input,
                 int output);

/// This process' environment, each variable as NAME=value, with NULL after the last.
char *const *clinux_environment(void);

/// memfd_create(2): a file without a path, closed on exec; -1 and errno on failure.
int clinux_memory_file(const char *name);

/// accept4(2): closed on exec, never blocking.
int clinux_accept(int listener);

/// SO_PEERCRED: the process at the other end; -1 and errno when it is unknown.
int clinux_peer(int socket, uid_t *user, gid_t *group, pid_t *process);

/// SO_PEERGROUPS: the supplementary groups of that process; their number, or -1 and errno. ERANGE: there are more.
int clinux_peer_groups(int socket, gid_t *groups, int capacity);

/// sched_getaffinity(2): the number of processors that the calling thread may use; -1 and errno when it is unknown.
int clinux_processors(void);

/// Resets an inherited disposition of SIGCHLD with which the kernel discards the status of ended children.
void clinux_keep_ends(void);

/// malloc_trim(3): returns freed memory to the kernel.
void clinux_trim_heap(void);

/// madvise(2), MADV_DONTNEED: unmaps the pages of code and constants of the program and its libraries.
///
/// They are unmodified pages of files, loaded from the page cache when they are used again.
void clinux_unmap_code(void);

#endif
