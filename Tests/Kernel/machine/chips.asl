// Chips for the drivers of an unmodified kernel: the eight memories on the SMBus of QEMU's q35 are register files of 256 bytes,
// and each device has an edge of an interrupt line that an unused serial port can raise.
//
// The lines of bma400 and lsm6dso may wake the machine. A driver with ids of its own takes _HID, every other one PRP0001 with its `compatible`.
DefinitionBlock ("", "SSDT", 2, "BINN", "CHIPS", 1)
{
    External (\_SB.PCI0, DeviceObj)
    External (\_SB.PCI0.SFB, DeviceObj)
    Scope (\_SB.PCI0.SFB)
    {
        Device (KXCJ)
        {
            Name (_HID, "KXCJ9000")
            Name (_CRS, ResourceTemplate () {
                I2cSerialBusV2 (0x50, ControllerInitiated, 400000, AddressingMode7Bit, "\\_SB.PCI0.SFB", 0, ResourceConsumer,,)
                Interrupt (ResourceConsumer, Edge, ActiveHigh, Exclusive) {3} })
        }
        // Its driver wants an interrupt by name, which no x86 kernel finds: it has none.
        Device (ADXL)
        {
            Name (_HID, "ADS0345")
            Name (_CRS, ResourceTemplate () {
                I2cSerialBusV2 (0x51, ControllerInitiated, 400000, AddressingMode7Bit, "\\_SB.PCI0.SFB", 0, ResourceConsumer,,) })
        }
        Device (BMA4)
        {
            Name (_HID, "PRP0001")
            Name (_UID, 2)
            Name (_CRS, ResourceTemplate () {
                I2cSerialBusV2 (0x52, ControllerInitiated, 400000, AddressingMode7Bit, "\\_SB.PCI0.SFB", 0, ResourceConsumer,,)
                Interrupt (ResourceConsumer, Edge, ActiveHigh, ExclusiveAndWake) {7} })
            Name (_DSD, Package () { ToUUID ("daffd814-6eba-4d8c-8a91-bc9bbf4aa301"), Package () {
                Package () { "compatible", Package () { "bosch,bma400" } } } })
        }
        Device (LSM6)
        {
            Name (_HID, "PRP0001")
            Name (_UID, 3)
            Name (_CRS, ResourceTemplate () {
                I2cSerialBusV2 (0x53, ControllerInitiated, 400000, AddressingMode7Bit, "\\_SB.PCI0.SFB", 0, ResourceConsumer,,)
                Interrupt (ResourceConsumer, Edge, ActiveHigh, ExclusiveAndWake) {6} })
            Name (_DSD, Package () { ToUUID ("daffd814-6eba-4d8c-8a91-bc9bbf4aa301"), Package () {
                Package () { "compatible", Package () { "st,lsm6dso" } },
                Package () { "wakeup-source", 1 } } })
        }
    }
}
