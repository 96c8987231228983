import Glibc

/// Writes the generated manual pages, completions and reference configuration into a folder, by default the current
/// one.
///
/// It is part of no product; `make documents` runs it in the project's folder, and tests compare its output.
@main
enum BinnacleDocs {
    static func main() {
        let folder = (CommandLine.arguments.dropFirst().first ?? ".") + "/"
        for name in ["man", "completions", "config"] { mkdir(folder + name, 0o777) }
        var files = CommandPages.all.map { ("man/" + $0.name, $0.text) }
        files += [
            ("completions/binnacle.bash", Completions.bash), ("completions/_binnacle", Completions.zsh),
            ("completions/binnacle.fish", Completions.fish), ("config/binnacle.toml", ConfigurationPages.reference),
            ("man/binnacle.toml.5", ConfigurationPages.page), ("man/binnacle-events.7", EventPage.page),
        ]
        for (name, text) in files {
            guard let file = fopen(folder + name, "w"), fputs(text, file) >= 0, fclose(file) == 0 else {
                perror(folder + name)
                exit(74)
            }
        }
    }
}
