//! A reply before its caller. Its text is held back until there is a window of it, and shown up to the last end of a
//! sentence in that, once it was judged. What is denied ends the reply, and what was held is never shown.

use std::sync::Arc;

use forecourt_core::policy::PolicyPart;
use forecourt_core::{Ending, Event, EventStream, Handle, Part, Question, ToolOutcome};
use futures::StreamExt;
use serde_json::Value;

use super::message::in_words;
use super::{GuardCase, GuardCounter, GuardDenial, Guardrail, Side, value};
use crate::limits::GUARD_OVERLAP_CHARS;

/// Who is told of a denial: by which rule, and what the caller is told.
pub type DenialNote = Box<dyn Fn(&str, &PolicyPart) + Send + Sync>;

/// What judges a reply, and who is told of what it denies.
pub struct ReplyGuards {
    /// The guardrails, in the order in which they judge.
    pub guards: Vec<Arc<Guardrail>>,
    /// Whose reply it is.
    pub agent: Handle,
    /// Counts what they say.
    pub counter: Arc<dyn GuardCounter>,
    /// Told of a denial.
    pub note: DenialNote,
}

/// The same reply, of which nothing is seen that was not judged.
pub fn guarded(mut events: EventStream, guards: ReplyGuards) -> EventStream {
    Box::pin(async_stream::stream! {
        let mut held = HeldReply::new(guards);
        while let Some(event) = events.next().await {
            let is_ending = matches!(event, Event::Ending(_));
            match held.take(event).await {
                Ok(passed) => {
                    for event in passed {
                        yield event;
                    }
                }
                Err(part) => {
                    // The agent's work ends with its reply.
                    drop(events);
                    yield Event::Ending(Ending::Refused(part));
                    return;
                }
            }
            if is_ending {
                return;
            }
        }
    })
}

impl ReplyGuards {
    /// What passes in place of a text, if another one does.
    pub(super) async fn judge(&self, text: &str, before: &str) -> Result<Option<String>, Box<PolicyPart>> {
        let Self { guards, agent, counter, note } = self;
        let mut other: Option<String> = None;
        for guard in guards {
            let text = other.as_deref().unwrap_or(text);
            if text.is_empty() {
                break;
            }
            let case = GuardCase { side: Side::Reply, agent, before, text };
            match guard.passed(case, &**counter).await {
                Ok(replaced) => other = replaced.or(other),
                Err(GuardDenial { rule, part }) => {
                    note(&rule, &part);
                    return Err(part);
                }
            }
        }
        Ok(other)
    }

    /// Holds a text against them of which nothing can be replaced: what would have to be is denied.
    pub(super) async fn whole(&self, text: &str) -> Result<(), Box<PolicyPart>> {
        let Self { guards, agent, counter, note } = self;
        for guard in guards {
            let case = GuardCase { side: Side::Reply, agent, before: "", text };
            let denied = match guard.passed(case, &**counter).await {
                Ok(None) => continue,
                Ok(Some(_)) => GuardDenial { rule: guard.rule.clone(), part: Box::new(guard.of_reply.clone()) },
                Err(denied) => denied,
            };
            note(&denied.rule, &denied.part);
            return Err(denied.part);
        }
        Ok(())
    }
}

/// A reply under judgement: the text that is held back, and the end of what was shown.
struct HeldReply {
    guards: ReplyGuards,
    /// Text that nobody has judged yet.
    text: String,
    /// The last of what was shown.
    shown: String,
    window: usize,
}

impl HeldReply {
    fn new(guards: ReplyGuards) -> Self {
        let window = guards.guards.iter().map(|guard| guard.window_chars).max().unwrap_or_default();
        Self { guards, text: String::new(), shown: String::new(), window }
    }

    /// What may be seen now that this has happened.
    async fn take(&mut self, event: Event) -> Result<Vec<Event>, Box<PolicyPart>> {
        let mut passed = Vec::new();
        match event {
            Event::Text(text) => {
                self.text.push_str(&text);
                while let Some(end) = window_end(&self.text, self.window) {
                    let rest = self.text.split_off(end);
                    let window = std::mem::replace(&mut self.text, rest);
                    passed.extend(self.show(window).await?);
                }
            }
            Event::Progress(mut progress) => {
                if let Some(note) = &progress.note
                    && let Some(other) = self.guards.judge(note, "").await?
                {
                    progress.note = Some(other);
                }
                passed.push(Event::Progress(progress));
            }
            Event::Part(part) => {
                passed.extend(self.flush().await?);
                passed.push(Event::Part(self.part(part).await?));
            }
            Event::ToolCall(mut call) => {
                passed.extend(self.flush().await?);
                let said = match &call.outcome {
                    ToolOutcome::Running => value::words(&call.args),
                    ToolOutcome::Result(result) => value::words(result),
                    ToolOutcome::Error(message) => message.clone(),
                };
                if let Some(other) = self.guards.judge(&said, "").await? {
                    match &mut call.outcome {
                        // `other` is text, and arguments are an object: nothing of them is shown.
                        ToolOutcome::Running => call.args = Value::Object(serde_json::Map::new()),
                        ToolOutcome::Result(value) => *value = Value::String(other),
                        ToolOutcome::Error(message) => *message = other,
                    }
                }
                passed.push(Event::ToolCall(call));
            }
            Event::Findings(findings) => {
                let said = value::words_of(&findings);
                // Findings can't be read back from a text that was replaced, so they are left out whole.
                if self.guards.judge(&said, "").await?.is_none() {
                    passed.push(Event::Findings(findings));
                }
            }
            Event::Task(task) => passed.push(Event::Task(task)),
            Event::Ending(ending) => {
                passed.extend(self.flush().await?);
                passed.push(Event::Ending(self.ending(ending).await?));
            }
        }
        Ok(passed)
    }

