//! This module gathers the events of a reply into the parts that non-streaming protocols render.

use super::{CollectedReply, Ending, Event};
use crate::findings::Findings;
use crate::part::{Part, ToolCall};

/// The running sum of a reply's events.
#[derive(Debug, Clone, Default)]
pub struct ReplyAccumulator {
    text: String,
    others: Vec<Part>,
    findings: Option<Box<Findings>>,
}

impl ReplyAccumulator {
    /// Adds one event; gives back the ending when it was that.
    pub fn take(&mut self, event: Event) -> Option<Ending> {
        match event {
            Event::Text(fragment) => self.text.push_str(&fragment),
            Event::Part(part) => self.others.push(part),
            Event::Findings(findings) => self.findings = Some(findings),
            Event::ToolCall(call) => self.take_call(call),
            Event::Progress(_) | Event::Task(_) => {}
            Event::Ending(Ending::Message(text)) => {
                self.text.push_str(&text);
                return Some(Ending::Message(text));
            }
            Event::Ending(ending) => return Some(ending),
        }
        None
    }

    fn take_call(&mut self, call: ToolCall) {
        let same = |part: &&mut Part| matches!(part, Part::ToolCall(earlier) if earlier.id == call.id);
        // In its old place, so that calls stay in the order in which they began.
        match self.others.iter_mut().rev().find(same) {
            Some(slot) => *slot = Part::ToolCall(call),
            None => self.others.push(Part::ToolCall(call)),
        }
    }

    /// The parts so far, with the ending.
    pub fn finish(self, ending: Ending) -> CollectedReply {
        let text = (!self.text.is_empty()).then(|| Part::markdown(self.text));
        let parts = text.into_iter().chain(self.others).collect();
        CollectedReply { findings: self.findings, ..CollectedReply::new(parts, ending) }
    }
}
