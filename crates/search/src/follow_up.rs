//! How a turn goes on with a question: what it adds, what it replaces, and when it is a question of its own.

use forecourt_understanding::{Filter, ParsedQuestion, Test};

use super::fact_words::{asks_for_which, is_clause};
use super::name_role::{Joining, head, is_head, is_same, joining, stands_for_itself, tokens};
use super::phrase::{Phrase, PhrasePlace};
use super::phrases::{content, is_short, phrases, points_back};
use super::request::{ItemLookup, SearchRequest, TurnReading, push_new};
use super::wording;
use super::{facets, held_limits, let_go, renumbered, request, ruled_out};
use crate::limits::PHRASES_MAX;

/// Words of a turn that only describes what was asked for.
const DESCRIBING_WORDS_MAX: usize = 3;
/// Words of a turn that begins with a preposition and adds to a question.
const ADDING_WORDS_MAX: usize = 8;

/// How a clause begins that says what is looked for.
const CLAUSES: &[&str] = &["that", "which", "who", "que", "qui"];

/// A question that begins anew.
pub(super) fn fresh(text: &str, reads: &dyn ItemLookup) -> SearchRequest {
    let parsed = reads.understand(text);
    let ParsedQuestion { text: words, filters, notes, not_understood, unwanted, order, count, contradictions, reading } =
        parsed;
    let phrases = vec![Phrase::subject(&words, text, &filters)];
    SearchRequest {
        text: words,
        phrases,
        filters,
        notes,
        not_understood,
        unwanted,
        reading: TurnReading::new(text, reading),
        order,
        contradictions,
        results: count,
        ..SearchRequest::default()
    }
}

/// What is asked after `before` where this turn goes on with it. `None`: it is a question of its own.
pub(super) fn next(before: &SearchRequest, text: &str, reads: &dyn ItemLookup) -> Option<SearchRequest> {
    if let Some(limit) = ruled_out::as_limit(phrases().behind_addition(text)) {
        return next(before, &limit, reads);
    }
    // "In 24 inches, any price", "any time, but the cheapest": one clause lets go of a limit, and the others go on.
    if let Some((eased, rest)) = let_go::of_a_clause(before, text, reads) {
        return Some(next(&eased, &rest, reads).unwrap_or_else(|| narrowed_by(&eased, &rest, reads)));
    }
    if let Some(asked) = let_go::of_all(before, text, reads) {
        return Some(asked);
    }
    if let Some(asked) = renumbered::renumbered(before, text, reads) {
        return Some(asked);
    }
    if let Some(replacement) = phrases().replacement(text) {
        let asked = replaced(before, replacement.new, replacement.old, reads);
        // "A toy made of cotton instead", after what one maker has in black: where nothing keeps both, what is said now
        // counts alone.
        let alone = fresh(replacement.new, reads);
        let is_other = !content(&alone.text).is_empty() && !reads.has_items(&asked.filters);
        let asked = if is_other && reads.has_items(&alone.filters) {
            alone
        } else {
            without_foreign(without_newest(asked, before, reads), before, reads)
        };
        return Some(match replacement.further {
            Some(further) => narrowed_by(&asked, further, reads),
            None => asked,
        });
    }
    narrowed(before, text, reads)
}

/// The question without what the newest turns before it said, as long as nothing keeps that beside what takes its place:
/// "in the afternoon", then "no, the late one".
fn without_newest(mut asked: SearchRequest, before: &SearchRequest, reads: &dyn ItemLookup) -> SearchRequest {
    let is_new = |words: &String| before.filters.iter().all(|filter| filter.words != *words);
    for phrase in before.phrases.iter().skip(1).rev() {
        let is_newer = asked.filters.iter().any(|filter| is_new(&filter.words));
        if !is_newer || reads.has_items(&asked.filters) {
            break;
        }
        asked.filters.retain(|filter| !phrase.limits.contains(&filter.words));
        asked.phrases.retain(|other| other != phrase);
        asked.text = wording::text(&asked.phrases);
    }
    asked
}