    /// Shows everything that is held.
    async fn flush(&mut self) -> Result<Option<Event>, Box<PolicyPart>> {
        let text = std::mem::take(&mut self.text);
        if text.is_empty() { Ok(None) } else { self.show(text).await }
    }

    async fn show(&mut self, text: String) -> Result<Option<Event>, Box<PolicyPart>> {
        let before = std::mem::take(&mut self.shown);
        let text = self.guards.judge(&text, &before).await?.unwrap_or(text);
        let all = before + &text;
        // The end of what was shown is judged again with the next window: what a pattern fits may lie across both.
        let from = all.char_indices().rev().nth(GUARD_OVERLAP_CHARS - 1).map_or(0, |(at, _)| at);
        all[from..].clone_into(&mut self.shown);
        Ok((!text.is_empty()).then_some(Event::Text(text)))
    }

    async fn part(&self, part: Part) -> Result<Part, Box<PolicyPart>> {
        if let Part::Policy(refusal) = part {
            return Ok(Part::Policy(self.refusal(refusal).await?));
        }
        if let Some(text) = part.as_text() {
            return Ok(self.guards.judge(text, "").await?.map_or(part, Part::markdown));
        }
        let Some(words) = in_words(&part) else { return Ok(part) };
        match self.guards.judge(&words, "").await? {
            None => Ok(part),
            Some(other) => Ok(Part::markdown(other)),
        }
    }

    async fn ending(&self, ending: Ending) -> Result<Ending, Box<PolicyPart>> {
        match ending {
            Ending::Message(text) => {
                let other = self.guards.judge(&text, "").await?;
                Ok(Ending::Message(other.unwrap_or(text)))
            }
            Ending::Question(question) => Ok(Ending::Question(self.question(question).await?)),
            Ending::SignIn(mut wanted) => {
                wanted.question = self.question(wanted.question).await?;
                Ok(Ending::SignIn(wanted))
            }
            // An agent of somebody else writes these words as freely as an answer.
            Ending::Declined { reason } => Ok(Ending::Declined { reason: self.reason(reason).await? }),
            Ending::Failed { cause, reason } => Ok(Ending::Failed { cause, reason: self.reason(reason).await? }),
            Ending::Refused(refusal) => Ok(Ending::Refused(Box::new(self.refusal(*refusal).await?))),
            ending @ (Ending::Complete | Ending::Canceled) => Ok(ending),
        }
    }

    async fn reason(&self, reason: String) -> Result<String, Box<PolicyPart>> {
        Ok(self.guards.judge(&reason, "").await?.unwrap_or(reason))
    }

    /// A refusal of the agent's own making: its sentence, and all else of it that a person reads.
    async fn refusal(&self, mut refusal: PolicyPart) -> Result<PolicyPart, Box<PolicyPart>> {
        refusal.message = self.reason(refusal.message).await?;
        let PolicyPart { title, action_label, message_translations, data, .. } = &mut refusal;
        if title.is_none() && action_label.is_none() && message_translations.is_empty() && data.is_empty() {
            return Ok(refusal);
        }
        let said = value::words_of(&(&title, &action_label, &message_translations, &data));
        if self.guards.judge(&said, "").await?.is_some() {
            // They can't be read back from a text that was replaced, and a refusal is whole without them.
            (*title, *action_label) = (None, None);
            message_translations.clear();
            data.clear();
        }
        Ok(refusal)
    }

    async fn question(&self, mut question: Question) -> Result<Question, Box<PolicyPart>> {
        if !question.questions.is_empty() {
            let said = value::words_of(&question.questions);
            if self.guards.judge(&said, "").await?.is_some() {
                question.questions.clear();
            }
        }
        if let Some(other) = self.guards.judge(&question.text, "").await? {
            question.text = other;
        }
        Ok(question)
    }
}

/// Where a text may be cut that is as long as a window: behind the last sentence or line in it, else behind the last
/// word, else at its end. `None` while it is shorter.
fn window_end(text: &str, window: usize) -> Option<usize> {
    let (end, _) = text.char_indices().nth(window)?;
    let held = &text[..end];
    let sentence = held
        .char_indices()
        .zip(held.chars().skip(1).map(Some).chain([None]))
        .filter(|((_, c), next)| {
            *c == '\n' || (matches!(c, '.' | '!' | '?' | '。') && next.is_none_or(char::is_whitespace))
        })
        .map(|((at, c), _)| at + c.len_utf8())
        .last();
    let word = || held.char_indices().rfind(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8());
    Some(sentence.or_else(word).unwrap_or(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_ends_behind_a_sentence_a_word_or_itself() {
        assert_eq!(window_end("One. Two. Thr", 13), None);
        assert_eq!(window_end("One. Two. Three", 13), Some(9));
        assert_eq!(window_end("3.14 and more words", 10), Some(9));
        assert_eq!(window_end("ääääääää", 4), Some(8));
        assert_eq!(window_end("line\nline and so on", 12), Some(5));
    }
}
