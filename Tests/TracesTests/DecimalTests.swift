import Binnacle
import Glibc
import Testing
import Traces

/// Numbers go through the whole reader here, so that what users get is what is compared.
@Suite struct DecimalTests {
    private func read(_ fields: [String]) throws -> [Sample] {
        let file = try TemporaryFile(
            "t_s,mx_uT,my_uT,mz_uT\n" + fields.enumerated().map { "\($0.offset),\($0.element),0,1\n" }.joined())
        return Collected(try TraceSource(paths: [file.path])).samples[0]
    }

    /// The field is read as a Double, exactly as strtod does, and then rounded to Float.
    @Test func valuesAreThoseOfStrtod() throws {
        var random = SystemRandomNumberGenerator()
        var fields = [
            "0", "-0", "+1", "1.", ".5", "1e5", "1E-5", "9007199254740993e-12", "0.1",
            "123456789012345678901234567890e-25",
            "1000000000e-22", "1000000000e-23", "1e-30", "0.000000000000000000000000000001234567890123456789",
            "3.4028234e6",
            "00000000000000000000000000001", "1.17549435e-38", "1e-46", "4.35", "2.2250738585072014e-308",
        ]
        for _ in 0..<3000 {
            let digits = Int.random(in: 1...22, using: &random)
            var text = Bool.random(using: &random) ? "-" : ""
            for _ in 0..<digits { text += String(Int.random(in: 0...9, using: &random)) }
            if Bool.random(using: &random) { text += "." + String(UInt64.random(in: 0...UInt64.max, using: &random)) }
            if Bool.random(using: &random) { text += "e" + String(Int.random(in: -45...15, using: &random)) }
            guard abs(strtod(text, nil)) <= 1e7 else { continue }
            fields.append(text)
        }
        let samples = try read(fields)
        try #require(samples.count == fields.count)
        for (field, sample) in zip(fields, samples) {
            #expect(sample.x.bitPattern == Float(strtod(field, nil)).bitPattern, "\(field)")
        }
    }

    @Test(arguments: ["1 2", "0x10", "1e", "1e+", "--1", "1.2.3", "1.234,5", "e5", ".", "-", "1_000", "٣"])
    func whatIsNoNumberIsNotTakenForOne(field: String) throws {
        let file = try TemporaryFile("t_s;mx_uT;my_uT;mz_uT\n1;0.5;0;1\n2;\(field);0;1\n")
        let source = try TraceSource(paths: [file.path])
        #expect(Collected(source).samples[0].count == 1, "\(field)")
        #expect(source.repairs.counts == [.notANumber: 1])
    }

    @Test(
        arguments: [
            ("s", "0.1", 100_000_000), ("s", "1700000000.123456789", 1_700_000_000_123_456_789),
            ("s", "1700000000.1234567891234567", 1_700_000_000_123_456_789), ("s", "3.446083327E-3", 3_446_083),
            ("s", "-0.0000000005", -1), ("s", "-1.5", -1_500_000_000), ("ms", "0.0000004", 0),
            ("ms", "12.3456785", 12_345_679),
            ("us", "1e3", 1_000_000), ("ns", "9223372036854775807", Int64.max),
            ("ns", "000000000000000000000000000012", 12),
            ("s", "9223372036.854775807", Int64.max), ("s", "0.00000000000000000000000000000000000001", 0),
        ] as [(String, String, Int64)])
    func stampsAreExactToTheNanosecond(unit: String, field: String, expected: Int64) throws {
        let file = try TemporaryFile("t_\(unit),mx_uT,my_uT,mz_uT\n\(field),1,0,1\n")
        #expect(Collected(try TraceSource(paths: [file.path])).samples[0].first?.timeNanoseconds == expected)
    }

    @Test(arguments: ["9223372036854775808", "1e30", "-9223372036854775809", "99999999999999999999999999"])
    func stampsBeyond64BitsAreRefused(field: String) throws {
        let file = try TemporaryFile("t_ns,mx_uT,my_uT,mz_uT\n1,1,0,1\n\(field),1,0,1\n")
        let source = try TraceSource(paths: [file.path])
        #expect(Collected(source).samples[0].count == 1)
        #expect(source.repairs.counts == [.beyondTime: 1])
    }
}
