//! What an NLWeb agent tells, on the terminal: the same over every wire that carries its answers.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;

use super::Line;
use super::answer::{reading, refused};
use crate::args::Ask;
use crate::commands::printable::{Words, line};
use crate::output::{Failure, Outcome, stderrln};
use forecourt::registry::nlweb::{AgentEvent, Question};

/// Characters of a token or an address that is shown.
const ID_CHARS_MAX: usize = 300;
/// Characters of somebody else's sentence about an item.
const ITEM_CHARS_MAX: usize = 200;
/// Seconds between looks at a promise.
const LOOKS: RangeInclusive<u64> = 1..=10;

/// What an answer comes to.
pub(super) enum End {
    /// The answer, or a question back.
    Done,
    /// A promise: what to check on it by, and seconds until then.
    Later(String, u64),
}

/// Waits until a promise is to be looked at, as its agent said.
pub(super) async fn wait(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds.clamp(*LOOKS.start(), *LOOKS.end()))).await;
}

/// The question as NLWeb has it.
pub(super) fn question(ask: &Ask, streaming: bool) -> Value {
    let question =
        Question { text: ask.text.join(" "), conversation: ask.session.clone(), language: ask.lang.clone(), streaming };
    question.to_request()
}

/// Fails when there are files, which `wire` has no place for.
pub(super) fn no_files(ask: &Ask, wire: &str) -> Outcome {
    match ask.attach.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(format!("files can't be sent over {wire}")).hint("--via rest sends files")),
    }
}

/// What was shown so far.
pub(super) struct AnswerDisplay<'a> {
    words: Words,
    to: &'a Line,
    ask: &'a Ask,
    /// Whether words were the last thing that was said.
    spoke: bool,
    promised: bool,
}

impl<'a> AnswerDisplay<'a> {
    pub(super) fn new(to: &'a Line, ask: &'a Ask) -> Self {
        Self { words: Words::new(), to, ask, spoke: false, promised: false }
    }

    /// Shows what was told, in its order. Fails with what the agent failed or declined with.
    pub(super) fn told(&mut self, all: Vec<AgentEvent>) -> Result<End, Failure> {
        let mut end = End::Done;
        for told in all {
            match told {
                AgentEvent::Words(words) => {
                    self.say(&format!("{}\n", words.trim_end()))?;
                    self.spoke = true;
                }
                AgentEvent::Item(item) => {
                    let apart = if std::mem::take(&mut self.spoke) { "\n" } else { "" };
                    self.say(&format!("{apart}- {}\n", described(&item)))?;
                }
                AgentEvent::Promise { token, seconds, progress, message } => {
                    let percent = progress.map(|fraction| format!("{:.0}%", fraction * 100.0));
                    let said = percent.into_iter().chain(message.map(|words| line(&words, ITEM_CHARS_MAX)));
                    stderrln!("[promised {}]", said.collect::<Vec<_>>().join(" "));
                    if !std::mem::replace(&mut self.promised, true) {
                        stderrln!("hear of it later with: --task {}", line(&token, ID_CHARS_MAX));
                    }
                    end = End::Later(token, seconds.unwrap_or(1));
                }
                AgentEvent::Questions { text, questions } => {
                    self.say(&format!("{text}\n"))?;
                    for question in &questions {
                        self.say(&format!("- {}\n", asked(question)))?;
                    }
                }
                AgentEvent::Failure { policy: Some(policy), .. } => return Err(refused(&policy, self.to)),
                AgentEvent::Failure { code, message, .. } => return Err(self.failed(&code, &message)),
                AgentEvent::Conversation(name) if !self.ask.json => {
                    stderrln!("continue with: --session {}", line(&name, ID_CHARS_MAX));
                }
                AgentEvent::Conversation(_) | AgentEvent::End { .. } => {}
            }
        }
        Ok(end)
    }

    /// Says words on standard output, unless JSON is wanted there.
    pub(super) fn say(&mut self, text: &str) -> Outcome {
        if self.ask.json { Ok(()) } else { reading(self.words.say(text)) }
    }

    fn failed(&self, code: &str, message: &str) -> Failure {
        let words = format!("{}: {} ({})", self.to.shown, line(message, 500), line(code, 60));
        match code {
            "INTERNAL_ERROR" | "TIMEOUT" | "SERVICE_UNAVAILABLE" => Failure::unreachable(words),
            _ => Failure::yours(words),
        }
    }
}

/// An item in a line.
fn described(item: &Value) -> String {
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
fn asked(question: &Value) -> String {
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
