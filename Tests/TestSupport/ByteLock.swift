import Glibc
import Testing

/// Sets, or with F_UNLCK releases, a lock of an open file on the byte that the daemons lock of an event store.
package func lockStoreByte(of descriptor: Int32, _ type: Int32) throws {
    var byte = flock()
    byte.l_type = Int16(type)
    byte.l_whence = Int16(SEEK_SET)
    byte.l_start = 1 << 40
    byte.l_len = 1
    let setLock: Int32 = 37  // F_OFD_SETLK
    let result = fcntl(descriptor, setLock, &byte)
    try #require(result == 0)
}
