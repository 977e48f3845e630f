//! One answer of a program, read value by value: what it says, and what it says beside it.

use std::sync::Arc;

use forecourt_core::{Ending, Event};
use serde_json::{Map, Value};

use super::artifacts::{ARTIFACT, OpenArtifacts};
use super::asides::Asides;
use super::keys::UnknownKeys;
use super::spending::BudgetWatch;
use crate::answer;

/// The key of notes, which are taken out before where they are kept.
const NOTE: &str = "journal";

/// Reads one answer.
pub(crate) struct AnswerReader {
    /// What the URLs of a refusal are bound to.
    host: Arc<str>,
    keys: Arc<UnknownKeys>,
    asides: Asides,
    artifacts: OpenArtifacts,
    /// Whether any value meant something.
    is_understood: bool,
    /// Whether a value meant nothing at all.
    has_meaningless: bool,
}

impl AnswerReader {
    pub(super) fn new(host: Arc<str>, keys: Arc<UnknownKeys>, asides: Asides) -> Self {
        let artifacts = OpenArtifacts::default();
        Self { host, keys, asides, artifacts, is_understood: false, has_meaningless: false }
    }

    /// Asks whether the program may be asked at all. Before anything else.
    ///
    /// # Errors
    /// What the agent may use of models is used up.
    pub(crate) async fn admit(&mut self) -> Result<(), Ending> {
        self.asides.admit().await
    }

    /// Tells when the agent has used more of models than it may. Of an answer that was admitted.
    pub(crate) fn watch(&self) -> BudgetWatch {
        self.asides.watch()
    }

    /// Has what models used be counted, as far as it was read; behind the events of what was read, so that an answer
    /// which is whole with them stays so.
    pub(crate) fn count(&self) {
        self.asides.count();
    }

    /// The events of a value: none where it means nothing, and an ending where it can't be read.
    pub(crate) fn read(&mut self, value: Value) -> Vec<Event> {
        let mut events = Vec::new();
        match value {
            Value::Array(values) => {
                for value in values {
                    self.read_one(value, &mut events);
                    if matches!(events.last(), Some(Event::Ending(_))) {
                        break;
                    }
                }
            }
            value => self.read_one(value, &mut events),
        }
        events
    }

    fn read_one(&mut self, value: Value, events: &mut Vec<Event>) {
        let value = match value {
            Value::Object(fields) => match self.take_beside(fields, events) {
                Ok(Some(fields)) => Value::Object(fields),
                Ok(None) => return,
                Err(ending) => return events.push(Event::Ending(ending)),
            },
            // As one value, so that a list within a list stays an error.
            Value::Array(values) => Value::Array(vec![Value::Array(values)]),
            other => other,
        };
        self.is_understood = true;
        events.extend(answer::read(value, &self.host));
        if let Some(Event::Ending(ending)) = events.last()
            && is_good(ending)
        {
            let ending = events.pop();
            events.extend(self.artifacts.finish().into_iter().map(Event::Part));
            events.extend(ending);
        }
    }

    /// Takes out of fields what they say beside the answer; what they say of it, if anything.
    fn take_beside(
        &mut self,
        mut fields: Map<String, Value>,
        events: &mut Vec<Event>,
    ) -> Result<Option<Map<String, Value>>, Ending> {
        let mut had_any = self.asides.take(&mut fields)?;
        if let Some(piece) = fields.remove(ARTIFACT) {
            had_any = true;
            events.extend(self.artifacts.take(piece)?.map(Event::Part));
        }
        let is_known = self.keys.has_known(&fields);
        if !is_known && fields.contains_key(NOTE) {
            // Whoever notes waits for our word, and would wait for ever.
            return Err(answer::unreadable("`journal` is only for agents with `on_lost = \"attach\"`"));
        }
        self.is_understood |= had_any;
        self.has_meaningless |= !is_known && !had_any;
        Ok(is_known.then_some(fields))
    }

    /// Bytes of files that are not whole yet, which nobody can take.
    pub(crate) fn open_bytes(&self) -> usize {
        self.artifacts.open_bytes()
    }

    /// Lets go of what was read and not told yet: nobody wants the answer any more.
    pub(crate) fn let_go(&mut self) {
        self.artifacts.clear();
    }

    /// Takes what counts of a line even where nobody wants the answer any more.
    pub(crate) fn take_costs(&mut self, fields: &mut Map<String, Value>) {
        self.asides.take_costs(fields);
    }

    /// The last events of an answer that ended without an ending, in good order: it is whole, unless nothing of it was
    /// understood.
    pub(crate) fn end(&mut self) -> Vec<Event> {
        if self.has_meaningless && !self.is_understood {
            return vec![Event::Ending(answer::unreadable("no value of the answer has a key that means something"))];
        }
        let files = self.artifacts.finish().into_iter().map(Event::Part);
        files.chain([Event::Ending(Ending::Complete)]).collect()
    }
}

/// Whether an answer ends so that what it said stands.
fn is_good(ending: &Ending) -> bool {
    matches!(ending, Ending::Complete | Ending::Message(_) | Ending::Question(_))
}