/// The question without what earlier turns said of the thing before, where nothing of what takes its place keeps that: dry
/// skin, of a cream for the hands. Limits of prices and of what must be absent stay.
fn without_foreign(asked: SearchRequest, before: &SearchRequest, reads: &dyn ItemLookup) -> SearchRequest {
    let text = content(&asked.text);
    if text.is_empty() || !reads.has_any(&text, &[]) || reads.has_any(&text, &asked.filters) {
        return asked;
    }
    let is_of_before = |filter: &Filter| {
        let says_value = matches!(filter.test, Test::IsOneOf { .. } | Test::Is(_) | Test::OneOf(_) | Test::OfClass(_));
        before.filters.contains(filter) && says_value && !held_limits::is_of_stock(filter)
    };
    let without = |gone: &dyn Fn(&Filter) -> bool| -> Vec<Filter> {
        asked.filters.iter().filter(|filter| !gone(filter)).cloned().collect()
    };
    let one_less = asked.filters.iter().filter(|filter| is_of_before(filter)).map(|gone| without(&|one| one == gone));
    // A vest is asked for after packs of 30 litres: amounts of those are none of its own.
    let is_amount = |filter: &Filter| {
        before.filters.contains(filter)
            && matches!(filter.test, Test::Within { .. })
            && !held_limits::is_of_money(filter)
    };
    let all_less = [without(&is_of_before), without(&|filter| is_of_before(filter) || is_amount(filter))];
    let less = one_less.chain(all_less).find(|filters| reads.has_any(&text, filters));
    SearchRequest { filters: less.unwrap_or_else(|| asked.filters.clone()), ..asked }
}

/// The question with what a turn adds, however it is worded.
fn narrowed_by(before: &SearchRequest, text: &str, reads: &dyn ItemLookup) -> SearchRequest {
    add(before, &Addition::read(text, reads), reads)
}

/// A turn read as an addition to an earlier question.
struct Addition<'t> {
    /// The turn without the words that go on.
    rest: &'t str,
    parsed: ParsedQuestion,
    /// The words that ask for something beside constraints.
    words: String,
}

impl<'t> Addition<'t> {
    fn read(text: &'t str, reads: &dyn ItemLookup) -> Self {
        let rest = phrases().behind_addition(text).trim_end_matches(['?', '!', '.', ' ']);
        let parsed = reads.understand(rest);
        let words = content(&parsed.text);
        // "Which date has places left": what is asked which of is none of the items.
        let asked = words.split_once(' ').map_or(words.as_str(), |(first, _)| first);
        let is_which = !parsed.filters.is_empty() && phrases().is_question(rest) && reads.names(asked).is_empty();
        let words = if is_which { words[asked.len()..].trim().to_owned() } else { words };
        match ruled_out::by_name(rest, reads).filter(|_| parsed.filters.is_empty()) {
            Some(filter) => {
                let parsed = ParsedQuestion { filters: vec![filter], ..ParsedQuestion::default() };
                Self { rest, parsed, words: String::new() }
            }
            None => Self { rest, parsed, words },
        }
    }

    /// Whether the turn says constraints, and nothing but what they say.
    fn only_limits(&self) -> bool {
        let said = |word: &str| {
            self.parsed.filters.iter().any(|filter| filter.words.to_lowercase().contains(&word.to_lowercase()))
        };
        !self.parsed.filters.is_empty() && self.words.split_whitespace().all(said)
    }

    fn is_behind(&self) -> bool {
        phrases().begins_with_limit(self.rest) || self.rest.split_whitespace().count() > DESCRIBING_WORDS_MAX
    }

    fn phrase(&self, words: &str) -> Phrase {
        let wording = if words.is_empty() && self.is_behind() { self.rest.to_owned() } else { describing(self.rest) };
        Phrase::added(words, &wording, &self.parsed.filters, self.is_behind())
    }
}

/// A turn without fillers, where it only describes something: "vegetarian ones".
fn describing(rest: &str) -> String {
    if phrases().begins_with_limit(rest) { rest.to_owned() } else { content(rest) }
}

/// The earlier question, narrowed down. `None` when the turn is a question of its own.
pub(super) fn narrowed(before: &SearchRequest, text: &str, reads: &dyn ItemLookup) -> Option<SearchRequest> {
    let only = phrases().behind_only(text);
    let addition = Addition::read(only.unwrap_or(text), reads);
    let goes_on = addition.rest.len() < text.trim_end_matches(['?', '!', '.', ' ']).len();
    if only.is_none() && !is_addition(before, text, goes_on, &addition, reads) {
        return None;
    }
    let mut asked = add(before, &addition, reads);
    asked = with_less(before, &addition, &asked, reads).unwrap_or(asked);
    let is_bare = !goes_on && !addition.is_behind() && !addition.words.is_empty() && !content(&before.text).is_empty();
    if is_bare && joining(&before.text, &addition.words, reads) == Some(Joining::IsDescribed) {
        turn_round(&mut asked);
    }
    if only.is_some() && !addition.only_limits() {
        require(&mut asked, &addition.words, reads);
    }
    Some(asked)
}

