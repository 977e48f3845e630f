//! An answer of items on the terminal: the same over every wire that carries such answers.

use std::ops::RangeInclusive;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;

use super::arguments::AskArguments;
use super::piece::AnswerPiece;
use super::target::AskTarget;
use crate::output::{Failure, Outcome, ignore_broken_pipe, stderrln};
use crate::printable::{Words, line};
use crate::refusal;

/// Characters of a token or an address that is shown.
const ID_CHARS_MAX: usize = 300;
/// Characters of somebody else's sentence about an item.
const ITEM_CHARS_MAX: usize = 200;
/// Seconds between looks at a promise.
const LOOKS: RangeInclusive<u64> = 1..=10;

/// What an answer comes to.
pub enum AnswerEnd {
    /// The answer, or a question back.
    Done,
    /// A promise: what to check on it by, and seconds until then.
    Later(String, u64),
}

/// Waits until a promise is to be looked at: `seconds`, as its agent said, within reason.
pub fn pause(seconds: u64) -> BoxFuture<'static, ()> {
    let seconds = seconds.clamp(*LOOKS.start(), *LOOKS.end());
    Box::pin(tokio::time::sleep(Duration::from_secs(seconds)))
}

/// Fails when there are files, which the protocol `via` has no place for.
///
/// # Errors
/// `--attach` was given.
pub fn refuse_files(ask: &AskArguments, via: &str) -> Outcome {
    match ask.attach.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(format!("files can't be sent over {via}")).hint("--via rest sends files")),
    }
}

/// What was shown so far.
pub struct AnswerDisplay<'a> {
    words: Words,
    to: &'a AskTarget,
    ask: &'a AskArguments,
    /// Whether words were the last thing that was shown.
    ends_with_words: bool,
    promised: bool,
}

impl<'a> AnswerDisplay<'a> {
    /// Nothing is shown yet of the answer of `to`.
    pub fn new(to: &'a AskTarget, ask: &'a AskArguments) -> Self {
        Self { words: Words::of_markdown(), to, ask, ends_with_words: false, promised: false }
    }

    /// Shows pieces in their order.
    ///
    /// # Errors
    /// What the agent failed or declined with.
    pub fn show(&mut self, pieces: Vec<AnswerPiece>) -> Result<AnswerEnd, Failure> {
        let mut end = AnswerEnd::Done;
        for piece in pieces {
            match piece {
                AnswerPiece::Words(words) => {
                    self.show_words(&format!("{}\n", words.trim_end()))?;
                    self.ends_with_words = true;
                }
                AnswerPiece::Item(item) => {
                    let apart = if std::mem::take(&mut self.ends_with_words) { "\n" } else { "" };
                    self.show_words(&format!("{apart}- {}\n", item_line(&item)))?;
                }
                AnswerPiece::Promise { token, seconds, progress, message } => {
                    let percent = progress.map(|fraction| format!("{:.0}%", fraction * 100.0));
                    let words = percent.into_iter().chain(message.map(|words| line(&words, ITEM_CHARS_MAX)));
                    stderrln!("[promised {}]", words.collect::<Vec<_>>().join(" "));
                    // Once, although each look at the promise gives it again.
                    if !std::mem::replace(&mut self.promised, true) {
                        stderrln!("hear of it later with: --task {}", line(&token, ID_CHARS_MAX));
                    }
                    end = AnswerEnd::Later(token, seconds.unwrap_or(1));
                }
                AnswerPiece::Questions { text, questions } => {
                    self.show_words(&format!("{text}\n"))?;
                    for question in &questions {
                        self.show_words(&format!("- {}\n", question_line(question)))?;
                    }
                }
                AnswerPiece::Failure { policy: Some(policy), .. } => {
                    return Err(refusal::declined(&policy, &self.to.label, &self.to.canonical_host));
                }
                AnswerPiece::Failure { code, message, may_pass, .. } => {
                    return Err(self.failed(&code, &message, may_pass));
                }
                AnswerPiece::Conversation(name) if !self.ask.json => {
                    stderrln!("continue with: --session {}", line(&name, ID_CHARS_MAX));
                }
                AnswerPiece::Conversation(_) | AnswerPiece::End { .. } => {}
            }
        }
        Ok(end)
    }

    /// Shows words on standard output, unless JSON is wanted there.
    pub fn show_words(&mut self, text: &str) -> Outcome {
        if self.ask.json { Ok(()) } else { ignore_broken_pipe(self.words.say(text)) }
    }

    fn failed(&self, code: &str, message: &str, may_pass: bool) -> Failure {
        let words = format!("{}: {} ({})", self.to.label, line(message, 500), line(code, 60));
        if may_pass { Failure::unreachable(words) } else { Failure::yours(words) }
    }
}

/// An item in a line.
fn item_line(item: &Value) -> String {
    let text = |keys: &[&str]| keys.iter().find_map(|key| item.get(*key)?.as_str());
    let name = line(text(&["name", "headline", "title"]).unwrap_or("an item"), ITEM_CHARS_MAX);
    let name = match text(&["url", "contentUrl", "@id"]).filter(|url| url.starts_with("http")) {
        Some(url) => format!("[{name}]({})", line(url, ID_CHARS_MAX)),
        None => name,
    };
    match text(&["description", "text"]) {
        Some(words) => format!("{name}: {}", line(words, ITEM_CHARS_MAX)),
        None => name,
    }
}

/// A question in a line, with what can be chosen.
fn question_line(question: &Value) -> String {
    let text = line(question["text"].as_str().unwrap_or_default(), ITEM_CHARS_MAX);
    let options: Vec<String> = question["options"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|option| line(option, 60))
        .collect();
    if options.is_empty() { text } else { format!("{text} ({})", options.join(", ")) }
}
