//! A question while it is put together: what the rules found, and what is left as text.

use std::ops::Range;

use forecourt_vocabulary::{PhraseMeaning, Quantity, Vocabulary, WordClass, tokens};

use crate::contradiction::contradictions;
use crate::filter::{Filter, SortOrder, Test};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::learnt::LearntProperties;
use crate::level::{self, LevelLimit};
use crate::limits::{FILTERS_MAX, NOT_UNDERSTOOD_MAX};
use crate::parsed_question::ParsedQuestion;
use crate::paths::{FOOD, SHARE_MIN};
use crate::reader::Reader;
use crate::reading::{self, PartRole, ReadPart};
use crate::scope::{QuestionScope, ReadingAids};
use crate::weekly;

/// Words between others that say nothing by themselves.
const TIES: &[WordClass] = &[WordClass::And, WordClass::Or, WordClass::With, WordClass::For, WordClass::Article];
/// Types of what is eaten or taken, beside what states its ingredients: in lower case, as an index compares values.
const TAKEN_TYPES: &[&str] = &["menuitem", "drug", "dietarysupplement"];

/// Filters that hold only if some item keeps them all beside the others.
struct Wish {
    /// The bytes that say them.
    bytes: Range<usize>,
    filters: Vec<Filter>,
    /// Whether its words are searched for all the same.
    keeps_words: bool,
}

/// A question while the rules go over what is left of it, one after the other.
pub(crate) struct Draft<'k> {
    pub(crate) known: &'k dyn QuestionScope,
    aids: ReadingAids<'k>,
    pub(crate) out: ParsedQuestion,
    wishes: Vec<Wish>,
    /// What "cheap" and the like come to.
    levels: Vec<LevelLimit>,
    /// What the words of the order may mean, too.
    other_orders: Vec<SortOrder>,
    /// What a thing has or serves: where nothing states it beside the other limits, its words may say it.
    features: Vec<Wish>,
    /// Limits of dates, each with what they may mean where nothing keeps them: what is open then, or any week.
    openings: Vec<(Vec<Filter>, Filter)>,
    /// What was understood so far.
    taken: Vec<ReadPart>,
    /// The shelf that is asked for, where wishes ask for it.
    shelf: Option<Filter>,
}

impl<'k> Draft<'k> {
    /// Sorts what the rules found into filters, an order, a count and notes, and cuts their words out of the text.
    /// What is over [`FILTERS_MAX`] stays text.
    pub(crate) fn new(aids: ReadingAids<'k>, found: Vec<UnderstoodPart>, reader: &Reader<'_>) -> Self {
        let mut parts = Parts::default();
        let mut cuts: Vec<Range<usize>> = Vec::new();
        // Known before anything is taken: in `cheap, under 20 euros` the level comes first and the limit counts.
        let limited: Vec<Quantity> = found.iter().filter_map(limited_quantity).collect();
        let (mut wishes, mut features, mut openings, mut taken) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for UnderstoodPart { tokens, keeps_words, meaning } in found {
            let bytes = reader.bytes(tokens.clone());
            if let FoundMeaning::Wishes(filters) = meaning {
                wishes.push(Wish { bytes, filters, keeps_words });
                continue;
            }
            if let FoundMeaning::Limits(Rank::Stated, filters) = &meaning
                && filters.iter().all(is_feature)
            {
                features.push(Wish { bytes: bytes.clone(), filters: filters.clone(), keeps_words });
            }
            if let FoundMeaning::Limits(Rank::Quantity(Quantity::Date), filters) = &meaning {
                let others = [weekly::open_then(reader, &tokens, filters), weekly::in_any_week(reader, &tokens)];
                openings.extend(others.into_iter().flatten().map(|other| (filters.clone(), other)));
            }
            if let Some(role) = parts.take(meaning, reader, &tokens, &limited) {
                if !keeps_words {
                    cuts.push(bytes.clone());
                }
                taken.push(ReadPart { bytes, role });
            }
        }
        let text = cut_out(reader.text, &cuts);
        let (filters, notes) = parts.filters(reader);
        let Parts { not_understood, unwanted, order, other_orders, count, levels, .. } = parts;
        let out = ParsedQuestion { text, filters, notes, not_understood, unwanted, order, count, ..Default::default() };
        let shelf = if wishes.is_empty() { None } else { reader.shelf().cloned() };
        Self { known: aids.known, aids, out, wishes, levels, other_orders, features, openings, taken, shelf }
    }

