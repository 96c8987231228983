import Kernels

/// A layout of scans that is measured.
struct ScanLayout {
    /// What figures are known by.
    let name: String
    /// What it is, in a few words.
    let title: String
    let format: ScanFormat
    let conversion: ScanConversion
    /// Whether it is the one that most devices have.
    let isCommon: Bool
    /// Whether decoding it is measured as well.
    let isDecoded: Bool

    /// Those that devices have: three axes of 16 bits in either order, 12 bits at the top of 16, 32 bits; and one whose
    /// axes have different scales, so that no integer decides.
    static let all: [ScanLayout] = [
        make("s16le", "scans of 3 × s16 and a stamp", .int16LittleEndian, isCommon: true),
        make("s16be", "scans of 3 × s16, big endian, and a stamp", .int16BigEndian),
        make("s12le", "scans of 3 × s12 in 16 bits and a stamp", .int16LittleEndian, shift: 4),
        make("s32le", "scans of 3 × s32 and a stamp", .int32LittleEndian),
        make("s16le_general", "scans of 3 × s16 with scales of their own", .int16LittleEndian, isGeneral: true),
    ].compactMap(\.self)

    /// Those that a measurement takes.
    static func measured(_ options: BenchOptions) -> [ScanLayout] {
        options.isQuick ? all.filter(\.isCommon) : all
    }

    private static func make(
        _ name: String, _ title: String, _ element: ScanFormat.Element, shift: Int = 0, isCommon: Bool = false,
        isGeneral: Bool = false
    ) -> ScanLayout? {
        let size = element.byteCount
        let stamp = size == 2 ? 8 : 16
        guard
            let format = ScanFormat(
                stride: stamp + 8, element: element, shift: shift, axisOffsets: (0, size, 2 * size),
                timestampOffset: stamp)
        else { return nil }
        let scales: SIMD3<Double> = isGeneral ? [0.0101, 0.0099, 0.01] : [0.01, 0.01, 0.01]
        let offset = isGeneral ? 0.03 : 0
        return ScanLayout(
            name: name, title: title, format: format,
            conversion: ScanConversion(
                x: [scales.x, 0, 0, offset], y: [0, scales.y, 0, -offset], z: [0, 0, scales.z, offset]),
            isCommon: isCommon, isDecoded: !isGeneral)
    }

    /// A threshold between two accelerations in m/s².
    func threshold(high: Float, low: Float) -> ScanThreshold {
        ScanThreshold(
            format: format, conversion: conversion, threshold: Threshold(high: high * high, low: low * low))
    }

    /// Writes an axis, with anything in the bits that mean nothing.
    func store(_ value: Int32, in scan: UnsafeMutableRawPointer, at offset: Int) {
        let rubbish = (Int32(1) << Int32(format.shift)) - 1
        let stored = value << Int32(format.shift) | rubbish
        switch format.element {
        case .int16LittleEndian:
            scan.storeBytes(of: Int16(truncatingIfNeeded: stored).littleEndian, toByteOffset: offset, as: Int16.self)
        case .int16BigEndian:
            scan.storeBytes(of: Int16(truncatingIfNeeded: stored).bigEndian, toByteOffset: offset, as: Int16.self)
        case .int32LittleEndian: scan.storeBytes(of: stored.littleEndian, toByteOffset: offset, as: Int32.self)
        }
    }
}
