import Glibc

/// Reserves the numbers of standard input, output and error.
package enum StandardDescriptors {
    /// Opens those that were closed when this process started; called before any other file is opened.
    ///
    /// Otherwise the next files would get these numbers: a device would be read as standard input, and messages would be written
    /// to a recording or a device's attribute. The replacements refuse reading and writing, like closed descriptors.
    package static func reserve() {
        // This call fails only for a closed descriptor.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
