import PlainText

/// The page of `binnacle web`, which draws live readings and a day's events with the script of a recording's page.
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
            <nav><a id="live" href="/\(query)">live</a> <a id="day" href="/day\(query)">a day's events</a> \
            <label>day <input id="date" type="date"></label> <span id="state" role="status"></span></nav>
            <div id="now" class="scroll"></div>
            \(PicturePage.body)
            <script src="/web.js\(query)"></script>
            </body>
            </html>

            """.utf8)
    }

    package static var style: [UInt8] { PackageResources.page_css }
    /// The drawing script, which a recording's page also has.
    package static var drawing: [UInt8] { PackageResources.page_js }
    /// The script that fetches readings and events.
    package static var script: [UInt8] { PackageResources.web_js }
}
