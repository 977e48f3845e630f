//! A later try of the same work, as those hear it who heard an earlier one: what they heard already is left out for as
//! long as the later try says the same. Once it says something else, they are told that the work began anew, and get
//! all of it from there.
//!
//! The answer itself is that of the later try alone; this is about the log.

use std::collections::VecDeque;

use forecourt_core::{Event, File, Part, Progress};

/// What stands between what an earlier try said and a later one that says something else, for readers of the text
/// alone: two words must not run into one.
const GAP: &str = "\n\n";

/// The sign that work goes on behind a lost node.
pub(crate) fn going_on() -> Event {
    note(None, "The node that worked on this was lost. Another one goes on.")
}

/// The sign that what follows takes the place of what was said before.
fn anew() -> Event {
    note(Some(0.0), "The work began anew: what follows takes the place of what was said so far.")
}

fn note(fraction: Option<f64>, note: &str) -> Event {
    Event::Progress(Progress { fraction, note: Some(note.to_owned()) })
}

/// What of an earlier try a later one has not said yet.
#[derive(Default)]
pub(crate) struct CatchUp {
    /// The text that was heard, and how much of it was said again.
    heard: String,
    again: usize,
    /// The other events that were heard and were not said again, oldest first.
    others: VecDeque<Event>,
    /// What the later try said so far, in case that it says something else after all.
    held: Vec<Event>,
    is_over: bool,
}

impl CatchUp {
    /// After the events of one turn that earlier tries have logged, in their order.
    pub(crate) fn after(earlier: Vec<Event>) -> Self {
        let anew = anew();
        let from = earlier.iter().rposition(|event| *event == anew).map_or(0, |place| place + 1);
        let mut rest = earlier.into_iter().skip(from).peekable();
        if from > 0 {
            rest.next_if_eq(&Event::Text(GAP.to_owned()));
        }
        let mut this = Self::default();
        for event in rest {
            match event {
                Event::Text(text) => this.heard.push_str(&text),
                Event::Progress(_) | Event::Task(_) | Event::Ending(_) => {}
                other => this.others.push_back(other),
            }
        }
        this.is_over = this.has_caught_up();
        this
    }

    /// The next file that was heard of and that the later try has not named yet.
    pub(crate) fn next_file(&self) -> Option<&File> {
        self.others.iter().find_map(|event| match event {
            Event::Part(Part::File(file)) => Some(file),
            _ => None,
        })
    }

    /// What is to be logged of the events that a later try said.
    pub(crate) fn take(&mut self, events: Vec<Event>) -> Vec<Event> {
        if self.is_over {
            return events;
        }
        let mut told = Vec::new();
        for event in events {
            match self.is_over {
                true => told.push(event),
                false => self.take_one(event, &mut told),
            }
        }
        told
    }

    fn take_one(&mut self, event: Event, told: &mut Vec<Event>) {
        let goes_on = match &event {
            // Signs of progress tell of now: while nothing new is said there is nothing to show.
            Event::Progress(_) | Event::Task(_) => return,
            // What is not said again by now is not part of this answer.
            Event::Ending(_) => self.has_caught_up(),
            Event::Text(text) => self.say_again(text, told),
            other => self.others.front() == Some(other) && self.others.pop_front().is_some(),
        };
        if matches!(event, Event::Ending(_)) {
            if !goes_on {
                self.begin_anew(told);
            }
            self.is_over = true;
            told.push(event);
            return;
        }
        self.held.push(event);
        if !goes_on {
            self.begin_anew(told);
        }
        self.is_over |= self.has_caught_up();
        if self.is_over {
            self.held = Vec::new();
        }
    }

    /// Whether `text` goes on with what was heard; what is new of it is told.
    fn say_again(&mut self, text: &str, told: &mut Vec<Event>) -> bool {
        let rest = &self.heard[self.again..];
        if rest.starts_with(text) {
            self.again += text.len();
            return true;
        }
        let Some(new) = text.strip_prefix(rest) else { return false };
        told.push(Event::Text(new.to_owned()));
        self.heard.push_str(new);
        self.again = self.heard.len();
        true
    }

    fn has_caught_up(&self) -> bool {
        self.again == self.heard.len() && self.others.is_empty()
    }

    fn begin_anew(&mut self, told: &mut Vec<Event>) {
        told.push(anew());
        if !self.heard.is_empty() {
            told.push(Event::Text(GAP.to_owned()));
        }
        told.append(&mut self.held);
        self.is_over = true;
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Ending;

    use super::*;

    fn text(text: &str) -> Event {
        Event::Text(text.to_owned())
    }

    fn link(url: &str) -> Event {
        let link = forecourt_core::Link { url: url.to_owned(), title: None, description: None };
        Event::Part(Part::Link(link))
    }

    fn end() -> Event {
        Event::Ending(Ending::Complete)
    }

    /// What is logged of `later`, one event at a time, behind `earlier`.
    fn logged(earlier: &[Event], later: &[Event]) -> Vec<Event> {
        let mut catch_up = CatchUp::after(earlier.to_vec());
        later.iter().flat_map(|event| catch_up.take(vec![event.clone()])).collect()
    }

    #[test]
    fn what_is_said_again_is_told_once_wherever_its_pieces_end() {
        let earlier = [text("Hel"), link("a"), going_on(), text("lo")];
        for later in [
            vec![text("Hello"), link("a"), text(" world"), end()],
            vec![text("H"), text("ello wor"), link("a"), text("ld"), end()],
            vec![link("a"), note(Some(0.5), "half"), text("Hello world"), end()],
        ] {
            let told = logged(&earlier, &later);
            let words: String =
                told.iter().filter_map(|e| if let Event::Text(t) = e { Some(t.as_str()) } else { None }).collect();
            assert_eq!(words, " world");
            assert!(!told.contains(&link("a")) && !told.contains(&anew()), "{told:?}");
            assert_eq!(told.last(), Some(&end()));
        }
    }

    #[test]
    fn what_is_something_else_is_told_from_its_beginning_behind_a_sign() {
        let earlier = [text("Hello"), link("a")];
        for later in [
            vec![text("Hel"), text("p"), end()],
            vec![text("Hello"), link("b"), text("!"), end()],
            vec![text("Hello"), end()],
            vec![end()],
            vec![text("Hello, you"), link("b"), end()],
        ] {
            let told = logged(&earlier, &later);
            let sign = told.iter().position(|event| *event == anew()).expect("a sign");
            assert_eq!(told[sign + 1], text(GAP));
            assert_eq!(told[sign + 2..], later);
        }
    }

    #[test]
    fn a_third_try_is_held_against_what_the_second_one_said() {
        let earlier = [text("Hello"), anew(), text(GAP), text("Good "), link("a")];
        assert_eq!(logged(&earlier, &[text("Good day"), link("a"), end()]), [text("day"), end()]);
        let told = logged(&earlier, &[text("Hello"), end()]);
        assert_eq!(told, [anew(), text(GAP), text("Hello"), end()]);
    }

    #[test]
    fn behind_nothing_everything_is_new() {
        let later = [note(None, "half"), text("a"), end()];
        assert_eq!(logged(&[], &later), later);
        assert_eq!(logged(&[going_on()], &later), later);
    }
}
