import Glibc
import LinuxSystem
import TestSupport
import Testing
import VirtualDevices

@Suite struct DeviceFileTests {
    @Test(arguments: DeviceFile.allCases) func whatIsMissingIsNamed(file: DeviceFile) {
        for code in [ENOENT, ENODEV, ENXIO] {
            let error = SystemError(code: code, call: "open", path: file.path)
            let text = file.remedy(for: error, path: file.path).joined(separator: "\n")
            #expect(text.hasPrefix(file.path + ": this kernel has no \(file.module)"))
            #expect(text.contains("modprobe \(file.module)"))
            #expect(text.contains(file == .uhid ? "CONFIG_UHID" : "CONFIG_INPUT_UINPUT"))
        }
        for code in [EACCES, EPERM] {
            let error = SystemError(code: code, call: "open", path: file.path)
            let text = file.remedy(for: error, path: file.path).joined(separator: "\n")
            #expect(text.contains("KERNEL==\"\(file.module)\", GROUP=\"input\""))
            #expect(text.contains("run this as root"))
        }
        let other = file.remedy(for: SystemError(code: EMFILE, call: "open"), path: file.path)
        #expect(other == ["\(file.path): open: Too many open files"])
    }

    @Test func nothingButADeviceIsWrittenTo() throws {
        let file = try TemporaryFile("precious")
        #expect(throws: SystemError(code: ENODEV, call: "open", path: file.path)) {
            try DeviceFile.uhid.open(file.path)
        }
        #expect(try file.text() == "precious")
    }
}
