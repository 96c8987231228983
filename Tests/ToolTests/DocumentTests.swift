import Foundation
import TestSupport
import Testing

/// What is made from the rows of options, keys and kinds: manual pages, completions, the reference configuration.
@Suite struct DocumentTests {
    private static let project = Binary.tests.deletingLastPathComponent().path

    /// The files in the repository are those that the rows give; `make documents` writes them.
    @Test func theFilesAreWhatTheRowsGive() throws {
        let folder = NSTemporaryDirectory() + "binnacle-documents-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try Self.run([Binary.buildFolder + "/BinnacleDocs", folder]).status == 0)
        let made = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
        #expect(made.count > 12)
        for name in made where name.contains("/") {
            let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
            let shipped = try? String(contentsOfFile: Self.project + "/" + name, encoding: .utf8)
            #expect(shipped == text, "\(name) is not what the rows give: run 'make documents'")
        }
        for name in ["man", "completions"] {
            let shipped = try FileManager.default.contentsOfDirectory(atPath: Self.project + "/" + name)
            let folder = name + "/"
            let names: [String] = made.filter { $0.hasPrefix(folder) }.map { String($0.dropFirst(folder.count)) }
            #expect(shipped.sorted() == names)
        }
    }

    @Test func manualPagesGiveNoWarning() throws {
        let result = try Self.run([Self.project + "/scripts/check-manual"])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    /// Every option of every subcommand is in the manual: on its own page, or on the one of the program.
    @Test func everyOptionIsInTheManual() throws {
        let overview = try Binary.run("--help").output
        let rows = overview.split(separator: "\n").drop { $0 != "commands:" }.dropFirst().prefix { $0.hasPrefix("  ") }
        // What is indented further goes on from the line before.
        let commands = rows.filter { !$0.hasPrefix("   ") }.compactMap {
            $0.split(separator: " ").first.map(String.init)
        }
        #expect(commands.count == 26)
        let shared = try String(contentsOfFile: Self.project + "/man/binnacle.1", encoding: .utf8)
        for command in commands {
            #expect(shared.contains(".Ss \(command)"))
            let own = try? String(contentsOfFile: Self.project + "/man/binnacle-\(command).1", encoding: .utf8)
            let options = try Binary.run(command, "--help").output.split(separator: "\n")
                .filter { $0.hasPrefix("  -") }.compactMap {
                    $0.split(separator: "--").last?.split(separator: " ").first
                }
            #expect((own != nil) == (options.count > 5), "\(command)")
            for option in options where own != nil || option != "help" {
                #expect((own ?? shared).contains("Fl Fl \(option)"), "\(command) --\(option)")
            }
        }
    }

    private static let lines: [(line: String, candidates: [String])] = [
        ("binnacle re", ["replay", "record", "reset"]), ("binnacle --v", ["--version"]), ("binnacle ar", ["arm"]),
        ("binnacle replay --sp", ["--speed"]), ("binnacle run --simulate s", ["still", "shake", "screen"]),
        ("binnacle simulate --model tu", ["turn", "tumble"]), ("binnacle events --kind motion.b", ["motion.began"]),
        ("binnacle on motion.e", ["motion.ended"]), ("binnacle calibrate acc", ["accelerometer"]),
        ("binnacle simulate --bits ", ["32", "16"]), ("binnacle status --socket Package.s", ["Package.swift"]),
        ("binnacle check Package.s", ["Package.swift"]), ("binnacle devices --root Sour", ["Sources/"]),
    ]

    @Test(arguments: lines) func bashCompletes(line: String, candidates: [String]) throws {
        var words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        words = words.map { "'\($0)'" }
        let script = """
            . completions/binnacle.bash
            COMP_WORDS=(\(words.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
            _binnacle; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try Self.run(["/bin/bash", "--norc", "-c", script])
        #expect(result.errors.isEmpty, "\(result.errors)")
        // Readline puts the slash behind a folder.
        #expect(Set(result.lines) == Set(candidates.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }))
    }

    @Test func bashCompletesAValueBehindAnEqualsSign() throws {
        let script = """
            . completions/binnacle.bash
            COMP_WORDS=(binnacle run --simulate = sh); COMP_CWORD=4; _binnacle; echo "${COMPREPLY[@]}"
            COMP_WORDS=(binnacle run --simulate =); COMP_CWORD=3; _binnacle; echo "${COMPREPLY[@]}"
            COMP_WORDS=(binnacle on shake -- Package.s); COMP_CWORD=4; _binnacle; echo "${COMPREPLY[@]}"
            COMP_WORDS=(binnacle on shake -- cat Package.s); COMP_CWORD=5; _binnacle; echo "${COMPREPLY[@]}"
            """
        #expect(
            try Self.run(["/bin/bash", "--norc", "-c", script]).lines
                == ["shake", "still walk shake tap turn drop wash screen tumble", "Package.swift"])
    }

    @Test(.enabled(if: exists("fish"), "there is no fish"), arguments: lines)
    func fishCompletes(line: String, candidates: [String]) throws {
        let result = try Self.run([
            "/usr/bin/fish", "--no-config", "-c", "source completions/binnacle.fish; complete -C '\(line)'",
        ])
        let found = result.lines.map { String($0.split(separator: "\t").first ?? "") }
        #expect(Set(found) == Set(candidates), "\(result.errors)")
    }

    @Test(.enabled(if: exists("zsh"), "there is no zsh"), arguments: lines)
    func zshCompletes(line: String, candidates: [String]) throws {
        // Completion needs a terminal of its own; a wrapper around its last step writes down what it offers.
        let script = #"""
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell 'fpath=(completions $fpath); autoload -U compinit; compinit -u -D
            compadd() {
                local -a found; builtin compadd -A found "$@" 2>/dev/null
                [[ " $* " == *" -[OA] "* ]] || print -rl -- "found:"$^found >>$OUT
                builtin compadd "$@"; local code=$?; print done: >>$OUT; return code
            }
            echo ready'
            while zpty -r shell chunk '*ready*'; do break; done
            zpty -w -n shell "$LINE"$'\t'
            for ((turn = 0; turn < 100; turn++)); do
                grep -qs 'found:.' $OUT && grep -qs done: $OUT && break
                sleep 0.1
            done
            """#
        let file = try TemporaryFile()
        let result = try Self.run(["/usr/bin/zsh", "-f", "-c", script], environment: ["OUT": file.path, "LINE": line])
        let found = try file.text().split(separator: "\n").filter { $0.hasPrefix("found:") }.map { $0.dropFirst(6) }
        let wanted = candidates.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        let words: [String] = found.map { String($0) }.filter { !$0.isEmpty }
        #expect(Set(words) == Set(wanted), "\(result.errors)")
    }

    private static func exists(_ shell: String) -> Bool { access("/usr/bin/" + shell, X_OK) == 0 }

    private static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Binary.Result {
        let child = Child(arguments)
        child.folder = project
        child.environment = environment
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        child.standardOutput = try output.writer()
        child.standardError = try errors.writer()
        try child.run()
        child.waitUntilExit()
        return Binary.Result(
            status: child.terminationStatus, output: try output.text(), errors: try errors.text())
    }
}
