// Users of this module also need the errors and descriptors of POSIX calls.
@_exported public import PosixCalls