    /// A wording in the language of the answer.
    pub(crate) fn say(&self, key: &str, values: &[&str]) -> String {
        self.aids.lexicon.say(self.aids.answer_in.as_str(), key, values)
    }

    pub(crate) fn learnt(&self) -> &'k LearntProperties {
        self.aids.learnt
    }

    pub(crate) fn vocabulary(&self) -> &'k Vocabulary {
        self.aids.vocabulary
    }

    /// Whether so many filters more are no more than a query can have. What comes after that stays text.
    pub(crate) fn has_room(&self, filters: usize) -> bool {
        self.out.filters.len() + filters <= FILTERS_MAX
    }

    /// Takes words of the text for these limits.
    pub(crate) fn take(&mut self, range: Range<usize>, filters: Vec<Filter>) {
        let words = filters.iter().map(|filter| filter.words.clone()).collect();
        self.taken.push(ReadPart { bytes: range.clone(), role: PartRole::Limit(words) });
        self.out.text = cut_out(&self.out.text, &[range]);
        self.out.filters.extend(filters);
    }

    /// Takes the limit of distance that these bytes of the whole question say: where there is no room for it, it is told.
    pub(crate) fn limit_distance(&mut self, filter: Filter, bytes: Range<usize>, question: &str) {
        let written = &question[bytes.clone()];
        let role = if self.has_room(1) {
            let role = PartRole::Limit(vec![filter.words.clone()]);
            self.out.filters.push(filter);
            role
        } else if self.out.not_understood.len() < NOT_UNDERSTOOD_MAX {
            self.out.not_understood.push(written.to_owned());
            PartRole::NotUnderstood
        } else {
            self.out.text.replace_range(bytes.clone(), written);
            PartRole::Subject
        };
        self.taken.push(ReadPart { bytes, role });
    }

    pub(crate) fn finish(mut self, reader: &Reader<'_>) -> ParsedQuestion {
        let original = reader.text;
        // Wishes are tried before contradictions are looked for: one that no item keeps is no limit and contradicts
        // nothing.
        self.wish();
        self.ease_levels();
        self.choose_order();
        self.open_instead();
        self.look_for_features(original);
        let says_more = !self.out.filters.is_empty() || self.out.order.is_some() || self.out.count.is_some();
        let left = tidied(&self.out.text);
        let has_fillers = self.taken.iter().any(|part| part.role == PartRole::Filler) && !left.is_empty();
        // A question of which nothing was understood is searched for as it was written, spaces and marks included.
        let is_untouched = !says_more && !has_fillers && self.out.not_understood.is_empty();
        self.out.text = if is_untouched { original.to_owned() } else { left };
        // "110 g CO2 und höchstens 2 Vorbesitzer": what only ties limits together is in no item.
        if says_more && self.only_ties() {
            self.out.text.clear();
        }
        // Nothing but limits that can't be checked: their words are all there is to look for.
        if self.out.text.is_empty() && !says_more {
            self.out.text = original.to_owned();
        }
        self.out.reading = reading::whole(reader, std::mem::take(&mut self.taken));
        if !self.out.filters.is_empty() {
            self.out.contradictions = contradictions(&self.out.text, &self.out.filters, self.aids);
        }
        self.out
    }

    /// Whether the words that are left only tie others together.
    fn only_ties(&self) -> bool {
        let tokens = tokens(&self.out.text);
        let ties = |at: usize| {
            let mut meanings = self.aids.lexicon.meanings(&tokens[at..]).into_iter();
            meanings.any(|(meaning, length)| {
                length == 1 && TIES.iter().any(|class| *meaning == PhraseMeaning::Word(*class))
            })
        };
        (0..tokens.len()).all(|at| ties(at) || (!tokens[at].is_word() && tokens[at].number().is_none()))
    }

    /// Whether at least half of the items, or of those on the shelf that is asked for, state what these filters ask about.
    fn is_common(&self, filters: &[Filter]) -> bool {
        let among = |path: &str| self.shelf.as_ref().map_or(0.0, |shelf| self.known.share_among(path, shelf));
        let is_common = |path: &String| self.known.share(path) >= SHARE_MIN || among(path) >= SHARE_MIN;
        filters.iter().flat_map(|filter| &filter.fields).all(is_common)
    }

    /// What is cheap depends on what is asked for: where nothing of it keeps the strictest limit, a looser one or the order
    /// is meant.
    fn ease_levels(&mut self) {
        for LevelLimit { limits, order } in std::mem::take(&mut self.levels) {
            let Some(order) = order else { continue };
            let Some(at) = limits.first().and_then(|first| self.out.filters.iter().position(|filter| filter == first))
            else {
                continue;
            };
            let first = self.out.filters.remove(at);
            let is_kept = |limit: &&Filter| {
                let with: Vec<Filter> = self.out.filters.iter().chain([*limit]).cloned().collect();
                self.known.finds(&self.out.text, &with)
            };
            let kept = limits.iter().find(is_kept).cloned();
            let is_ordered = kept.is_none() && self.known.finds(&self.out.text, &self.out.filters);
            let role = match is_ordered {
                true => PartRole::Order(order.words.clone()),
                false => {
                    let limit = kept.unwrap_or_else(|| first.clone());
                    let role = PartRole::Limit(vec![limit.words.clone()]);
                    self.out.filters.insert(at, limit);
                    role
                }
            };
            if is_ordered {
                self.out.order.get_or_insert(order);
            }
            self.taken.iter_mut().filter(|part| part.role.says(&first.words)).for_each(|part| part.role = role.clone());
        }
    }

    /// Takes another order that the words may mean, where what is asked for states what that goes by, and nothing of the
    /// first: the biggest can is the one that holds most.
    fn choose_order(&mut self) {
        let others = std::mem::take(&mut self.other_orders);
        let Some(first) = self.out.order.clone().filter(|_| !others.is_empty()) else { return };
        let is_stated = |order: &SortOrder| {
            let fields = order.fields.clone();
            let any = Filter { fields, test: Test::Within { from: None, to: None }, words: String::new() };
            let with: Vec<Filter> = self.out.filters.iter().cloned().chain([any]).collect();
            self.known.finds(&self.out.text, &with)
        };
        let chosen = std::iter::once(first.clone()).chain(others).find(is_stated).unwrap_or_else(|| first.clone());
        let role = PartRole::Order(chosen.words.clone());
        self.taken.iter_mut().filter(|part| part.role.says(&first.words)).for_each(|part| part.role = role.clone());
        self.out.order = Some(chosen);
    }

    /// Where nothing of what is asked for takes place then, what of it is open then: coffee on a Monday; else what takes place
    /// on such a day of another week.
    fn open_instead(&mut self) {
        for (dated, open) in std::mem::take(&mut self.openings) {
            let is_there = dated.iter().all(|filter| self.out.filters.contains(filter));
            if !is_there || self.known.finds(&self.out.text, &self.out.filters) {
                continue;
            }
            let others = self.out.filters.iter().filter(|filter| !dated.contains(filter));
            let with: Vec<Filter> = others.cloned().chain([open.clone()]).collect();
            // Words that nothing has beside the limits say nothing of the day.
            let is_by_limits = || !self.known.finds("", &self.out.filters) && self.known.finds("", &with);
            if self.known.finds(&self.out.text, &with) || is_by_limits() {
                let is_it = |part: &&mut ReadPart| dated.iter().any(|filter| part.role.says(&filter.words));
                let role = PartRole::Limit(vec![open.words.clone()]);
                self.taken.iter_mut().filter(is_it).for_each(|part| part.role = role.clone());
                let note = self.say(&format!("{}_note", Quantity::Date.id()), &[]);
                self.out.notes.retain(|other| *other != note);
                self.out.filters = with;
            }
        }
    }

    /// Looks for a feature by its words where no item states it beside the other limits, and one says it: a garden that a
    /// restaurant speaks of in its description.
    fn look_for_features(&mut self, original: &str) {
        for Wish { bytes, filters, .. } in std::mem::take(&mut self.features) {
            let is_there = filters.iter().all(|filter| self.out.filters.contains(filter));
            if !is_there || self.out.filters.len() == filters.len() || self.known.finds("", &self.out.filters) {
                continue;
            }
            let others: Vec<Filter> =
                self.out.filters.iter().filter(|filter| !filters.contains(filter)).cloned().collect();
            let words = &original[bytes.clone()];
            let says = |word: &str| self.known.has_written(word) && self.known.finds(word, &others);
            let is_said = words.split_whitespace().any(says) && self.known.finds(words, &others);
            if is_said && self.out.text.len() == original.len() {
                self.out.text.replace_range(bytes.clone(), words);
                self.out.filters = others;
                self.taken.retain(|part| part.bytes != bytes);
            }
        }
    }

    /// A wish holds where any item keeps it beside all limits and the wishes before it.
    fn wish(&mut self) {
        let wishes = std::mem::take(&mut self.wishes);
        let words: Vec<Range<usize>> = wishes.iter().map(|wish| wish.bytes.clone()).collect();
        let beside = cut_out(&self.out.text, &words);
        for Wish { bytes, filters, keeps_words } in wishes {
            let all: Vec<Filter> = self.out.filters.iter().chain(&filters).cloned().collect();
            let is_kept = || match keeps_words {
                true => self.known.finds(&beside, &all),
                // What most items state is asked of all of them: "edible" of plants.
                false => self.known.finds(&beside, &all) || (self.is_common(&filters) && self.known.finds("", &all)),
            };
            if !self.has_room(filters.len()) || !is_kept() {
                continue;
            }
            if !keeps_words {
                self.out.text = cut_out(&self.out.text, std::slice::from_ref(&bytes));
            }
            let words = filters.into_iter().map(|filter| filter.words).collect();
            self.out.filters = all;
            self.taken.push(ReadPart { bytes, role: PartRole::Limit(words) });
        }
    }
}

