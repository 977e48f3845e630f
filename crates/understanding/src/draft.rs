//! A question while it is put together: what the rules found, and what is left as text.

use std::ops::Range;

use forecourt_vocabulary::{Quantity, Vocabulary};

use crate::contradiction::contradictions;
use crate::filter::{Filter, Test};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::limits::{FILTERS_MAX, NOT_UNDERSTOOD_MAX};
use crate::parsed_question::ParsedQuestion;
use crate::quantity;
use crate::reader::Reader;
use crate::scope::{QuestionScope, ReadingAids};

/// A question while the rules go over what is left of it, one after the other.
pub(crate) struct Draft<'k> {
    pub(crate) known: &'k dyn QuestionScope,
    aids: ReadingAids<'k>,
    pub(crate) out: ParsedQuestion,
    /// Filters that hold only if some item keeps them all beside the others.
    wishes: Vec<Filter>,
    /// What is left without the words of wishes.
    beside_wishes: String,
}

impl<'k> Draft<'k> {
    /// Sorts what the rules found into filters, an order, a count and notes, and cuts their words out of the text.
    /// What is over [`FILTERS_MAX`] stays text.
    pub(crate) fn new(aids: ReadingAids<'k>, found: Vec<UnderstoodPart>, reader: &Reader<'_>) -> Self {
        let mut parts = Parts::default();
        let (mut cuts, mut all_cuts): (Vec<Range<usize>>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
        // Known before anything is taken: in `cheap, under 20 euros` the level comes first and the limit counts.
        let limited: Vec<Quantity> = found.iter().filter_map(limited_quantity).collect();
        for one in found {
            let tokens = one.tokens.clone();
            let is_wish = matches!(one.meaning, FoundMeaning::Wishes(_));
            let keeps_words = one.keeps_words;
            if parts.take(one.meaning, reader, &tokens, &limited) && (!keeps_words || is_wish) {
                all_cuts.push(reader.bytes(tokens.clone()));
                if !keeps_words {
                    cuts.push(reader.bytes(tokens));
                }
            }
        }
        let (text, beside_wishes) = (cut_out(reader.text, &cuts), cut_out(reader.text, &all_cuts));
        let (filters, notes) = parts.filters(reader);
        let Parts { not_understood, order, count, wishes, .. } = parts;
        let out = ParsedQuestion { text, filters, notes, not_understood, order, count, contradictions: Vec::new() };
        Self { known: aids.known, aids, out, wishes, beside_wishes }
    }

    pub(crate) fn vocabulary(&self) -> &'k Vocabulary {
        self.aids.vocabulary
    }

    /// Whether so many filters more are no more than a query can have. What comes after that stays text.
    pub(crate) fn has_room(&self, filters: usize) -> bool {
        self.out.filters.len() + filters <= FILTERS_MAX
    }

    pub(crate) fn cut(&mut self, range: Range<usize>) {
        self.out.text.replace_range(range, " ");
    }

    pub(crate) fn finish(mut self, original: &str) -> ParsedQuestion {
        let says_more = !self.out.filters.is_empty() || self.out.order.is_some() || self.out.count.is_some();
        // A question of which nothing was understood is searched for as it was written, spaces and marks included.
        if !says_more && self.out.not_understood.is_empty() {
            self.out.text = original.to_owned();
        } else {
            self.out.text = tidied(&self.out.text);
        }
        // Nothing but limits that can't be checked: their words are all there is to look for.
        if self.out.text.is_empty() && !says_more {
            self.out.text = original.to_owned();
        }
        // Wishes are tried before contradictions are looked for: one that no item keeps is no limit and contradicts
        // nothing.
        self.wish();
        if !self.out.filters.is_empty() {
            self.out.contradictions = contradictions(&self.out.text, &self.out.filters, self.aids);
        }
        self.out
    }

    /// Wishes hold where any item keeps them beside all limits.
    fn wish(&mut self) {
        let wishes = std::mem::take(&mut self.wishes);
        if wishes.is_empty() || !self.has_room(wishes.len()) {
            return;
        }
        let all: Vec<Filter> = self.out.filters.iter().cloned().chain(wishes).collect();
        if self.known.finds(&self.beside_wishes, &all) {
            self.out.filters = all;
        }
    }
}

