import Binnacle

/// The rows of one stream of samples, in the order of the file, a block at a time.
///
/// The stamps of a block are copied while they are looked at, so that what is searched later is what was checked, whatever
/// becomes of the file. The axes are left where they are, in the mapping, unless they have to be scaled, lie unaligned, or
/// share their batch with those of other sensors. That memory, and the copies, are confined to this class and to the
/// batches that borrow from it until the next block is loaded; the places in the file were checked by ``ArrowBatch``.
final class ArrowRows {
    let sensor: UInt8
    private let factor: Double
    private let source: ArrowFile

    /// Where the next message begins.
    private(set) var offset: Int
    /// The rows of the batches before the one at hand, all sensors together.
    private var rowsBefore = 0
    private var batch: ArrowBatch?
    /// The next row of the batch that is not in the block yet.
    private var rowInBatch = 0
    private var isMixed = false

    /// The block.
    private(set) var count = 0
    /// The first row that was not taken yet.
    private(set) var position = 0
    /// Up to where nothing is wrong with the rows, as far as that can be said of a stream by itself.
    private(set) var clean = 0
    private var x: UnsafePointer<Float>
    private var y: UnsafePointer<Float>
    private var z: UnsafePointer<Float>
    /// The number of the block's first row in the file, from 1; when the batch is mixed, ``numbers`` has them all.
    private var firstNumber = 0

    private var capacity = 0
    private var times: UnsafeMutablePointer<Int64>
    private var copies: UnsafeMutablePointer<Float>?
    private var numbers: UnsafeMutablePointer<Int>?

    /// The most rows in a block.
    static let mostRows = 65_536
    /// Rows are checked so many at a time.
    private static let pieceCount = 1024

    init(_ source: ArrowFile, sensor: ArrowSensor) {
        self.source = source
        self.sensor = sensor.number
        factor = sensor.factor
        offset = source.firstMessage
        times = .allocate(capacity: 1)
        // Never read while there is no block.
        let nowhere = UnsafePointer<Float>(UnsafeMutablePointer<Float>.allocate(capacity: 1))
        (x, y, z) = (nowhere, nowhere, nowhere)
        nowhere.deallocate()
    }

    deinit {
        times.deallocate()
        copies?.deallocate()
        numbers?.deallocate()
    }

    var isDrained: Bool { position == count }

    /// The stamp of the first row that was not taken yet.
    var time: Int64 { times[position] }
    /// Its number in the file, from 1.
    var number: Int { numbers.map { $0[position] } ?? firstNumber + position }

    func time(_ index: Int) -> Int64 { times[index] }

    func axis(_ axis: Int) -> Float { axis == 0 ? x[position] : axis == 1 ? y[position] : z[position] }

    /// Rows of the block, as they are.
    func columns(_ range: Range<Int>) -> SampleColumns {
        SampleColumns(count: count, times: UnsafePointer(times), x: x, y: y, z: z).slice(range)
    }

    /// Takes rows up to one.
    func advance(to position: Int) {
        self.position = position
    }
}