/// What says what a place serves.
const CUISINE: &str = "servesCuisine";

/// Whether a limit is of what a thing has or serves, which its description may say in other words.
fn is_feature(filter: &Filter) -> bool {
    let is_of = |field: &String| field.starts_with("amenityFeature.") || field == CUISINE;
    let is_kind = |test: &Test| match test {
        Test::Is(value) => value == "true",
        Test::IsOneOf { .. } => true,
        _ => false,
    };
    filter.alternatives().iter().all(|one| is_kind(&one.test) && one.fields.iter().all(is_of))
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
    not_understood: Vec<String>,
    unwanted: Vec<String>,
    order: Option<SortOrder>,
    /// What the words of that order may mean, too.
    other_orders: Vec<SortOrder>,
    count: Option<usize>,
    levels: Vec<LevelLimit>,
}

impl Parts {
    /// Takes one finding, and says what became of its words. `None`: there was no room for it, and they stay text.
    fn take(
        &mut self,
        meaning: FoundMeaning,
        reader: &Reader<'_>,
        tokens: &Range<usize>,
        limited: &[Quantity],
    ) -> Option<PartRole> {
        match meaning {
            FoundMeaning::Limits(rank, filters) => self.limit(rank, filters),
            // They are tried when all else is known.
            FoundMeaning::Wishes(_) => None,
            FoundMeaning::Level(quantity, is_high) => self.level(reader, quantity, is_high, tokens, limited),
            // A second order stays text, unless it is the same one: results have one order.
            FoundMeaning::Order(order, others) => {
                let is_it = self.order.get_or_insert_with(|| order.clone()) == &order;
                if is_it {
                    self.other_orders = others;
                }
                is_it.then_some(PartRole::Order(order.words))
            }
            FoundMeaning::Count(count) => Some(PartRole::Count(*self.count.get_or_insert(count))),
            FoundMeaning::Filler => Some(PartRole::Filler),
            FoundMeaning::NotUnderstood => self.tell(reader.written(tokens.clone())),
            FoundMeaning::Unwanted(words) => {
                let told = self.tell(reader.written(tokens.clone()));
                self.unwanted.extend(told.is_some().then_some(words));
                told
            }
        }
    }

