//! What to type: examples under the help of each command that has none beside its own definition.

use clap::Command;

/// The words of a command behind `forecourt`, and lines that show its use.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "serve",
        &[
            "serve mysite",
            "serve mysite --http 127.0.0.1:8081 --https 127.0.0.1:8444",
            "serve domains/        # a deployment in each folder",
        ],
    ),
    (
        "dev",
        &[
            "dev mysite",
            "dev mysite --no-open",
            "dev mysite --http 127.0.0.1:8081 > requests.txt    # lines without keys and colours",
        ],
    ),
    (
        "check",
        &[
            "check mysite",
            "check mysite --connect    # asks the servers behind it, too",
            "check mysite --json | jq -r '.problems[].message'",
        ],
    ),
    (
        "test",
        &[
            "test mysite",
            "test mysite --only soups --record    # asks the models, and keeps what they answer",
            "test mysite --junit report.xml",
        ],
    ),
    ("discover", &["discover demo.localhost", "discover @chef@example.com"]),
    ("index", &["index mysite", "index mysite --explain \"soup under 30 minutes\""]),
    ("reference", &["reference config > config.md", "reference errors > errors.md"]),
    ("restore", &["restore kitchen.fcb restored", "restore kitchen.fcb restored --check    # writes nothing"]),
    ("upgrade", &["upgrade --check mysite"]),
    ("health", &["health mysite", "health mysite --ready || exit 1"]),
    ("keys api list", &["keys api list mysite"]),
    ("keys api revoke", &["keys api revoke nightly-import mysite"]),
    ("genesis show", &["genesis show chef.genesis.json"]),
    ("genesis hash", &["genesis hash chef.genesis.json"]),
    ("admin status", &["admin status", "admin status --dir mysite --json"]),
    ("admin agents", &["admin agents", "admin agents --json | jq -r '.agents[].handle'"]),
    (
        "admin tasks",
        &[
            "admin tasks --state working",
            "admin tasks --agent chef --limit 10",
            "admin tasks NAME    # one of them, with what happened",
        ],
    ),
    ("admin search", &["admin search refused chef", "admin search --limit 200 --csv > page.csv"]),
    ("admin follow", &["admin tasks    # names them", "admin follow NAME"]),
    ("admin why", &["admin why chef \"soup under 30 minutes\" \"Leek Soup\""]),
    ("admin alerts", &["admin alerts"]),
    ("admin silence", &["admin silence ForecourtDiskLow --until 2026-12-01T08:00:00Z"]),
    ("admin unsilence", &["admin unsilence ForecourtDiskLow"]),
    ("admin sessions", &["admin sessions"]),
    ("admin refusals", &["admin refusals", "admin refusals --agent chef --outcome paid"]),
    ("admin consents", &["admin consents --who ada", "admin consents --since 2026-11-01 --all --csv > consents.csv"]),
    (
        "admin payments",
        &["admin payments --agent chef", "admin payments --since 2026-11-01 --all --csv > payments.csv"],
    ),
    ("admin usage", &["admin usage --agent chef"]),
    ("admin costs", &["admin costs"]),
    ("admin trends", &["admin trends --span week --agent chef", "admin trends --span month --csv > month.csv"]),
    ("admin questions", &["admin questions", "admin questions --csv unanswered > unanswered.csv"]),
    ("admin bots", &["admin bots"]),
    ("admin bill", &["admin bill crawler.example --reason \"invoice 7\""]),
    ("admin contracts", &["admin contracts"]),
    ("admin deliveries", &["admin deliveries"]),
    ("admin queue", &["admin queue", "admin queue ID    # one of the questions"]),
    ("admin limits", &["admin limits"]),
    ("admin content", &["admin content"]),
    ("admin servers", &["admin servers"]),
    ("admin hubs", &["admin hubs"]),
    ("admin nodes", &["admin nodes"]),
    ("admin certificates", &["admin certificates"]),
    ("admin config", &["admin config --json | jq"]),
    ("admin deployment", &["admin deployment"]),
    ("admin actions", &["admin actions"]),
    ("admin reload", &["admin reload --reason \"new prices\""]),
    ("admin suspend", &["admin suspend chef --reason \"wrong prices\""]),
    ("admin resume", &["admin resume chef"]),
    ("admin retire", &["admin retire chef --reason \"closed for good\""]),
    ("admin cancel", &["admin tasks --state working    # names them", "admin cancel NAME"]),
    ("admin retry", &["admin deliveries    # names them", "admin retry NAME"]),
    ("admin drop", &["admin deliveries    # names them", "admin drop NAME --reason \"their server is gone\""]),
    ("admin put-back", &["admin deployment    # names what was served before", "admin put-back NAME"]),
    ("admin withdraw-consent", &["admin consents --who ada    # names them", "admin withdraw-consent NAME"]),
    ("admin end-session", &["admin sessions    # names them", "admin end-session NAME"]),
    ("admin end-contract", &["admin contracts    # names them", "admin end-contract NAME"]),
    ("admin chats", &["admin chats --dir mysite"]),
    ("admin rotate-key", &["admin rotate-key --reason \"the disk was lost\""]),
    ("admin answer", &["admin queue    # names the questions", "admin answer ID accepted"]),
];

