//! The words of a question: the words of the command line, or standard input.

use std::io::{IsTerminal, Read, stdin};

use forecourt_client::ask::AskArguments;
use forecourt_client::ask::attachment::QUESTION_BYTES_MAX;

use crate::output::Failure;

/// The word that stands for standard input.
const STDIN: &str = "-";

/// The question with its words. `-` is standard input; so is nothing, unless a task, a state, a file or an answer says
/// what is wanted.
pub(super) fn complete(ask: AskArguments) -> Result<AskArguments, Failure> {
    let is_named = ask.text == [STDIN];
    let goes_on = ask.task.is_some() || ask.state.is_some();
    let is_wordless = ask.text.is_empty() && !goes_on && ask.answers.is_empty() && ask.attach.is_empty();
    if !is_named && !is_wordless {
        return Ok(ask);
    }
    // Waiting for a person to type would look as if the program hung.
    if is_wordless && stdin().is_terminal() {
        let hint = format!("forecourt ask {} \"hello\", or `-` to read it from standard input", ask.agent);
        return Err(Failure::usage("there is nothing to ask").hint(hint));
    }
    Ok(AskArguments { text: vec![read(stdin().lock())?], ..ask })
}

/// All of an input, without its last line end.
fn read(input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    // One more than fits, so that too much is told apart from just enough.
    let most = u64::try_from(QUESTION_BYTES_MAX).unwrap_or(u64::MAX) + 1;
    let read = input.take(most).read_to_end(&mut bytes);
    read.map_err(|error| Failure::yours(format!("standard input can't be read: {error}")))?;
    if bytes.len() > QUESTION_BYTES_MAX {
        return Err(Failure::usage("standard input is longer than the 1 MiB that agents take"));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage("standard input is not text in UTF-8").hint("--attach FILE sends a file as it is")
    })?;
    // The line end that `echo` adds is not part of the question.
    let text = text.strip_suffix('\n').map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text));
    match text.trim().is_empty() {
        true => Err(Failure::usage("standard input is empty: there is nothing to ask")),
        false => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_taken_as_it_is_but_for_its_last_line_end() {
        for (input, text) in [("a\n b\n", "a\n b"), ("a\r\n", "a"), ("a\n\n", "a\n"), (" a", " a")] {
            assert_eq!(read(input.as_bytes()).unwrap(), text);
        }
        for input in [&b""[..], b" \n", b"\xff"] {
            assert!(read(input).is_err(), "{input:?}");
        }
    }

    #[test]
    fn an_input_has_a_bound() {
        assert!(read(&vec![b'a'; QUESTION_BYTES_MAX][..]).is_ok());
        assert!(read(&vec![b'a'; QUESTION_BYTES_MAX + 1][..]).is_err());
    }
}
