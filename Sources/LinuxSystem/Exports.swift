// Whoever asks the system for more than POSIX has needs its errors and descriptors as well.
@_exported public import PosixCalls
