import Binnacle
import Foundation
import Testing

import Pictures

/// What a picture keeps of a recording with more events than it draws.
@Suite struct PictureRecorderTests {
    private static func event(_ kind: EventKind, at seconds: Double, gap: Double? = nil) -> Event {
        let figures = gap.map { [Figure(.gap, .number($0, decimals: 3))] } ?? []
        return Event(
            kind: kind, detector: "north", sensor: "box", timeNanoseconds: Int64(seconds * 1e9), figures: figures)
    }

    private static func meta(_ recorder: PictureRecorder) throws -> [String: Any] {
        let page = String(decoding: PicturePage(recorder.picture("day")).bytes, as: UTF8.self)
        let start = try #require(page.range(of: "<script type=\"application/json\" id=\"meta\">"))
        let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
        let object = try JSONSerialization.jsonObject(with: Data(page[start.upperBound..<end.lowerBound].utf8))
        return try #require(object as? [String: Any])
    }

    private static func gaps(_ meta: [String: Any]) throws -> [(from: Double, to: Double)] {
        try #require(meta["gaps"] as? [[Any]]).map { gap in
            (try #require(gap[0] as? Double), try #require(gap[1] as? Double))
        }
    }

    @Test func headingsDisplaceNoOtherEvent() throws {
        let recorder = PictureRecorder(streams: [], detectors: [])
        for second in 1...5000 { recorder.handle(Self.event(.heading, at: Double(second))) }
        recorder.handle(Self.event(.gap, at: 5010, gap: 6))
        recorder.handle(Self.event(.shock, at: 5020))
        let meta = try Self.meta(recorder)
        #expect((meta["events"] as? [Any])?.count == 4002)
        #expect(meta["event_count"] as? Int == 5002)
        #expect(
            meta["event_note"] as? String
                == "The first 4000 of 5000 headings and attitudes; --from and --to show the others.")
        // The rows of other events are complete, so nothing is hatched.
        #expect(meta["events_end_s"] is NSNull)
        let gaps = try Self.gaps(meta)
        #expect(gaps.count == 1)
        #expect(gaps.allSatisfy { abs($0.from - 5004) < 1e-6 && abs($0.to - 5010) < 1e-6 })
    }

    /// Each of 4200 gaps is hatched, those that lie beside another one with it, and not the 97 seconds between two pairs.
    @Test func gapsBeyondTheEventsAreHatched() throws {
        let recorder = PictureRecorder(streams: [], detectors: [])
        for second in 1...4001 { recorder.handle(Self.event(.shock, at: Double(second))) }
        for pair in 0..<2100 {
            for end in [10.0, 12] { recorder.handle(Self.event(.gap, at: Double(100 * pair) + end, gap: 1)) }
        }
        let meta = try Self.meta(recorder)
        #expect(meta["event_note"] as? String == "The first 4000 of 8201 events; --from and --to show the others.")
        #expect((meta["events_end_s"] as? Double).map { abs($0 - 4001) < 1e-6 } == true)
        let gaps = try Self.gaps(meta)
        #expect(gaps.count <= 4000)
        #expect(gaps.allSatisfy { $0.to - $0.from < 3.5 })
        #expect(Set(gaps.map { Int($0.from) / 100 }) == Set(0..<2100))
        #expect(gaps.first.map { abs($0.from - 9) < 1e-6 && abs($0.to - 12) < 1e-6 } == true)
        #expect(gaps.last.map { abs($0.to - 209_912) < 1e-6 } == true)
    }
}