/// Whether a turn adds to the question before it.
fn is_addition(
    before: &SearchRequest,
    text: &str,
    goes_on: bool,
    addition: &Addition<'_>,
    reads: &dyn ItemLookup,
) -> bool {
    // An order alone is one of what was asked for: "the cheapest".
    let only_orders = addition.words.is_empty() && addition.parsed.order.is_some();
    if asks_for_another_kind(before, addition, reads) {
        return false;
    }
    if points_back(text) || addition.only_limits() || only_orders {
        return true;
    }
    let begins = phrases().begins_with_limit(addition.rest) || is_clause(addition.rest);
    let is_brief = addition.rest.split_whitespace().count() <= ADDING_WORDS_MAX && is_short(text);
    if begins && is_brief && (is_clause(addition.rest) || !phrases().is_question(text)) {
        return true;
    }
    let has_subject = !content(&before.text).is_empty();
    let describes = addition.words.split_whitespace().count() <= DESCRIBING_WORDS_MAX && is_brief;
    if !has_subject {
        // Earlier turns told limits and named nothing: they hold for what is asked for now.
        return describes || goes_on || before.was_told_limits_alone();
    }
    // `And soup` after `pasta` asks for soup; `and spicy` describes the pasta.
    if goes_on {
        return stands_for_itself(&addition.words, reads) != Some(true)
            || joining(&before.text, &addition.words, reads).is_some();
    }
    let is_bare = !addition.words.is_empty() && !phrases().is_question(text);
    is_bare
        && ((describes && joining(&before.text, &addition.words, reads).is_some()) || is_of_property(addition, reads))
}

/// Whether a turn begins with a word of a property and names no thing: "good with small kids", after dogs.
fn is_of_property(addition: &Addition<'_>, reads: &dyn ItemLookup) -> bool {
    let first = addition.words.split(' ').next().unwrap_or_default();
    let is_brief = addition.rest.split_whitespace().count() <= ADDING_WORDS_MAX;
    is_brief && reads.names_property(first) && stands_for_itself(&addition.words, reads) != Some(true)
}

/// Whether a turn asks which things of another name there are, which nothing keeps beside what was asked before: "and which
/// lamp goes with it?", after a table.
fn asks_for_another_kind(before: &SearchRequest, addition: &Addition<'_>, reads: &dyn ItemLookup) -> bool {
    let mut said = addition.rest.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let is_which = asks_for_which(addition.rest);
    said.next();
    let Some(kind) = said.next().filter(|kind| is_which && !kind.is_empty()) else { return false };
    let is_new = !tokens(&before.text).iter().any(|word| is_same(word, kind));
    let is_called = |name: &String| is_head(name, kind, reads.language());
    let is_beside = || reads.has_any(&format!("{} {kind}", content(&before.text)), &before.filters);
    is_new && reads.names(kind).iter().any(is_called) && !is_beside()
}

/// The question with what the turn says too.
fn add(before: &SearchRequest, addition: &Addition<'_>, reads: &dyn ItemLookup) -> SearchRequest {
    let mut asked = SearchRequest { offset: 0, ..before.clone() };
    let ParsedQuestion { filters, notes, not_understood, unwanted, order, count, reading, .. } =
        addition.parsed.clone();
    let is_plural = addition.rest.trim().to_lowercase().ends_with('s');
    for filter in filters {
        held_limits::narrow(&mut asked.filters, filter, is_plural && addition.words.is_empty(), reads);
    }
    notes.into_iter().for_each(|note| push_new(&mut asked.notes, note));
    asked.not_understood = not_understood;
    asked.reading = TurnReading::new(addition.rest, reading);
    unwanted.into_iter().for_each(|words| push_new(&mut asked.unwanted, words));
    // An order and a count stay until another one is said: `only vegetarian ones` still means the cheapest.
    asked.order = order.or(asked.order);
    asked.results = count.or(asked.results);
    if !(addition.words.is_empty() && addition.parsed.filters.is_empty()) {
        let mut phrase = addition.phrase(&addition.words);
        if content(&before.text).is_empty() && !addition.words.is_empty() {
            phrase.place = PhrasePlace::Subject;
            phrase.wording = addition.rest.to_owned();
        }
        put(&mut asked, phrase);
    }
    asked
}

