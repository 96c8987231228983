// Calls that only Linux has and that Swift's Glibc does not show.
#ifndef CLINUX_H
#define CLINUX_H

#include <linux/input.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/types.h>

/// The number of a descriptor that is ready, and whether its other end is gone.
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

/// Changes what is waited for with a registered descriptor; that its other end is gone is always told.
static inline int clinux_epoll_change(int epoll, int descriptor, uint64_t token, int reads, int writes)
{
    struct epoll_event event = {.events = (reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0), .data = {.u64 = token}};
    return epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
}

/// Takes a descriptor out.
static inline int clinux_epoll_remove(int epoll, int descriptor)
{
    struct epoll_event event = {0};
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event);
}

/// Waits for at most 16 ready descriptors; a time-out of -1 waits for ever.
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

/// A descriptor for one of a device's further IIO buffers; -1 and errno when it has none of that number.
///
/// IIO_BUFFER_GET_FD_IOCTL of linux/iio/buffer.h, which is not in every distribution's headers: _IOWR('i', 0x91, int).
static inline int clinux_iio_buffer(int device, int number)
{
    int value = number;
    return ioctl(device, _IOWR('i', 0x91, int), &value) == -1 ? -1 : value;
}

/// Has an event node's stamps be of another clock; -1 and errno when the kernel refuses it.
static inline int clinux_evdev_clock(int device, int clock)
{
    return ioctl(device, EVIOCSCLOCKID, &clock);
}

/// ppoll(2): waits until one of at most eight descriptors can be read, or has ended; those below 0 are passed over.
///
/// A bit for each that is ready, the lowest for the first; -1 when a signal came. A time-out below 0 waits for ever.
int clinux_wait(const int *descriptors, int count, int64_t timeout_ns);

/// pipe2(2): both ends closed on exec, neither a standard descriptor; -1 and errno when there is none.
int clinux_pipe(int ends[2]);

/// pidfd_open(2): a descriptor that is readable once a process has ended, closed on exec.
int clinux_pidfd_open(pid_t process);

/// posix_spawn(3) of a program that inherits nothing but what is given here; it returns an error number, or 0.
///
/// The program is the leader of a session and of a process group of its own, without a terminal. All signals have their
/// default actions, and none is blocked. It starts in "/", has the input as its standard input, the output as its
/// standard output and standard error, and no other descriptor.
int clinux_spawn(pid_t *process, const char *program, char *const arguments[], char *const environment[], int input,
                 int output);

/// posix_spawnp(3) of a program that takes part in our session: our environment, directory, output and terminal are its
/// own, too; it returns an error number, or 0.
///
/// It has the input as its standard input, and no descriptor beyond the three. All signals have their default actions, and
/// none is blocked.
int clinux_spawn_beside(pid_t *process, const char *program, char *const arguments[], char *const environment[],
                        int input);

/// Our own environment, each variable as NAME=value, with NULL behind the last.
char *const *clinux_environment(void);

/// memfd_create(2): a file that is in no folder, closed on exec; -1 and errno when there is none.
int clinux_memory_file(const char *name);

/// accept4(2): closed on exec, never blocking.
int clinux_accept(int listener);

/// SO_PEERCRED: who connected; -1 and errno when the kernel does not say.
int clinux_peer(int socket, uid_t *user, gid_t *group, pid_t *process);

/// SO_PEERGROUPS: the further groups of who connected; their number, or -1 and errno. ERANGE: there are more.
int clinux_peer_groups(int socket, gid_t *groups, int capacity);

/// Has the kernel keep the ends of our children until we ask, if whoever started us had them thrown away.
void clinux_keep_ends(void);

#endif
