package import Binnacle
import Kernels
import PlainText

/// The decoding of a device's scans: the places of the channels, and the conversion of raw values to samples.
///
/// Its text is a line of JSON stored with recorded scans: `{"bytes":16,"channels":[{"name":"in_accel_x","type":"le:s16/16>>0",
/// "offset":0},…],"accelerometer":{"scale":[…],"offset":[…],"mount_matrix":[…],"factor":1.0}}`. A sample is factor · matrix ·
/// ((raw + offset) · scale).
package struct ScanDescription: Sendable, Equatable {
    package struct Stream: Sendable, Equatable {
        package let kind: SampleKind
        /// The conversion of its raw values to samples.
        package let scaling: AxisScaling

        package init(kind: SampleKind, scaling: AxisScaling) {
            self.kind = kind
            self.scaling = scaling
        }
    }

    package let layout: ScanLayout
    /// The streams, in the order of a decoder's streams.
    package let streams: [Stream]

    /// Creates a description; `nil` when the layout lacks an axis of a stream.
    package init?(layout: ScanLayout, streams: [Stream]) {
        for stream in streams {
            guard IIODevice.channels(stream.kind).allSatisfy({ layout.place(of: $0) != nil }) else { return nil }
        }
        self.layout = layout
        self.streams = streams
    }

    /// The largest rate in rad/s that the gyroscope can give on an axis; `nil` without one, or if its type has no limit.
    var gyroscopeRange: Float? {
        guard let stream = streams.first(where: { $0.kind == .gyroscope }) else { return nil }
        let types = IIODevice.channels(.gyroscope).compactMap { layout.place(of: $0)?.channel.type }
        guard types.count == 3, types.allSatisfy({ $0.isSigned && $0.bits < 53 }) else { return nil }
        let conversion = stream.scaling.conversion
        let zero = SIMD3<Float>(conversion.apply(x: 0, y: 0, z: 0))
        return (0..<3).map { axis in
            var raw = SIMD3<Double>.zero
            raw[axis] = Double((Int64(1) << (types[axis].bits - 1)) - 1)
            let turned = SIMD3<Float>(conversion.apply(x: raw.x, y: raw.y, z: raw.z)) - zero
            return (turned * turned).sum().squareRoot()
        }.min()
    }

    package var decoder: ScanDecoder {
        ScanDecoder(
            layout: layout,
            axes: streams.map { stream in
                let places = IIODevice.channels(stream.kind).compactMap(layout.place)
                return .init(x: places[0], y: places[1], z: places[2], conversion: stream.scaling.conversion)
            })
    }

    private static let mostChannels = 256

    /// The description as one line of JSON, exact to the bit.
    package var text: String {
        var object = JSONObject()
        object.add("bytes", raw: "\(layout.byteCount)")
        object.add(
            "channels",
            list: layout.places.map { place in
                var channel = JSONObject()
                channel.add("name", place.channel.name)
                channel.add("type", place.channel.type.description)
                channel.add("offset", raw: "\(place.offset)")
                return channel.text
            })
        for stream in streams {
            var scaling = JSONObject()
            scaling.add("scale", list: stream.scaling.scales.map(\.description))
            scaling.add("offset", list: stream.scaling.offsets.map(\.description))
            scaling.add("mount_matrix", list: stream.scaling.matrix.elements.map(\.description))
            scaling.add("factor", raw: stream.scaling.factor.description)
            object.add(stream.kind.rawValue, raw: scaling.text)
        }
        return object.text
    }

    /// Parses a description; `nil` when the text is not one.
    ///
    /// Sizes and offsets are for other readers; here they are computed from the channels, as for a device.
    package init?(_ text: String) {
        guard let value = try? JSONReader.value(of: text.utf8), case .array(let channels)? = value["channels"],
            (1...Self.mostChannels).contains(channels.count)
        else { return nil }
        var described: [ScanLayout.Channel] = []
        for (index, channel) in channels.enumerated() {
            guard let name = channel["name"]?.text, let type = channel["type"]?.text.flatMap({ ScanType($0) }) else {
                return nil
            }
            described.append(ScanLayout.Channel(name: name, index: index, type: type))
        }
        var streams: [Stream] = []
        for kind in SampleKind.allCases {
            guard let scaling = value[kind.rawValue] else { continue }
            guard let scaling = AxisScaling(scaling) else { return nil }
            streams.append(Stream(kind: kind, scaling: scaling))
        }
        guard !streams.isEmpty else { return nil }
        self.init(layout: ScanLayout(described), streams: streams)
    }
}

extension SIMD3<Float> {
    fileprivate init(_ axes: (x: Float, y: Float, z: Float)) {
        self.init(axes.x, axes.y, axes.z)
    }
}

extension AxisScaling {
    fileprivate init?(_ value: JSONValue) {
        guard let scales = value["scale"]?.elements(\.double), scales.count == 3,
            let offsets = value["offset"]?.elements(\.double), offsets.count == 3,
            let matrix = value["mount_matrix"]?.elements(\.double).flatMap({ try? MountMatrix($0) }),
            let factor = value["factor"]?.double
        else { return nil }
        self.init(scales: scales, offsets: offsets, matrix: matrix, factor: factor)
    }
}
