"""Stops one thread of a process, and no other, until the process ends: freeze.py THREAD. No signal does that."""

import ctypes
import os
import sys

PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
ALL_THREADS = 0x40000000  # __WALL

thread = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
    if libc.ptrace(request, thread, None, None) != 0:
        sys.exit(f"ptrace({request:#x}): {os.strerror(ctypes.get_errno())}")
# The thread stays stopped, because its tracer, this program, does not continue it. The tracer waits for its end: until
# then the kernel does not report it to the parent.
while True:
    _, status = os.waitpid(thread, ALL_THREADS)
    if os.WIFEXITED(status) or os.WIFSIGNALED(status):
        break
