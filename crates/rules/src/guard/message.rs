//! This module judges a message before its agent hears it: its words, what it attaches in words, and the earlier turns
//! that its caller brought.

use std::sync::Arc;

use forecourt_core::{Admitted, File, FileSource, Message, Part};
use futures::future::BoxFuture;

use super::{GuardCase, GuardCounter, GuardDenial, Guardrail, Side, value};

/// The guardrails that judge a message, in their order, and what they need to know of it.
pub struct GuardedMessage<'a> {
    /// The guardrails, in the order in which they judge.
    pub guards: &'a [Arc<Guardrail>],
    /// Counts what they say.
    pub counter: &'a dyn GuardCounter,
    /// Whether its earlier turns came with it, so that nobody has judged them.
    pub brings_history: bool,
}

impl<'a> GuardedMessage<'a> {
    /// The message as its agent may hear it. Words of the current turn may be replaced; of everything else, what would
    /// have to be is denied: then it is given back with the denial.
    pub fn judge(self, mut admitted: Admitted) -> BoxFuture<'a, Result<Admitted, (Box<Admitted>, GuardDenial)>> {
        Box::pin(async move {
            for guard in self.guards.iter().filter(|guard| guard.judges(Side::Message)) {
                admitted = self.judge_by(guard, admitted).await?;
            }
            Ok(admitted)
        })
    }

    async fn judge_by(&self, guard: &Guardrail, admitted: Admitted) -> Result<Admitted, (Box<Admitted>, GuardDenial)> {
        let agent = admitted.card().handle().clone();
        let message = admitted.message();
        let (words, beside) = (message.text(), self.beside(message));
        let case = |text| GuardCase { side: Side::Message, agent: &agent, before: "", text };
        if !beside.is_empty() {
            match guard.passed(case(&beside), self.counter).await {
                Ok(None) => {}
                // Only the words of the current turn can be replaced; a file or an earlier turn can't, so it is denied.
                Ok(Some(_)) => {
                    let denied = GuardDenial { rule: guard.rule.clone(), part: Box::new(guard.of_message.clone()) };
                    return Err((Box::new(admitted), denied));
                }
                Err(denied) => return Err((Box::new(admitted), denied)),
            }
        }
        if words.is_empty() {
            return Ok(admitted);
        }
        match guard.passed(case(&words), self.counter).await {
            Ok(None) => Ok(admitted),
            Ok(Some(other)) => {
                let rest = admitted.message().parts.iter().filter(|part| part.as_text().is_none()).cloned();
                let parts = std::iter::once(Part::text(other)).chain(rest).collect();
                Ok(admitted.with_parts(parts))
            }
            Err(denied) => Err((Box::new(admitted), denied)),
        }
    }

    /// What an agent may read beside the words of the current turn.
    fn beside(&self, message: &Message) -> String {
        let mut texts: Vec<String> = message.parts.iter().filter_map(in_words).collect();
        texts.extend(message.answers.iter().map(value::words_of));
        if self.brings_history {
            // What the agent is said to have answered is the caller's word, too.
            let said = message.history.iter().flat_map(|turn| &turn.parts);
            texts.extend(said.filter_map(|part| part.as_text().map(str::to_owned).or_else(|| in_words(part))));
        }
        texts.join("\n")
    }
}

/// The words of a part that is no text.
pub(super) fn in_words(part: &Part) -> Option<String> {
    match part {
        Part::Text(_) | Part::Policy(_) => None,
        Part::File(File { name, mime, source: FileSource::Inline(bytes), .. }) => {
            let is_json = mime.starts_with("application/json");
            let mut words = name.clone().unwrap_or_default();
            if is_json || mime.starts_with("text/") {
                words = format!("{words}\n{}", String::from_utf8_lossy(bytes));
            }
            // Escaped, a word could hide.
            if let Some(value) = serde_json::from_slice(bytes).ok().filter(|_| is_json) {
                words = format!("{words}\n{}", value::words(&value));
            }
            Some(words)
        }
        other => Some(value::words_of(other)),
    }
}