/// The quantity that a limit is of.
fn limited_quantity(found: &UnderstoodPart) -> Option<Quantity> {
    match &found.meaning {
        FoundMeaning::Limits(Rank::Quantity(quantity), _) => Some(*quantity),
        _ => None,
    }
}

/// What was found, by what it is.
#[derive(Default)]
struct Parts {
    limits: Vec<(Rank, Filter)>,
    wishes: Vec<Filter>,
    not_understood: Vec<String>,
    order: Option<crate::filter::SortOrder>,
    count: Option<usize>,
}

impl Parts {
    /// Takes one finding. Returns whether there was room for it; without, its words stay text.
    fn take(
        &mut self,
        meaning: FoundMeaning,
        reader: &Reader<'_>,
        tokens: &Range<usize>,
        limited: &[Quantity],
    ) -> bool {
        match meaning {
            FoundMeaning::Limits(rank, filters) => self.limit(rank, filters),
            FoundMeaning::Wishes(filters) => {
                self.wishes.extend(filters);
                true
            }
            FoundMeaning::Level(quantity, is_high) => self.level(reader, quantity, is_high, tokens, limited),
            // A second order stays text, unless it is the same one: results have one order.
            FoundMeaning::Order(order) => self.order.get_or_insert_with(|| order.clone()) == &order,
            FoundMeaning::Count(count) => {
                self.count = self.count.or(Some(count));
                true
            }
            FoundMeaning::NotUnderstood => self.tell(reader.written(tokens.clone())),
        }
    }

    fn limit(&mut self, rank: Rank, filters: Vec<Filter>) -> bool {
        let has_room = self.limits.len() + filters.len() <= FILTERS_MAX;
        if has_room {
            self.limits.extend(filters.into_iter().map(|filter| (rank, filter)));
        }
        has_room
    }

    /// "Cheap" says something only where nothing else does, and where items can be judged by it.
    fn level(
        &mut self,
        reader: &Reader<'_>,
        quantity: Quantity,
        is_high: bool,
        tokens: &Range<usize>,
        limited: &[Quantity],
    ) -> bool {
        if limited.contains(&quantity) || reader.is_name() {
            return false;
        }
        match quantity::level(reader, quantity, is_high) {
            Some(filter) => self.limit(Rank::Quantity(quantity), vec![filter]),
            None => {
                if quantity == Quantity::Price && reader.states_facts() {
                    self.tell(reader.written(tokens.clone()));
                }
                false
            }
        }
    }

    fn tell(&mut self, words: &str) -> bool {
        let has_room = self.not_understood.len() < NOT_UNDERSTOOD_MAX;
        if has_room && !self.not_understood.iter().any(|other| other == words) {
            self.not_understood.push(words.to_owned());
        }
        has_room
    }

    /// The filters in a fixed order, and the notes about them for the answer.
    fn filters(&mut self, reader: &Reader<'_>) -> (Vec<Filter>, Vec<String>) {
        let mut limits = std::mem::take(&mut self.limits);
        // By rank and not by place, so that two wordings of one question have the same filters in the same order.
        limits.sort_by_key(|(rank, _)| *rank);
        let mut notes: Vec<String> = Vec::new();
        for (rank, filter) in &limits {
            let note = match rank {
                Rank::Quantity(quantity) => reader.say(&format!("{}_note", quantity.id()), &[]),
                _ if matches!(filter.test, Test::Without { .. }) => reader.say("without_note", &[]),
                _ => continue,
            };
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        (limits.into_iter().map(|(_, filter)| filter).collect(), notes)
    }
}

/// A text without some of its parts, which are in its order.
fn cut_out(text: &str, parts: &[Range<usize>]) -> String {
    let mut left = text.to_owned();
    // From behind: a cut moves all ranges that come after it.
    parts.iter().rev().for_each(|range| left.replace_range(range.clone(), " "));
    left
}

/// A text without the gaps that cuts leave.
fn tidied(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = [" ,", " ?", " !", " ."].iter().fold(text, |text, gap| text.replace(gap, gap.trim_start()));
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '.' | '-')).to_owned()
}