/// The command line with the examples of its commands.
pub(super) fn with_examples(command: Command) -> Command {
    EXAMPLES.iter().fold(command, |command, (words, lines)| {
        let words: Vec<&str> = words.split(' ').collect();
        with_lines(command, &words, lines)
    })
}

/// The same for the command behind `words`. A word that names no command changes nothing.
fn with_lines(command: Command, words: &[&str], lines: &[&str]) -> Command {
    match words {
        [] => command.after_help(text(lines)),
        [first, rest @ ..] if command.find_subcommand(first).is_some() => {
            command.mut_subcommand(*first, |inner| with_lines(inner, rest, lines))
        }
        _ => command,
    }
}

fn text(lines: &[&str]) -> String {
    let title = if lines.len() == 1 { "Example:" } else { "Examples:" };
    lines.iter().fold(title.to_owned(), |text, line| format!("{text}\n  forecourt {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each command that has none of its own below it.
    fn leaves(command: &Command, words: &str, found: &mut Vec<(String, String)>) {
        let inner: Vec<&Command> = command.get_subcommands().filter(|inner| inner.get_name() != "help").collect();
        if inner.is_empty() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            found.push((words.trim().to_owned(), help));
        }
        inner.into_iter().for_each(|one| leaves(one, &format!("{words} {}", one.get_name()), found));
    }

    #[test]
    fn every_command_shows_what_to_type() {
        let mut found = Vec::new();
        leaves(&super::super::command(), "", &mut found);
        let without: Vec<&String> =
            found.iter().filter(|(_, help)| !help.contains("Example")).map(|(of, _)| of).collect();
        assert!(without.is_empty(), "no examples: {without:?}");
        for (words, _) in EXAMPLES {
            assert!(found.iter().any(|(of, _)| of == words), "{words} is no command");
        }
    }

    #[test]
    fn examples_are_command_lines() {
        for line in EXAMPLES.iter().flat_map(|(_, lines)| *lines) {
            let typed = line.split(['#', '|', '>']).next().unwrap();
            // What stands in quotes is one word.
            let pieces = typed.split('"').enumerate();
            let words = pieces.flat_map(|(at, piece)| match at % 2 {
                0 => piece.split_whitespace().collect::<Vec<_>>(),
                _ => vec![piece],
            });
            let words: Vec<&str> = std::iter::once("forecourt").chain(words).collect();
            if let Err(error) = super::super::command().try_get_matches_from(&words) {
                panic!("{line}: {error}");
            }
        }
    }
}
