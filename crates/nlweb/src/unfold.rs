//! The events of an answer into items with their places, as they come. NLWeb 4.1.1, 6.1.
//!
//! Streams send each item at once; whole answers sort them. An item's place is where it stands in the
//! list of results: a summary that was begun early has its place before the items and may come last.

use forecourt_core::findings::ItemFindings;
use forecourt_core::{Ending, Event, Findings, Handle, LazyJson, PolicyPart, Question, TaskId};
use forecourt_sentences::Sentences;

use crate::action::Action;
use crate::item::{self, PartItems, Shelf};
use crate::wire::{Dialect, Format, Style};

/// Items that are named when nothing else was said.
const NAMED_ITEMS_MAX: usize = 3;

/// What comes of one event.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    /// An item at its place.
    Item(usize, LazyJson),
    /// Something that can't be shown. The answer goes on.
    Trouble(String),
}

/// How an answer ends.
#[derive(Debug, PartialEq)]
pub(crate) enum End {
    /// It is whole.
    Answer,
    /// Nothing was found; the words say what might help.
    Nothing(String),
    /// Something is to be known first.
    Question(Question),
    /// It is declined.
    Refused(Box<PolicyPart>),
    /// It ended like this, without an answer.
    Unanswered(Box<Ending>),
}

/// An answer on its way.
pub(crate) struct Unfolding<'a> {
    style: Style,
    say: Sentences,
    shelf: Shelf<'a>,
    text: String,
    findings: Option<Findings>,
    /// The place of the summary, once it is known that there will be one.
    summary_at: Option<usize>,
    summarized: bool,
    next: usize,
    /// Items of the agent, the summary not counted.
    given: usize,
    /// Items before them.
    skipped: usize,
    /// The first of them.
    named: Vec<LazyJson>,
}

impl<'a> Unfolding<'a> {
    /// An answer that nothing is known of.
    pub(crate) fn new(style: Style, say: Sentences, shelf: Shelf<'a>) -> Self {
        Self {
            style,
            say,
            shelf,
            text: String::new(),
            findings: None,
            summary_at: None,
            summarized: false,
            next: 0,
            given: 0,
            skipped: 0,
            named: Vec::new(),
        }
    }

    /// What one event brings. Endings are for [`Self::finish`].
    pub(crate) fn take(&mut self, event: Event) -> Vec<Piece> {
        match event {
            Event::Text(text) => {
                self.text.push_str(&text);
                // Its place comes before the items that follow, though its text is whole only at the end (NLWeb 6.1).
                if self.style.summarize && !self.text.trim().is_empty() {
                    self.reserve();
                }
                Vec::new()
            }
            Event::Findings(findings) => self.found(*findings),
            Event::Part(part) => match self.shelf.items(part) {
                PartItems::Items(items) => items.into_iter().filter_map(|item| self.place(item)).collect(),
                PartItems::Not(why) => vec![Piece::Trouble(why)],
            },
            // NLWeb has no words for these on the way.
            Event::ToolCall(_) | Event::Progress(_) | Event::Task(_) | Event::Ending(_) => Vec::new(),
        }
    }

    /// Whether there is something to tell by now. An honest "nothing found" is none.
    pub(crate) fn is_answer(&self) -> bool {
        match &self.findings {
            Some(findings) => findings.count > 0 || self.given > 0,
            None => self.given > 0 || !self.text.trim().is_empty(),
        }
    }

    /// The last pieces, and how it ends.
    pub(crate) fn finish(&mut self, ending: Ending) -> (Vec<Piece>, End) {
        match ending {
            Ending::Complete => self.whole(),
            Ending::Message(text) => {
                self.text.push_str(&text);
                self.whole()
            }
            Ending::Question(question) => (Vec::new(), End::Question(question)),
            Ending::Refused(part) => (Vec::new(), End::Refused(part)),
            ending @ (Ending::SignIn(_) | Ending::Declined { .. } | Ending::Failed { .. } | Ending::Canceled) => {
                (Vec::new(), End::Unanswered(Box::new(ending)))
            }
        }
    }

    /// The answer in words, where the layout has a place for them: [`Self::said`].
    pub(crate) fn worded(&self) -> String {
        match self.style.format {
            Format::ConversationalSearch => String::new(),
            Format::ChatgptApp => self.said(),
        }
    }

