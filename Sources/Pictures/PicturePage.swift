import Binnacle
import Glibc
import PlainText

/// Writes a picture as one HTML page, which needs no network and no other file.
package struct PicturePage {
    private let picture: Picture
    private let start: Int64
    private let end: Int64

    package init(_ picture: Picture) {
        self.picture = picture
        (start, end) = (picture.timeRange.lowerBound, picture.timeRange.upperBound)
    }

    /// The page as UTF-8.
    package var bytes: [UInt8] {
        var page: [UInt8] = []
        func add(_ text: String) { page += text.utf8 }
        add(
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
            style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
            <link rel="icon" href="data:,">
            <title>Binnacle</title>
            <style>

            """)
        page += WebPage.style
        add("</style>\n</head>\n<body>\n<main>\n")
        add(Self.head + Self.body)
        add("</main>\n")
        add("<script type=\"application/json\" id=\"meta\">\(Self.inScript(metaText))</script>\n")
        let data =
            picture.tracks.enumerated().map { ("track\($0)", self.data(of: $1)) }
            + picture.spectra.enumerated().map { ("spectrum\($0)", self.data(of: $1.spectrum)) }
        for (id, bytes) in data {
            add("<script type=\"text/plain\" id=\"\(id)\">")
            Base64.append(bytes, to: &page)
            add("</script>\n")
        }
        add("<script>\n")
        page += WebPage.drawing
        add("</script>\n</body>\n</html>\n")
        return page
    }

    static let head = """
        <div class="top"><h1><bdi id="title">Binnacle</bdi></h1> <button id="theme" type="button">dark or light <kbd>t</kbd></button></div>
        <dl id="facts"></dl>

        """

    static let body = """
        <h2>Curves</h2>
        <div class="bar" role="toolbar" aria-label="view">
        <button id="in" type="button">zoom in <kbd>+</kbd></button>
        <button id="out" type="button">zoom out <kbd>&minus;</kbd></button>
        <button id="left" type="button" aria-label="earlier">&larr;</button>
        <button id="right" type="button" aria-label="later">&rarr;</button>
        <button id="all" type="button">all <kbd>0</kbd></button>
        <button id="previous" type="button">previous event <kbd>p</kbd></button>
        <button id="next" type="button">next event <kbd>n</kbd></button>
        <div id="range" class="soft" aria-live="polite"></div>
        <div id="blocks" class="soft"></div>
        <div id="readout" role="status"></div>
        </div>
        <div id="plot" tabindex="0" role="application" aria-label="curves over time: plus and minus zoom, arrows move, \
        0 shows all, n and p go from event to event, comma and full stop move the cursor"></div>
        <p class="soft">Drag to move, double-click or Ctrl and the wheel to zoom, Shift and the wheel to move. Each column shows \
        the least and the greatest value of its time. Hatched: samples are missing.</p>
        <section id="spectra" aria-label="spectra"></section>
        <h2>Events</h2>
        <p id="eventNote" class="soft"></p>
        <div class="scroll"><table><thead><tr><th scope="col">time</th><th scope="col">kind</th><th scope="col">from</th>\
        <th scope="col">figures</th></tr></thead><tbody id="events"></tbody></table></div>
        <p id="pager"><button id="earlier" type="button">earlier events</button> <span id="pageText"></span> \
        <button id="later" type="button">later events</button></p>
        <section id="about" aria-label="notes and settings"><h2>Notes</h2>
        <ul id="notes"></ul>
        <details><summary>The detectors' settings</summary><pre id="configuration"></pre></details></section>
        <script type="application/json" id="rules">\(rules)</script>
        <noscript>This page draws its curves by a script, which is not run here.</noscript>

        """

    /// Escapes JSON so that no text in it can end a script element.
    private static func inScript(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            if byte == UInt8(ascii: "<") { result += "\\u003c".utf8 } else { result.append(byte) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private func seconds(_ stamp: Int64) -> Double { Units.seconds(from: start, to: stamp) }

    // MARK: - Input of the script

    private var metaText: String {
        let rows = picture.eventRows
        return JSONObject.text([
            "title": JSONObject.quoted(picture.title.printable),
            "facts": JSONObject.list(picture.facts.map { JSONObject.texts([$0.name, $0.value.printable]) }),
            "configuration": JSONObject.quoted(picture.configuration),
            "notes": JSONObject.texts(picture.notes.map(\.printable)),
            // As text, because a JSON number has fewer digits.
            "start_ns": JSONObject.quoted(String(start)),
            "duration_s": Self.number(max(seconds(end), 1e-6)),
            "gap_s": Self.number(Picture.gapSeconds),
            "tracks": JSONObject.list(picture.tracks.map(text)),
            "panels": JSONObject.list(picture.panels.map(text)),
            "spectra": JSONObject.list(picture.spectra.map(text)),
            "rows": JSONObject.list(rows.map { JSONObject.texts([$0.source.printable, $0.kind.rawValue]) }),
            "events": JSONObject.list(
                picture.events.map { event in
                    let row = rows.firstIndex { $0.source == event.source && $0.kind == event.kind } ?? 0
                    return JSONObject.text([
                        "t": Self.number(seconds(event.timeNanoseconds)), "r": String(row),
                        "f": JSONObject.quoted(event.figures.compactMap(\.text).joined(separator: ", ").printable),
                    ])
                }),
            "event_count": String(picture.eventCount),
            "event_note": JSONObject.quoted(picture.eventNote),
            "events_end_s": picture.leftOutNanoseconds.map { Self.number(seconds($0)) } ?? "null",
            "gaps": JSONObject.list(
                picture.gaps.map { gap in
                    let (from, to) = (seconds(gap.fromNanoseconds), seconds(gap.toNanoseconds))
                    return "[\(Self.number(from)),\(Self.number(to)),\(JSONObject.quoted(gap.text))]"
                }),
        ])
    }

    /// Rules shared by all drawings.
    private static var rules: String {
        JSONObject.text([
            "circle": list(Picture.circle), "forms": JSONObject.texts(Picture.forms),
            "state": number(Picture.stateHeight),
            "row": number(Picture.eventHeight), "mark": number(Picture.eventPlace), "reach": number(Picture.reach),
            "margin": number(Picture.margin), "shown": ShownValue.rules,
        ])
    }

    private static func list(_ ticks: [(value: Double, text: String)]) -> String {
        JSONObject.list(ticks.map { "[\(number($0.value)),\(JSONObject.quoted($0.text))]" })
    }

    /// A number as JSON; null unless it is finite.
    private static func number(_ value: Double) -> String { value.isFinite ? value.description : "null" }

    private func text(_ track: Track) -> String {
        JSONObject.text([
            "origin_s": Self.number(seconds(track.originNanoseconds ?? start)),
            "block_s": Self.number(Double(track.blockNanoseconds) * 1e-9),
            "count": String(track.count),
            "series": JSONObject.list(
                track.kinds.indices.map { series in
                    let scale = Scale(track, series)
                    return JSONObject.text([
                        "kind": JSONObject.quoted(scale.kind.rawValue), "least": Self.number(scale.least),
                        "greatest": Self.number(scale.greatest), "step": Self.number(scale.step),
                    ])
                }),
        ])
    }

    private func text(_ panel: Picture.Panel) -> String {
        JSONObject.text([
            "title": JSONObject.quoted(panel.title),
            "unit": JSONObject.quoted(panel.unit),
            "range": panel.range.map { "[\($0.lowerBound),\($0.upperBound)]" } ?? "null",
            "ticks": Self.list(panel.ticks),
            "curves": JSONObject.list(
                panel.curves.map { curve in
                    JSONObject.text([
                        "label": JSONObject.quoted(curve.label), "track": String(curve.track),
                        "series": String(curve.series), "band": curve.band.map(String.init) ?? "null",
                    ])
                }),
            "marks": JSONObject.list(panel.marks.map(text)),
            "states": JSONObject.list(panel.states.map(text)),
        ])
    }

    private func text(_ mark: Picture.Mark) -> String {
        JSONObject.text([
            "label": JSONObject.quoted(mark.label), "value": JSONObject.quoted(mark.value),
            "near": String(mark.isAlwaysShown), "lines": JSONObject.list(mark.lines.map(Self.number)),
            "areas": JSONObject.list(
                mark.areas.map { "[\(Self.number($0.from)),\(Self.number($0.to)),\($0.isHatched)]" }),
        ])
    }

    private func text(_ states: Picture.States) -> String {
        JSONObject.text([
            "track": String(states.track), "series": String(states.series), "names": JSONObject.texts(states.names),
            "shown": JSONObject.list(picture.occurring(states).map(String.init)),
        ])
    }

    private func text(_ named: (title: String, spectrum: Spectrum)) -> String {
        JSONObject.text([
            "title": JSONObject.quoted(named.title), "rate_hz": Self.number(named.spectrum.rateHz),
            "density": Self.number(named.spectrum.density), "length": String(Spectrum.length),
            "bins": String(Spectrum.frequencyCount),
            "cells": JSONObject.list(
                named.spectrum.cells.map {
                    "[\(Self.number(seconds($0.startNanoseconds))),\(Self.number(seconds($0.endNanoseconds))),\($0.count)]"
                }),
        ])
    }

    // MARK: - Data

    /// The values of a track in little-endian order.
    ///
    /// Samples: the times in seconds as doubles, then the values of each series as floats. Blocks: for each series,
    /// pairs of 16 bits in steps of its ``Scale``, rounded outwards; the first is above the second if there is no
    /// value. Of bits, a pair is the lower and the upper half, and 0 and 0 without a value.
    private func data(of track: Track) -> [UInt8] {
        var data: [UInt8] = []
        if track.blockNanoseconds == 0 {
            for time in track.times { Base64.append(seconds(time).bitPattern, 8, to: &data) }
            for values in track.least {
                for value in values { Base64.append(UInt64(value.bitPattern), 4, to: &data) }
            }
            return data
        }
        for series in track.kinds.indices {
            let scale = Scale(track, series)
            for (least, greatest) in zip(track.least[series], track.greatest[series]) {
                let (low, high) = scale.steps(least, greatest)
                Base64.append(UInt64(low), 2, to: &data)
                Base64.append(UInt64(high), 2, to: &data)
            }
        }
        return data
    }

    /// The averages of a spectrum in hundredths of a decibel.
    private func data(of spectrum: Spectrum) -> [UInt8] {
        var data: [UInt8] = []
        for cell in spectrum.cells {
            for mean in cell.levels {
                let level = mean > 0 ? (1000 * log10(mean)).rounded() : -32_000
                Base64.append(UInt64(UInt16(bitPattern: Int16(min(max(level, -32_000), 32_000)))), 2, to: &data)
            }
        }
        return data
    }
}

/// Quantises a series to 16 bits; its least and greatest value stay exact.
package struct Scale {
    let kind: SampledValue.Form
    package let least: Double
    package let greatest: Double
    package let step: Double

    package init(_ track: Track, _ series: Int) {
        kind = track.kinds[series]
        var (low, high) = (Double.infinity, -Double.infinity)
        if track.blockNanoseconds > 0 {
            for (least, greatest) in zip(track.least[series], track.greatest[series]) where least <= greatest {
                low = min(low, Double(least))
                high = max(high, Double(greatest))
            }
        }
        (least, greatest) = low <= high ? (low, high) : (0, 0)
        step = (greatest - least) / 65_535
    }

    /// The steps of a block, rounded outwards, or both halves of its bits.
    ///
    /// Without a value the first step is above the second, and bits are 0.
    package func steps(_ low: Float, _ high: Float) -> (low: UInt16, high: UInt16) {
        guard low <= high else { return kind == .bits ? (0, 0) : (65_535, 0) }
        guard kind != .bits else {
            let bits = UInt32(low)
            return (UInt16(truncatingIfNeeded: bits), UInt16(bits >> 16))
        }
        guard step > 0 else { return (0, 65_535) }
        let down = ((Double(low) - least) / step).rounded(.down)
        let up = ((Double(high) - least) / step).rounded(.up)
        return (UInt16(min(max(down, 0), 65_535)), UInt16(min(max(up, 0), 65_535)))
    }
}
