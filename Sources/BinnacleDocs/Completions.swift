import CommandRows

enum Completions {
    private static let names = CommandRow.all.map(\.name.rawValue)
    private static let notice = "# Made by `make documents` from the rows in Sources; changes here are lost."

    /// The first sentence of a help text.
    private static func short(_ help: String) -> String {
        let words = help.split { $0 == "\n" || $0 == " " }.joined(separator: " ")
        let end = [". ", "; "].compactMap { words.firstRange(of: $0)?.lowerBound }.min()
        return String(words[..<(end ?? words.lastIndex(of: ".") ?? words.endIndex)])
    }

    // MARK: - bash

    /// Works with and without the package bash-completion.
    static var bash: String {
        var cases = ""
        for command in CommandRow.all {
            for option in command.options where option.argument != nil {
                let forms = ["--" + option.name] + (option.letter.map { ["-\($0)"] } ?? [])
                let pattern = forms.map { "'\(command.name.rawValue) \($0)'" }.joined(separator: " | ")
                cases += "        \(pattern)) \(bash(option.completion)); return ;;\n"
            }
        }
        var operands = ""
        for command in CommandRow.all {
            operands += """
                        \(command.name.rawValue))
                            options='\(command.options.map { "--" + $0.name }.joined(separator: " "))'
                            \(bash(command.completion))
                            ;;

                """
        }
        return """
            \(notice)
            _binnacle_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
            _binnacle_paths() {
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
            }
            _binnacle() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options='' place
                COMPREPLY=()
                if [ "$COMP_CWORD" -eq 1 ]; then
                    _binnacle_words '\(names.joined(separator: " ")) --help --version'
                    return
                fi
                # What stands behind -- is a command of its own.
                for ((place = 2; place < COMP_CWORD; place++)); do
                    if [ "${COMP_WORDS[place]}" = -- ]; then
                        if [ "${COMP_WORDS[1]}" = on ] && [ "$place" -eq $((COMP_CWORD - 1)) ]; then
                            _binnacle_paths -c
                        else
                            _binnacle_paths -f
                        fi
                        return
                    fi
                done
                # --option=value comes as three words.
                if [ "$current" = = ]; then
                    current=
                elif [ "$previous" = = ]; then
                    previous=${COMP_WORDS[COMP_CWORD - 2]}
                fi
                case "${COMP_WORDS[1]} $previous" in
            \(cases)    esac
                case ${COMP_WORDS[1]} in
            \(operands)    esac
                case $current in -*) _binnacle_words "$options" ;; esac
            }
            complete -F _binnacle binnacle

            """
    }

    private static func bash(_ completion: OptionRow.Completion) -> String {
        switch completion {
        case .nothing: ":"
        case .files: "_binnacle_paths -f"
        case .folders: "_binnacle_paths -d"
        case .words(let words): "_binnacle_words '\(words.joined(separator: " "))'"
        }
    }

    // MARK: - zsh

    static var zsh: String {
        func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
        func bare(_ text: String) -> String {
            [":", "[", "]"].reduce(text) { $0.replacing($1, with: "\\" + $1) }
        }
        var commands = ""
        var cases = ""
        for command in CommandRow.all {
            commands += "        \(quoted("\(command.name.rawValue):\(bare(command.summary))"))\n"
            var specifications: [String] = []
            for option in command.options {
                let argument = option.argument.map { ":" + bare($0) + ":" + zsh(option.completion) } ?? ""
                let text = "[\(bare(short(option.help)))]\(argument)"
                let repeats = option.isRepeatable ? "*" : ""
                let end = option.argument == nil ? "" : "="
                if let letter = option.letter {
                    specifications.append(quoted("(--\(option.name))-\(letter)" + (end.isEmpty ? "" : "+") + text))
                    specifications.append(quoted("(-\(letter))--\(option.name)\(end)\(text)"))
                } else {
                    specifications.append(quoted("\(repeats)--\(option.name)\(end)\(text)"))
                }
            }
            if command.name == .on {
                specifications += [quoted("*::kind:_binnacle_on")]
            } else if case .nothing = command.completion {
            } else {
                specifications += [quoted("*:\(bare(command.operands)):\(zsh(command.completion))")]
            }
            cases += "            \(command.name.rawValue))\n                _arguments -s \\\n"
            cases += specifications.map { "                    \($0)" }.joined(separator: " \\\n") + "\n"
            cases += "                ;;\n"
        }
        let kinds = CommandRow.all.first { $0.name == .on }.map { zsh($0.completion).dropFirst().dropLast() } ?? ""
        return """
            #compdef binnacle
            \(notice)
            _binnacle_on() {
                local place=${words[(i)--]}
                if ((place < CURRENT)); then
                    shift $place words
                    ((CURRENT -= place))
                    _normal
                else
                    compadd -- \(kinds)
                fi
            }
            _binnacle() {
                local curcontext=$curcontext state state_descr line
                typeset -A opt_args
                local -a commands
                commands=(
            \(commands)    )
                _arguments -C '(- *)'{-h,--help}'[Print this help]' '(- *)--version[Print the version]' \\
                    '1:command:->command' '*::argument:->argument' && return
                case $state in
                    command) _describe command commands ;;
                    argument)
                        case $words[1] in
            \(cases)            esac
                        ;;
                esac
            }
            _binnacle "$@"

            """
    }

    private static func zsh(_ completion: OptionRow.Completion) -> String {
        switch completion {
        case .nothing: " "
        case .files: "_files"
        case .folders: "_files -/"
        case .words(let words): "(\(words.joined(separator: " ")))"
        }
    }

    // MARK: - fish

    static var fish: String {
        func quoted(_ text: String) -> String {
            "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        }
        var lines = [
            notice, "complete -c binnacle -f",
            "complete -c binnacle -n __fish_use_subcommand -s h -l help -d 'Print this help'",
            "complete -c binnacle -n __fish_use_subcommand -l version -d 'Print the version'",
        ]
        for command in CommandRow.all {
            lines.append(
                "complete -c binnacle -n __fish_use_subcommand -a \(command.name.rawValue) -d \(quoted(command.summary))"
            )
        }
        for command in CommandRow.all {
            let start = "complete -c binnacle -n '__fish_seen_subcommand_from \(command.name.rawValue)'"
            for option in command.options {
                let letter = option.letter.map { " -s \($0)" } ?? ""
                let argument = option.argument == nil ? "" : fish(option.completion)
                lines.append("\(start) -l \(option.name)\(letter)\(argument) -d \(quoted(short(option.help)))")
            }
            if case .nothing = command.completion { continue }
            lines.append(start + fish(command.completion).replacing(" -r", with: ""))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func fish(_ completion: OptionRow.Completion) -> String {
        switch completion {
        case .nothing: " -x"
        case .files: " -r -F"
        case .folders: " -x -a '(__fish_complete_directories)'"
        case .words(let words): " -x -a '\(words.joined(separator: " "))'"
        }
    }
}