/// The question with what a turn adds but for words beside its limits, or for the verb of a clause, where nothing is found
/// with those: "that works on Linux" adds Linux. `None`: something is found, or nothing is without them either.
fn with_less(
    before: &SearchRequest,
    addition: &Addition<'_>,
    asked: &SearchRequest,
    reads: &dyn ItemLookup,
) -> Option<SearchRequest> {
    let clause = behind_verb(addition.rest);
    let says_more = !addition.words.is_empty() || clause.is_some();
    if addition.parsed.filters.is_empty() || !says_more || reads.finds(asked) {
        return None;
    }
    let wordless = || {
        let mut parsed = addition.parsed.clone();
        push_new(&mut parsed.not_understood, addition.words.clone());
        Addition { rest: addition.rest, parsed, words: String::new() }
    };
    let wordless = (!addition.words.is_empty()).then(wordless);
    let clause = clause.map(|rest| Addition::read(rest, reads)).filter(|read| !read.parsed.filters.is_empty());
    wordless.into_iter().chain(clause).map(|less| add(before, &less, reads)).find(|less| reads.finds(less))
}

/// What stands behind the verb of a clause that says what is looked for: "inglés", of "que hable inglés".
fn behind_verb(rest: &str) -> Option<&str> {
    let (that, clause) = rest.split_once(' ')?;
    let (_, behind) = clause.trim_start().split_once(' ')?;
    CLAUSES.contains(&that.to_lowercase().as_str()).then(|| behind.trim()).filter(|behind| !behind.is_empty())
}

/// Makes the newest phrase the subject, and the former subject a description of it.
fn turn_round(asked: &mut SearchRequest) {
    for phrase in asked.phrases.iter_mut().filter(|phrase| phrase.place == PhrasePlace::Subject) {
        phrase.place = PhrasePlace::Before;
    }
    if let Some(last) = asked.phrases.last_mut() {
        last.place = PhrasePlace::Subject;
    }
}

/// Adds a phrase, and the words to search for.
fn put(asked: &mut SearchRequest, phrase: Phrase) {
    if !asked.phrases.contains(&phrase) {
        asked.phrases.push(phrase);
    }
    if asked.phrases.len() > PHRASES_MAX {
        // The subject stays at 0: without it, the rest describes nothing.
        asked.phrases.remove(1);
    }
    asked.text = wording::text(&asked.phrases);
}

/// What is wanted alone has to be there, where items say of what sort they are.
fn require(asked: &mut SearchRequest, words: &str, reads: &dyn ItemLookup) {
    let sorts = facets::fields().into_iter().map(|field| Filter::is(field, words));
    let loosely = facets::fields().into_iter().map(|field| Filter::mentions(field, words));
    let known = sorts.chain(loosely).find(|filter| reads.has_items(std::slice::from_ref(filter)));
    if let Some(filter) = known {
        let filter = Filter { words: words.to_owned(), ..filter };
        if let Some(last) = asked.phrases.last_mut() {
            last.limits.push(filter.words.clone());
        }
        request::push_filter(&mut asked.filters, filter);
    }
}

/// The question with `new` in the place of `old`, or of what has the same role.
fn replaced(before: &SearchRequest, new: &str, old: Option<&str>, reads: &dyn ItemLookup) -> SearchRequest {
    let addition = Addition::read(new, reads);
    if addition.words.is_empty() || content(&before.text).is_empty() {
        let mut asked = before.clone();
        // Another sort of thing takes the place of the earlier one.
        for filter in &addition.parsed.filters {
            asked.filters.retain(|other| other.fields != filter.fields || other.fields.is_empty());
        }
        if let Some(old) = old {
            leave_out(&mut asked, old, reads);
        }
        return add(&asked, &addition, reads);
    }
    let ParsedQuestion { not_understood, reading, .. } = addition.parsed.clone();
    let reading = TurnReading::new(addition.rest, reading);
    let mut asked = SearchRequest { offset: 0, not_understood, reading, ..before.clone() };
    // `With beans` takes the place of `with lentils`: the same word in front tells which part is replaced.
    let begins = first_word(addition.rest).filter(|_| phrases().begins_with_limit(addition.rest));
    let same_beginning = |phrase: &Phrase| begins.is_some() && first_word(&phrase.wording) == begins;
    if let Some(at) = asked.phrases.iter().position(same_beginning).filter(|_| old.is_none()) {
        asked.phrases[at] = addition.phrase(&addition.words);
    } else {
        let out = old.map(content).unwrap_or_else(|| same_role(&asked, &addition.words, reads));
        if out.is_empty() || !exchange(&mut asked, &out, &addition.words) {
            put(&mut asked, addition.phrase(&addition.words));
        } else {
            exchange_demand(&mut asked, &out, &addition.words, reads);
        }
    }
    for filter in &addition.parsed.filters {
        held_limits::narrow(&mut asked.filters, filter.clone(), true, reads);
    }
    asked.text = wording::text(&asked.phrases);
    asked
}

