// Functions of more than a line, or with declarations that glibc has only with _GNU_SOURCE; the others are in the header.
#define _GNU_SOURCE
#include "clinux.h"

#include <stdint.h>
#include <sys/random.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int clinux_wait(const int *descriptors, int count, int64_t timeout_ns)
{
    struct pollfd waiting[8];
    struct timespec timeout = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    int ready = 0;
    if (count > 8)
        count = 8;
    for (int i = 0; i < count; i++)
        waiting[i] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
    if (ppoll(waiting, (nfds_t)count, timeout_ns < 0 ? NULL : &timeout, NULL) == -1)
        return -1;
    for (int i = 0; i < count; i++)
        ready |= (waiting[i].revents != 0) << i;
    return ready;
}

int clinux_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) == -1)
        return -1;
    for (int i = 0; i < 2; i++) {
        if (ends[i] > STDERR_FILENO)
            continue;
        // A standard descriptor was closed when this process started. An end of the pipe must not take its number, which a
        // started program needs.
        int higher = fcntl(ends[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        int code = errno;
        close(ends[i]);
        if (higher == -1) {
            close(ends[!i]);
            errno = code;
            return -1;
        }
        ends[i] = higher;
    }
    return 0;
}

int clinux_pidfd_open(pid_t process)
{
    // glibc has a function for it since 2.36; the kernel has the call since 5.3.
    return (int)syscall(SYS_pidfd_open, process, 0);
}

int clinux_spawn(pid_t *process, const char *program, char *const arguments[], char *const environment[], int input,
                 int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t every, none;
    sigfillset(&every);
    sigemptyset(&none);
    const int is_apart = output != -1;
    const short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (is_apart ? POSIX_SPAWN_SETSID : 0);
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    if ((code = posix_spawnattr_init(&attributes)) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    // In sequence, up to the first failure.
    if ((code = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)) == 0
        && (!is_apart
            || ((code = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)) == 0
                && (code = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)) == 0
                && (code = posix_spawn_file_actions_addchdir_np(&actions, "/")) == 0))
        && (code = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)) == 0
        && (code = posix_spawnattr_setsigdefault(&attributes, &every)) == 0
        && (code = posix_spawnattr_setsigmask(&attributes, &none)) == 0
        && (code = posix_spawnattr_setflags(&attributes, flags)) == 0)
        code = (is_apart ? posix_spawn : posix_spawnp)(process, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

char *const *clinux_environment(void)
{
    return environ;
}

int clinux_memory_file(const char *name)
{
    return memfd_create(name, MFD_CLOEXEC);
}

int clinux_accept(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int clinux_peer(int socket, uid_t *user, gid_t *group, pid_t *process)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == -1)
        return -1;
    *user = peer.uid;
    *group = peer.gid;
    *process = peer.pid;
    return 0;
}

int clinux_peer_groups(int socket, gid_t *groups, int capacity)
{
    // SO_PEERGROUPS, which glibc's headers may lack.
    socklen_t length = (socklen_t)(capacity * (int)sizeof *groups);
    if (getsockopt(socket, SOL_SOCKET, 59, groups, &length) == -1)
        return -1;
    return (int)(length / sizeof *groups);
}

int clinux_processors(void)
{
    // The kernel refuses a set that is smaller than its own with EINVAL.
    for (int most = CPU_SETSIZE; most <= 1 << 20; most *= 2) {
        cpu_set_t *set = CPU_ALLOC(most);
        size_t size = CPU_ALLOC_SIZE(most);
        if (set == NULL)
            return -1;
        int result = sched_getaffinity(0, size, set);
        int count = result == 0 ? CPU_COUNT_S(size, set) : -1;
        CPU_FREE(set);
        if (result == 0 || errno != EINVAL)
            return count;
    }
    return -1;
}

void clinux_keep_ends(void)
{
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) == -1)
        return;
    // A handler is kept, but without the flag that has the effect of SIG_IGN.
    if (action.sa_handler == SIG_IGN)
        action.sa_handler = SIG_DFL;
    else if (!(action.sa_flags & SA_NOCLDWAIT))
        return;
    action.sa_flags &= ~SA_NOCLDWAIT;
    sigaction(SIGCHLD, &action, NULL);
}

// glibc has this only since 2.36, libstdc++ needs it, and the program also has to start with older versions. After the start of
// the machine the kernel's generator cannot fail here.
__attribute__((visibility("hidden"))) uint32_t arc4random(void)
{
    uint32_t number = 0;
    while (getrandom(&number, sizeof number, 0) != sizeof number) {
    }
    return number;
}

void clinux_trim_heap(void)
{
    malloc_trim(0);
}

static int clinux_unmap_object(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    (void)context;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        // Segments to which the dynamic linker has written are writable, or were before they were protected.
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W)
            continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        // This only saves memory; it fails for the kernel's own object.
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void clinux_unmap_code(void)
{
    dl_iterate_phdr(clinux_unmap_object, NULL);
}