    fn limit(&mut self, rank: Rank, filters: Vec<Filter>) -> Option<PartRole> {
        if self.limits.len() + filters.len() > FILTERS_MAX {
            return None;
        }
        let words = filters.iter().map(|filter| filter.words.clone()).collect();
        self.limits.extend(filters.into_iter().map(|filter| (rank, filter)));
        Some(PartRole::Limit(words))
    }

    /// "Cheap" says something only where nothing else does, and where items can be judged by it.
    fn level(
        &mut self,
        reader: &Reader<'_>,
        quantity: Quantity,
        is_high: bool,
        tokens: &Range<usize>,
        limited: &[Quantity],
    ) -> Option<PartRole> {
        if limited.contains(&quantity) || reader.is_name() {
            return None;
        }
        match level::level(reader, quantity, is_high) {
            Some(level) => {
                let said = self.limit(Rank::Quantity(quantity), level.limits.first().cloned().into_iter().collect());
                self.levels.extend(said.is_some().then_some(level));
                said
            }
            None if quantity == Quantity::Price && reader.states_facts() => self.tell(reader.written(tokens.clone())),
            None => None,
        }
    }

    fn tell(&mut self, words: &str) -> Option<PartRole> {
        let has_room = self.not_understood.len() < NOT_UNDERSTOOD_MAX;
        if has_room && !self.not_understood.iter().any(|other| other == words) {
            self.not_understood.push(words.to_owned());
        }
        has_room.then_some(PartRole::NotUnderstood)
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
                Rank::Paid => reader.say("pay_note", &[]),
                _ if may_harm(reader, &filter.test) => reader.say("without_note", &[]),
                _ => continue,
            };
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        (limits.into_iter().map(|(_, filter)| filter).collect(), notes)
    }
}

/// Whether somebody may be harmed by what a limit leaves out and an item has all the same: where items are eaten or
/// taken, or state what is in them.
fn may_harm(reader: &Reader<'_>, test: &Test) -> bool {
    let Test::Without { classes, .. } = test else { return false };
    let is_about_food = classes.is_empty() || classes.iter().any(|limit| limit.area == FOOD);
    let is_taken = |kind: &str| reader.aids.known.has_value("@type", kind);
    is_about_food && (reader.states(FOOD) || TAKEN_TYPES.iter().any(|kind| is_taken(kind)))
}

/// A text with blanks in the place of some of its parts: what is left stays where it was.
pub(crate) fn cut_out(text: &str, parts: &[Range<usize>]) -> String {
    let mut left = text.to_owned();
    for range in parts {
        left.replace_range(range.clone(), &" ".repeat(range.len()));
    }
    left
}

/// A text without the gaps that cuts leave.
fn tidied(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = [" ,", " ?", " !", " ."].iter().fold(text, |text, gap| text.replace(gap, gap.trim_start()));
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '.' | '-')).to_owned()
}