/// Asks for other things in the place of those that had to be there: "with lentils" becomes "with beans".
fn exchange_demand(asked: &mut SearchRequest, old: &str, new: &str, reads: &dyn ItemLookup) {
    let filters = std::mem::take(&mut asked.filters);
    let (gone, kept): (Vec<Filter>, Vec<Filter>) = filters.into_iter().partition(|filter| {
        let demands = matches!(filter.test, Test::Mentions(_) | Test::OneOf(_) | Test::OfClass(_));
        demands && filter.words.to_lowercase().ends_with(&old.to_lowercase())
    });
    asked.filters = kept;
    for filter in gone {
        let start = filter.words.len().saturating_sub(old.len());
        let wanted = filter.words.get(..start).map(|before| format!("{before}{new}")).unwrap_or_default();
        reads
            .understand(&wanted)
            .filters
            .into_iter()
            .for_each(|filter| request::push_filter(&mut asked.filters, filter));
    }
}

/// Leaves out what is not wanted any more: words, and constraints of those words.
fn leave_out(asked: &mut SearchRequest, old: &str, reads: &dyn ItemLookup) {
    exchange(asked, &content(old), "");
    let gone: Vec<Filter> = reads.understand(old).filters;
    asked.filters.retain(|filter| !gone.contains(filter) && !filter.words.eq_ignore_ascii_case(old));
}

/// Puts other words in the place of some. Whether they were there.
fn exchange(asked: &mut SearchRequest, old: &str, new: &str) -> bool {
    let mut done = false;
    for phrase in &mut asked.phrases {
        for text in [&mut phrase.words, &mut phrase.wording] {
            let mut put = false;
            let words = text.split_whitespace().filter_map(|word| {
                let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
                let is_old = old.split_whitespace().any(|old| is_same(old, bare));
                match is_old {
                    true if put => None,
                    true => {
                        put = true;
                        Some(new).filter(|new| !new.is_empty())
                    }
                    false => Some(word),
                }
            });
            let changed = words.collect::<Vec<_>>().join(" ");
            done |= put;
            *text = changed;
        }
    }
    asked.phrases.retain(|phrase| {
        !(phrase.words.is_empty() && phrase.limits.is_empty()) || phrase.place == PhrasePlace::Subject
    });
    asked.text = wording::text(&asked.phrases);
    done
}

/// The words of a question that have the role of `new` in it: of one class with it, else what it is or what describes it.
fn same_role(asked: &SearchRequest, new: &str, reads: &dyn ItemLookup) -> String {
    let words: Vec<String> = content(&asked.text).split_whitespace().map(str::to_owned).collect();
    let news = tokens(new);
    let subject = asked.phrases.first().map(|phrase| content(&phrase.words)).unwrap_or_default();
    // What is said whole, or what nothing here is called, is another thing: hand cream after a face cream, rum after scotch.
    let is = head(&subject, reads.language());
    let other = head(new, reads.language());
    let is_whole = news.len() > 1 && is.as_ref().zip(other.as_ref()).is_some_and(|(is, other)| is_same(is, other));
    let is_called = |name: &String| tokens(name).iter().any(|word| news.iter().any(|new| is_same(new, word)));
    if is_whole || (words.len() > 1 && !reads.names(new).iter().any(is_called)) {
        return subject;
    }
    let alike = words.iter().find(|word| news.iter().any(|new| reads.are_alike(word, new)));
    if let Some(word) = alike {
        return word.clone();
    }
    let Some(is) = is else { return String::new() };
    let describing = words.iter().filter(|word| !is_same(word, &is));
    match stands_for_itself(new, reads) {
        Some(true) => is,
        _ if words.len() == 1 => is,
        _ => describing.into_iter().next().cloned().unwrap_or_default(),
    }
}

fn first_word(text: &str) -> Option<String> {
    text.split_whitespace().next().map(str::to_lowercase)
}
