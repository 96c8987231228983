import Glibc

/// Standard input, output and error: places that no other file may take.
package enum StandardDescriptors {
    /// Opens those that were closed when this process started; called before anything else is opened.
    ///
    /// The next file would get the number otherwise: a device would be read as standard input, and messages would be
    /// written into a recording, or into a device's attribute. What is put there can be used for nothing, so that reading
    /// and writing fail as they do with a closed descriptor.
    package static func reserve() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