    /// The answer in words, for a model: the summary, else what the agent said, else what there is.
    pub(crate) fn said(&self) -> String {
        match (&self.findings, self.text.trim()) {
            (Some(findings), _) if !findings.summary.is_empty() => findings.whole_summary(),
            (_, "") => self.listed(),
            (_, text) => text.to_owned(),
        }
    }

    /// What a search says about its answer.
    pub(crate) fn findings(&self) -> Option<&Findings> {
        self.findings.as_ref()
    }

    fn listed(&self) -> String {
        let unnamed = self.say.result_unnamed();
        let names: Vec<&str> = self.named.iter().map(|item| item::name(item).unwrap_or(&unnamed)).collect();
        let (names, known) = (names.join(", "), names.len());
        match self.given {
            0 => self.say.results_none(),
            given if given > known => self.say.results_such_as(given, &names),
            given => self.say.results_named(given, &names),
        }
    }

    fn found(&mut self, findings: Findings) -> Vec<Piece> {
        let is_wanted = self.style.summarize && findings.count > 0 && !self.summarized;
        let summary = is_wanted.then(|| findings.whole_summary());
        self.findings = Some(findings);
        summary.filter(|text| !text.is_empty()).map(|text| self.summarize(&text)).into_iter().collect()
    }

    /// Keeps a place for the summary: the next one.
    fn reserve(&mut self) -> usize {
        let at = self.summary_at.unwrap_or(self.next);
        if self.summary_at.replace(at).is_none() {
            self.next += 1;
        }
        at
    }

    fn summarize(&mut self, text: &str) -> Piece {
        self.summarized = true;
        let at = self.reserve();
        Piece::Item(at, self.spelled(item::summary(text, self.style.dialect).into(), None, at))
    }

    fn place(&mut self, item: LazyJson) -> Option<Piece> {
        if self.style.limit.is_some_and(|limit| self.given >= limit) {
            return None;
        }
        if self.skipped < self.style.skip {
            self.skipped += 1;
            return None;
        }
        // Findings name the items of the whole answer, those that are passed over included.
        let place = self.skipped + self.given;
        let told = self.findings.as_ref().and_then(|findings| findings.items.get(place).cloned());
        let item = match &told {
            Some(told) => item::with_findings(item, told),
            None => item,
        };
        if self.named.len() < NAMED_ITEMS_MAX {
            self.named.push(item.clone());
        }
        let at = self.next;
        (self.next, self.given) = (at + 1, self.given + 1);
        Some(Piece::Item(at, self.spelled(item, told.as_ref(), at)))
    }

    fn spelled(&self, item: LazyJson, told: Option<&ItemFindings>, at: usize) -> LazyJson {
        match self.style.dialect {
            Dialect::V0_55 => item,
            Dialect::V0_54 => item::in_054(item, self.shelf.agent, told, at),
        }
    }

    fn whole(&mut self) -> (Vec<Piece>, End) {
        if self.findings.as_ref().is_some_and(|findings| findings.count == 0) && self.given == 0 {
            return (Vec::new(), End::Nothing(self.said()));
        }
        if self.style.skip > 0 && self.given == 0 && self.skipped > 0 {
            return (Vec::new(), End::Nothing(format!("There are no results behind the first {}.", self.skipped)));
        }
        let text = self.text.trim().to_owned();
        let has_words = !text.is_empty();
        let last = match (self.style.summarize, self.given) {
            _ if self.summarized || !has_words => None,
            (true, _) => Some(self.summarize(&text)),
            (false, 0) if self.style.format == Format::ConversationalSearch => {
                let at = self.reserve();
                Some(Piece::Item(at, self.spelled(item::words(&text).into(), None, at)))
            }
            (false, _) => None,
        };
        (last.into_iter().collect(), End::Answer)
    }
}

/// What an unfolding needs to know of the agent, owned: for streams.
pub(crate) struct Whose {
    pub(crate) agent: Handle,
    pub(crate) base: String,
    pub(crate) task: Option<TaskId>,
}

impl Whose {
    /// The shelf of this agent.
    pub(crate) fn shelf<'a>(&'a self, actions: &'a [Action]) -> Shelf<'a> {
        Shelf { agent: &self.agent, base: &self.base, task: self.task.as_ref(), actions }
    }
}
