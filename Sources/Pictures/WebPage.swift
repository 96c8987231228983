import CPage

/// The page of `binnacle web`: instruments, and live readings and events drawn with the script of a recording's page.
package enum WebPage {
    /// The page; its only variable text is the token of further requests, which has only letters and digits.
    package static func html(token: String?) -> [UInt8] {
        let query = token.map { "?token=\($0)" } ?? ""
        return Array(
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <link rel="icon" href="data:,">
            <link rel="stylesheet" href="/page.css\(query)">
            <title>Binnacle</title>
            </head>
            <body>
            <header><a class="skip" href="#main">skip to the contents</a>
            <nav aria-label="pages"><a id="live" href="/\(query)">live</a> <a id="day" href="/day\(query)">events</a> \
            <a id="calibration" href="/calibration\(query)">calibration</a></nav> <p id="state" role="status"></p></header>
            <main id="main">
            \(PicturePage.head)\
            <p id="lost" class="trouble" role="status" hidden></p>
            <div id="now"></div>
            <form id="days" class="choose" aria-label="days" hidden>
            <button id="before" type="button" aria-label="the days before">&larr;</button>
            <label>from <input id="from" type="date" required></label> <label>to <input id="to" type="date" required></label>
            <button id="after" type="button" aria-label="the days after">&rarr;</button>
            <button type="submit">show</button> <button id="today" type="button">today</button> <span id="stored" class="soft"></span></form>
            <div id="calibrating" hidden><form class="choose" aria-label="what to calibrate">
            <label>sensor <select id="sensor"></select></label> <button id="go" type="submit">start</button></form>
            <section class="card calibration" aria-label="calibration"><p id="how"></p>
            <div id="picture"></div><progress id="done" max="1" value="0" aria-label="how much is measured"></progress>
            <p id="advice" class="big" role="status"></p><pre id="report"></pre>
            <button id="save" type="button" hidden>save</button> <a id="file" hidden>download the file</a>
            <p id="answer" class="soft" role="status"></p></section></div>
            <div id="recording">
            \(PicturePage.body)</div>
            </main>
            <script src="/page.js\(query)"></script>
            <script src="/panel.js\(query)"></script>
            <script src="/web.js\(query)"></script>
            </body>
            </html>

            """.utf8)
    }

    package static var style: [UInt8] { bytes(of: cpage_style()) }
    /// The drawing script, which a recording's page also has.
    package static var drawing: [UInt8] { bytes(of: cpage_drawing()) }
    /// The script of the instruments.
    package static var instruments: [UInt8] { bytes(of: cpage_instruments()) }
    /// The script that fetches readings, events and the state of a calibration.
    package static var script: [UInt8] { bytes(of: cpage_fetching()) }

    // Sound: the bytes are constants of the program.
    private static func bytes(of file: cpage_file) -> [UInt8] {
        Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
