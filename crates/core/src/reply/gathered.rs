//! This module gathers the events of a reply into the parts that non-streaming protocols render.

use super::{CollectedReply, Ending, Event};
use crate::findings::Findings;
use crate::part::{Part, Text, ToolCall};

/// The running sum of a reply's events.
#[derive(Debug, Clone, Default)]
pub struct ReplyAccumulator {
    parts: Vec<Part>,
    /// Where in `parts` the words stand that the next fragment may go on with.
    words: Option<usize>,
    /// Whether something that is shown in its place was said behind them.
    is_behind: bool,
    findings: Option<Box<Findings>>,
}

impl ReplyAccumulator {
    /// Adds one event; gives back the ending when it was that.
    pub fn take(&mut self, event: Event) -> Option<Ending> {
        match event {
            Event::Text(fragment) => self.take_text(&fragment),
            Event::Part(part) => {
                self.is_behind = true;
                self.parts.push(part);
            }
            Event::Findings(findings) => self.findings = Some(findings),
            Event::ToolCall(call) => self.take_call(call),
            Event::Progress(_) | Event::Task(_) => {}
            Event::Ending(Ending::Message(text)) => {
                self.take_text(&text);
                return Some(Ending::Message(text));
            }
            Event::Ending(ending) => return Some(ending),
        }
        None
    }

    /// Words go on where they stopped, whatever came meanwhile: a part may come in the middle of a sentence. A new
    /// paragraph behind a part stands behind it.
    fn take_text(&mut self, fragment: &str) {
        if fragment.is_empty() {
            return;
        }
        let goes_on = self.words.filter(|_| !self.is_behind || !fragment.starts_with("\n\n"));
        match goes_on.and_then(|at| self.parts.get_mut(at)) {
            Some(Part::Text(Text { content, .. })) => content.push_str(fragment),
            _ => {
                self.words = Some(self.parts.len());
                self.is_behind = false;
                self.parts.push(Part::markdown(fragment));
            }
        }
    }

    fn take_call(&mut self, call: ToolCall) {
        let same = |part: &&mut Part| matches!(part, Part::ToolCall(earlier) if earlier.id == call.id);
        // In its old place, so that calls stay in the order in which they began.
        match self.parts.iter_mut().rev().find(same) {
            Some(slot) => *slot = Part::ToolCall(call),
            None => self.parts.push(Part::ToolCall(call)),
        }
    }

    /// The parts so far, with the ending.
    pub fn finish(self, ending: Ending) -> CollectedReply {
        CollectedReply { findings: self.findings, ..CollectedReply::new(self.parts, ending) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn gathered(events: Vec<Event>) -> Vec<Part> {
        let mut gathered = ReplyAccumulator::default();
        for event in events {
            assert_eq!(gathered.take(event), None);
        }
        gathered.finish(Ending::Complete).parts
    }

    fn text(text: &str) -> Event {
        Event::Text(text.to_owned())
    }

    #[test]
    fn words_and_parts_stand_in_the_order_in_which_they_came() {
        let part = |n: u8| Part::data(json!(n));
        let event = |n: u8| Event::Part(part(n));
        assert_eq!(gathered(vec![event(1), text("a"), text("b")]), [part(1), Part::markdown("ab")]);
        let parts = gathered(vec![text("a"), event(1), text("\n\nb"), text("c\n\nd"), event(2)]);
        assert_eq!(parts, [Part::markdown("a"), part(1), Part::markdown("\n\nbc\n\nd"), part(2)]);
        assert_eq!(CollectedReply::new(parts, Ending::Complete).text(), "a\n\nbc\n\nd");
    }

    #[test]
    fn a_sentence_is_not_cut_by_what_comes_in_the_middle_of_it() {
        let part = Part::data(json!(1));
        assert_eq!(gathered(vec![text("So"), Event::Part(part.clone()), text("up")]), [Part::markdown("Soup"), part]);
        let call = ToolCall {
            id: "1".to_owned(),
            name: "t".to_owned(),
            args: json!({}),
            outcome: crate::part::ToolOutcome::Running,
        };
        let parts = gathered(vec![text("a"), Event::ToolCall(call.clone()), text("\n\nb")]);
        assert_eq!(parts, [Part::markdown("a\n\nb"), Part::ToolCall(call)]);
    }
}
