//! What was found, in words. The words are ours, short, and say nothing that the data does not.

use forecourt_core::findings::{AppliedLimit, ItemFindings, MatchReason, SpellingCorrection};
use forecourt_core::{AgentCard, Ending, Event, Findings, Language, Message, Part};
use forecourt_index::{Correction, Hit, Library, MatchedConstraint, Promise, Query};
use forecourt_sentences::{Sentences, SpokenLanguage};
use forecourt_understanding::{Contradiction, Filter};

use super::document::{self, SectionMatch};
use super::fact_answer::{FactAnswer, LimitLookup};
use super::fact_context::FactContext;
use super::fact_question::is_question;
use super::facts::{facts, mentions, time, value};
use super::find::{SearchResults, UnmetFilter};
use super::markdown::{link, plain};
use super::phrases::phrases;
use super::request::{ItemQuestion, SearchRequest, ShownHit};
use super::shown::FoundItem;
use super::values::price;

/// The word for several items where the operator names none.
pub(super) const DEFAULT_ITEM_LABEL: &str = "results";

/// Further sections that are linked from an answer.
const OTHER_SECTIONS_MAX: usize = 4;

/// Items that can't be had and are named all the same.
const GONE_TOLD_MAX: usize = 3;

/// What an answer is worded with: the agent, its index and the languages.
pub(super) struct AnswerText<'a> {
    /// What several items are called.
    pub(super) item_label: &'a str,
    pub(super) card: &'a AgentCard,
    pub(super) library: &'a Library,
    /// The language of the answer.
    pub(super) answer_in: &'a Language,
    /// The language that the caller asked for.
    pub(super) wanted: Option<&'a Language>,
    /// The words that it is made of.
    pub(super) say: Sentences,
}

/// What stands before the items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lead {
    /// The answer in a sentence or two.
    pub(super) answer: String,
    /// What stands between them.
    gap: &'static str,
    /// What should be known of it. May be empty.
    pub(super) caveats: String,
}

impl Lead {
    /// Both as one text.
    pub(super) fn whole(&self) -> String {
        match self.caveats.is_empty() {
            true => self.answer.clone(),
            false => format!("{}{}{}", self.answer, self.gap, self.caveats),
        }
    }
}

impl AnswerText<'_> {
    /// Who this is, and what can be asked. Speaks only of limits that the content knows.
    pub(super) fn introduction(&self) -> String {
        let mut text = self.say.intro_name(&plain(&self.card.name));
        if !self.card.description.is_empty() {
            text.push_str(&format!(" {}", plain(&self.card.description)));
        }
        let examples = match self.card.examples.is_empty() {
            false => self.card.examples.iter().collect::<Vec<_>>(),
            true => self.card.skills.iter().flat_map(|skill| &skill.examples).collect(),
        };
        if !examples.is_empty() {
            text.push_str(&format!("\n\n{}\n", self.say.intro_examples()));
            examples.iter().for_each(|example| text.push_str(&format!("\n- {}", plain(example))));
        }
        let say = self.say;
        let limits =
            [say.intro_limit_time(), say.intro_limit_without(), say.intro_limit_diet(), say.intro_limit_year()];
        // An index of films takes no `without nuts`: an example that nothing answers would mislead.
        let known = |words: &&String| !self.library.understand(words, self.answer_in).filters.is_empty();
        let limits: Vec<String> = limits.iter().filter(known).map(|words| say.quoted(words)).collect();
        if !limits.is_empty() {
            text.push_str(&format!("\n\n{}", say.intro_limits(&limits.join(", "))));
        }
        text.push_str(&format!("\n\n{}", say.intro_more(&self.items(), self.library.len())));
        self.with_language_note(text)
    }

    /// What several items are called: as the operator says, in the agent's own language.
    pub(super) fn items(&self) -> String {
        items_word(self.say, self.item_label, &self.card.language)
    }

    /// A text, with a note where it is not in the language that the caller asked for.
    fn with_language_note(&self, mut text: String) -> String {
        let unspoken = |wanted: &&&Language| SpokenLanguage::of(wanted).is_none() && **wanted != &self.card.language;
        if let Some(wanted) = self.wanted.as_ref().filter(unspoken) {
            text.push_str(&format!(" {}", self.say.language_unavailable(wanted.as_str())));
        }
        text
    }

    /// The answer to a turn about the caller alone: which limits are kept from now on, or that they are dropped.
    pub(super) fn noted(&self, limits: &[Filter]) -> String {
        let name = if limits.is_empty() { "set_aside" } else { "noted" };
        let limits: Vec<String> = limits.iter().map(|filter| plain(&filter.words)).collect();
        self.sentence(name).replace("{limits}", &limits.join("; "))
    }

    fn sentence(&self, name: &str) -> &'static str {
        phrases().sentence(name, self.answer_in.as_str())
    }

    /// The answer about an item that was shown: the fact that is asked for, else that item.
    pub(super) fn about(&self, found: &FoundItem, about: &ItemQuestion) -> Vec<Event> {
        let FoundItem::Item(shown) = found else { return vec![Event::Text(self.no_item(found))] };
        let question = about.question.as_deref().unwrap_or_default();
        let text = self.fact_about(shown, about);
        let text = text.unwrap_or_else(|| self.item(shown.position, &shown.hit, question, "").trim_start().to_owned());
        vec![Event::Text(text), Event::Part(Part::data(shown.hit.item.clone()))]
    }

    /// The fact of an item that was shown, if one is asked for.
    fn fact_about(&self, shown: &ShownHit, about: &ItemQuestion) -> Option<String> {
        let question = about.question.as_deref()?;
        let fact = self.facts().answer_about(&shown.hit, question, self)?;
        Some(self.with_language_note(fact))
    }

    /// The findings of an answer about one item that was shown.
    pub(super) fn item_findings(&self, found: &FoundItem, about: &ItemQuestion) -> Findings {
        let FoundItem::Item(shown) = found else {
            return Findings { summary: self.no_item(found), ..Findings::default() };
        };
        let name = plain(&shown.hit.name);
        let asked = about.question.as_deref().map(|question| question.trim_end_matches(['?', '!', '.', ' ']));
        let decontextualized = asked.map_or_else(|| name.clone(), |question| format!("{question} ({name})"));
        let summary = self.fact_about(shown, about);
        let summary = summary.unwrap_or_else(|| link(&shown.hit.name, shown.hit.url.as_deref()));
        let items = vec![ItemFindings::scored(shown.hit.score)];
        Findings { summary, count: 1, items, decontextualized: Some(decontextualized), ..Findings::default() }
    }

    /// Why there is no such item.
    fn no_item(&self, found: &FoundItem) -> String {
        match found {
            FoundItem::NoSuchPosition(number) => self.sentence("no_such_item").replace("{number}", &number.to_string()),
            _ => self.sentence("nothing_shown_by_order").to_owned(),
        }
    }

    /// The answer: a lead, the items one by one, what to do next; then the items as data.
    pub(super) fn found(&self, asked: &SearchRequest, found: &SearchResults) -> Vec<Event> {
        let Some(best) = found.hits.first() else {
            return vec![Event::Text(self.nothing(asked, found))];
        };
        let data = found.hits.iter().map(|hit| Event::Part(Part::data(hit.item.clone())));
        if asked.items_only {
            return data.collect();
        }
        let first = asked.offset + 1;
        let mut texts = vec![format!("{}\n", self.lead(asked, found, best, found.hits.len()).whole())];
        let listed = found.hits.iter().enumerate().map(|(at, hit)| self.item(first + at, hit, &asked.text, ""));
        match found.section.is_some() {
            false => texts.extend(listed),
            // The lead already has the text of the first section: what is left are links to the others.
            true if is_question(&asked.text) => texts.extend(self.others(&found.hits[1..])),
            true => texts.extend(listed.skip(1)),
        }
        if found.has_more {
            texts.push(self.more());
        }
        texts.into_iter().map(Event::Text).chain(data).collect()
    }

    /// Links to further sections that fit.
    fn others(&self, hits: &[Hit]) -> Option<String> {
        let links: Vec<String> =
            hits.iter().take(OTHER_SECTIONS_MAX).map(|hit| link(&hit.name, hit.url.as_deref())).collect();
        (!links.is_empty()).then(|| format!("\n{}\n", self.say.document_others(&links.join(", "))))
    }

    /// The sentences and the vocabulary for answers of single facts.
    pub(super) fn facts(&self) -> FactContext<'_> {
        FactContext { say: self.say, vocabulary: self.library.vocabulary(), language: &self.card.language }
    }

    /// The answer that is one fact: a sentence, and the item that it is from.
    pub(super) fn fact(&self, message: &Message, fact: &FactAnswer) -> Vec<Event> {
        let summary = self.with_language_note(fact.text.clone());
        let items = vec![ItemFindings::scored(fact.hit.score)];
        let findings = Findings { summary: summary.clone(), count: 1, items, ..Findings::default() };
        let findings = message.search.findings.is_wanted().then(|| Event::Findings(Box::new(findings)));
        let data = Event::Part(Part::data(fact.hit.item.clone()));
        findings.into_iter().chain([Event::Text(summary), data, Event::Ending(Ending::Complete)]).collect()
    }

    /// How to see more.
    pub(super) fn more(&self) -> String {
        format!("\n\n{}\n", self.say.say_more())
    }

    /// The findings of an answer: its summary, limits, corrections and scores.
    pub(super) fn findings(&self, asked: &SearchRequest, found: &SearchResults) -> Findings {
        let Lead { answer: summary, caveats, .. } = match found.hits.first() {
            // Why there is nothing is the answer.
            None => Lead { answer: self.nothing(asked, found), ..Lead::default() },
            Some(_) if asked.items_only => Lead::default(),
            Some(best) => self.lead(asked, found, best, found.hits.len()),
        };
        let mut ignored = asked.unread.clone();
        ignored.extend(found.ignored.iter().map(|named| named.name.clone()));
        ignored.dedup();
        let applied = found.applied.iter().map(|filter| applied_limit(asked, filter)).collect();
        let items = found.hits.iter().map(|hit| ItemFindings::scored(hit.score)).collect();
        let (count, more) = (found.hits.len(), found.has_more);
        let (not_understood, decontextualized) = (not_understood(asked, found), asked.decontextualized.clone());
        let left_out = found.left_out.clone();
        let corrections = found.corrections.iter().map(spelling).collect();
        Findings {
            summary,
            caveats,
            count,
            more,
            applied,
            ignored,
            not_understood,
            left_out,
            decontextualized,
            corrections,
            items,
            ..Findings::default()
        }
    }

    /// The findings of each item, with the reason why it was found.
    pub(super) fn explained(&self, found: &SearchResults) -> Vec<ItemFindings> {
        found.hits.iter().map(|hit| ItemFindings::scored(hit.score).because(self.reason(hit))).collect()
    }

    /// Why an item is here.
    pub(super) fn reason(&self, hit: &Hit) -> MatchReason {
        MatchReason {
            snippet: hit.snippet.clone(),
            fits: self.fits(hit, |matched| self.kept(hit, matched)),
            distance: hit.matched.iter().find(|matched| matched.is_distance).map(|matched| self.kept(hit, matched)),
            why: String::new(),
        }
    }

    /// The constraints that an item keeps, but for those that only repeat what it is.
    fn fits(&self, hit: &Hit, said: impl Fn(&MatchedConstraint) -> String) -> Vec<String> {
        hit.matched.iter().filter(|matched| !self.is_what_all_are(&matched.constraint)).map(said).collect()
    }

    /// The answer in a sentence or two: how many items there are and the `best` of the `count` that are shown; and what
    /// should be known of it.
    pub(super) fn lead(&self, asked: &SearchRequest, found: &SearchResults, best_hit: &Hit, count: usize) -> Lead {
        let caveats = self.caveats(asked, found);
        if let Some(answer) = self.section(asked, found, best_hit) {
            return Lead { answer, gap: "\n\n", caveats };
        }
        let (best, offset) = (self.best(best_hit), asked.offset);
        let lead = match count {
            _ if found.is_not_so.is_some() => {
                let no = self.say.answer_is_no(&best, &plain(found.is_not_so.as_deref().unwrap_or_default()));
                self.facts().hours(best_hit).map_or_else(|| no.clone(), |hours| format!("{no} {hours}"))
            }
            // The best item was on the first page; here it would be the best of the rest.
            _ if offset > 0 => capital(&self.say.page_of_items(&self.items(), offset + 1, offset + count)),
            _ if found.is_closest => self.say.closest_match(&best),
            1 => self.say.one_match(&best),
            _ if !found.has_more => self.say.several_match(count, &self.items(), &best),
            _ => self.say.best_match(&best),
        };
        match asked.contradictions.is_empty() {
            true => Lead { answer: lead, gap: " ", caveats },
            // That no item can keep all limits is the answer itself.
            false => Lead { answer: format!("{lead} {caveats}"), ..Lead::default() },
        }
    }

    /// The section that answers, when what was found are sections of documents.
    fn section(&self, asked: &SearchRequest, found: &SearchResults, best: &Hit) -> Option<String> {
        if asked.offset > 0 {
            return None;
        }
        // Behind a model's order the section was not chosen yet: its first hit alone is judged.
        let judge = || document::choose(self.say, self.library, &asked.text, &mut [best.clone()]);
        // One that shares a word alone is told as what it is, too: without the hedge it would look like the answer.
        let fits = found.section.or_else(judge)?;
        Some(document::section_answer(self.say, self.library, &asked.text, best, fits))
    }

    /// What was looked for instead of words that no item has.
    fn corrected(&self, found: &SearchResults) -> String {
        let one = |correction: &Correction| {
            format!(" {}", self.say.searched_instead(&plain(&correction.read_as()), &plain(&correction.written)))
        };
        found.corrections.iter().map(one).collect()
    }

    /// The first of what was found and can't be had.
    fn gone(&self, found: &SearchResults) -> String {
        let gone = found.gone.iter().take(GONE_TOLD_MAX).map(|hit| link(&hit.name, hit.url.as_deref()));
        gone.collect::<Vec<_>>().join(", ")
    }

    /// The limits that hold, and what should be known about them.
    fn caveats(&self, asked: &SearchRequest, found: &SearchResults) -> String {
        let notes = asked.notes.iter().map(|note| format!(" {}", plain(note)));
        let is_beside = !found.gone.is_empty() && !found.hits.is_empty();
        let gone = if is_beside { format!(" {}", self.say.sold_out_beside(&self.gone(found))) } else { String::new() };
        let notes = self.limits(asked, found) + &self.corrected(found) + &notes.collect::<String>() + &gone;
        self.with_language_note(notes).trim_start().to_owned()
    }

    /// Says honestly that there is nothing, and what could be asked instead.
    fn nothing(&self, asked: &SearchRequest, found: &SearchResults) -> String {
        if asked.offset > 0 {
            return self.with_language_note(self.say.nothing_further(&self.items()));
        }
        if found.is_off_topic {
            return self.with_language_note(self.sentence("no_match").replace("{items}", &self.items()));
        }
        if !found.unmet.is_empty() {
            return found.unmet.iter().map(|unmet| self.unmet(unmet)).collect::<Vec<_>>().join(" ");
        }
        if !found.gone.is_empty() {
            let answer = self.say.nothing_available(&self.gone(found));
            return Lead { answer, gap: " ", caveats: self.caveats(asked, found) }.whole();
        }
        if found.section == Some(SectionMatch::Unrelated) {
            return Lead { answer: self.say.nothing_about(), gap: " ", caveats: self.caveats(asked, found) }.whole();
        }
        let mut text = format!("{}{}", self.say.nothing_found(&self.items()), self.limits(asked, found));
        asked.notes.iter().for_each(|note| text.push_str(&format!(" {}", plain(note))));
        match found.relaxations.as_slice() {
            [] if found.applied.is_empty() => text.push_str(&format!(" {}", self.say.nothing_words())),
            [] => text.push_str(&format!(" {}", self.say.nothing_single_limit())),
            relaxations => {
                text.push_str(&format!("\n\n{}\n", self.say.nothing_relaxed()));
                for less in relaxations {
                    let reading = self.say.reading_without(&plain(&less.without), &self.nearest(&less.best));
                    text.push_str(&format!("\n- {reading}"));
                }
            }
        }
        self.with_language_note(text)
    }

    /// The sentence about a value that no item has, and the nearest values that there are.
    fn unmet(&self, unmet: &UnmetFilter) -> String {
        let says =
            self.sentence("not_there").replace("{value}", &plain(&unmet.value)).replace("{name}", &plain(&unmet.name));
        if unmet.nearest.is_empty() {
            return says;
        }
        let nearest: Vec<String> = unmet.nearest.iter().map(|value| plain(value)).collect();
        format!("{says} {}", self.sentence("nearest").replace("{values}", &nearest.join(", ")))
    }

    /// The constraints that were applied, and those that could not be.
    fn limits(&self, asked: &SearchRequest, found: &SearchResults) -> String {
        // What is said once is told once, however many limits it comes to.
        let list = |words: &mut dyn Iterator<Item = &String>| {
            let mut told: Vec<String> = Vec::new();
            for words in words.map(|words| plain(words)) {
                if !told.contains(&words) {
                    told.push(words);
                }
            }
            told.join("; ")
        };
        let applied = found.applied.iter().map(|filter| &filter.words);
        let applied = list(&mut applied.filter(|words| !self.is_what_all_are(words)));
        let unknown = list(&mut found.ignored.iter().map(|named| &named.filter.words));
        let not_understood = list(&mut not_understood(asked, found).iter());
        let told = [
            (applied, Sentences::limits_applied as fn(Sentences, &str) -> String),
            (unknown, Sentences::limits_unknown),
            (not_understood, Sentences::not_understood),
        ];
        let told = told.iter().filter(|(limits, _)| !limits.is_empty());
        let mut told: String = told.map(|(limits, sentence)| format!(" {}", sentence(self.say, limits))).collect();
        let broadened = found.broadened.iter();
        told.extend(
            broadened.map(|one| format!(" {}", self.say.broader_shown(&plain(&one.asked), &plain(&one.broader)))),
        );
        let absent = found.absent.iter().map(|feature| format!(" {}", self.say.says_nothing_of(&plain(feature))));
        told.extend(absent);
        let left_out = found.left_out.iter().filter(|left| left.items > 0);
        let left_out = left_out.map(|left| format!(" {}", self.say.left_out(left.items, &plain(&left.limit))));
        told + &left_out.collect::<String>() + &self.conflicts(asked)
    }

    /// What contradicts itself in the question, and the best of each way to read it.
    fn conflicts(&self, asked: &SearchRequest) -> String {
        let Some(Contradiction { limit, demand }) = asked.contradictions.first() else { return String::new() };
        let mut told = format!(" {}", self.say.contradiction(&plain(&limit.words), &plain(&demand.words)));
        // Nobody can keep both parts: the best of either reading lets the person decide.
        for (reading, given_up) in [(limit, demand), (demand, limit)] {
            let query = Query { text: reading.text.clone(), filters: reading.filters.clone(), ..Query::new("") };
            let best = self.library.search(&Query { limit: 1, ..query }).ok().and_then(|mut hits| hits.pop());
            if let Some(best) = best {
                let reading = self.say.reading_without(&plain(&given_up.words), &self.best(&best));
                told.push_str(&format!(" {reading}."));
            }
        }
        told
    }

    /// Whether a constraint only repeats what the items are called: `Recipe` of `recipes`.
    fn is_what_all_are(&self, words: &str) -> bool {
        let words = words.trim_start_matches("@type: ");
        !words.is_empty() && self.item_label.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words))
    }

    /// One item of the list: its name, its facts, what it says, and why it is here. `why` is what somebody who
    /// judged it says, and may be empty.
    pub(super) fn item(&self, number: usize, hit: &Hit, question: &str, why: &str) -> String {
        let facts = facts(self.say, &hit.item).iter().map(|fact| plain(fact)).collect::<Vec<_>>().join(", ");
        let mut lines = vec![format!("\n{number}. {}", link(&hit.name, hit.url.as_deref()))];
        if !facts.is_empty() {
            lines[0].push_str(&format!(": {facts}"));
        }
        if !hit.snippet.is_empty() {
            lines.push(plain(&hit.snippet));
        }
        let mentioned = mentions(hit, question);
        if !mentioned.is_empty() {
            let entries = mentioned.iter().map(|entry| plain(entry)).collect::<Vec<_>>().join("; ");
            lines.push(self.say.item_mentions(&entries));
        }
        let fits = self.fits(hit, |matched| plain(&self.kept(hit, matched)));
        if !fits.is_empty() {
            lines.push(self.say.item_fits(&fits.join("; ")));
        }
        if !why.is_empty() {
            lines.push(self.say.item_why(&plain(why)));
        }
        // Two spaces before a line's end break the line inside a list item.
        let indent = " ".repeat(number.to_string().len() + 2);
        lines.join(&format!("  \n{indent}"))
    }

    /// An item in half a sentence.
    fn best(&self, hit: &Hit) -> String {
        let name = link(&hit.name, hit.url.as_deref());
        match time(self.say, &hit.item) {
            Some(time) => self.say.with_time(&name, &time),
            None => name,
        }
    }

    /// The best item without one limit: its price says by how much it misses one.
    fn nearest(&self, hit: &Hit) -> String {
        let offers = hit.item.get("offers").filter(|_| time(self.say, &hit.item).is_none());
        match offers.and_then(|offers| price(self.say, offers)) {
            Some(price) => self.say.with_time(&link(&hit.name, hit.url.as_deref()), &plain(&price)),
            None => self.best(hit),
        }
    }

    /// A constraint with the fact that satisfies it, or that it is a promise alone.
    fn kept(&self, hit: &Hit, matched: &MatchedConstraint) -> String {
        match self.library.promise(&hit.item, &matched.unwanted) {
            Some(Promise::Name) => return self.say.promised_by_name(&matched.constraint),
            Some(Promise::Source) => return self.say.promised_by_source(&matched.constraint),
            None => {}
        }
        match &matched.value {
            Some(found) if !matched.constraint.contains(found.as_str()) => {
                format!("{} ({})", matched.constraint, value(self.say, found))
            }
            _ => matched.constraint.clone(),
        }
    }
}

impl LimitLookup for AnswerText<'_> {
    fn said(&self, text: &str) -> Vec<Filter> {
        self.library.understand(text, self.answer_in).filters
    }

    fn has_items(&self, limits: &[Filter]) -> bool {
        let query = Query { filters: limits.to_vec(), limit: 1, items_only: true, ..Query::default() };
        // When it fails, the question is answered without it.
        self.library.search(&query).is_ok_and(|hits| !hits.is_empty())
    }
}

/// What the question says and nothing could be held against, in its words.
fn not_understood(asked: &SearchRequest, found: &SearchResults) -> Vec<String> {
    asked.not_understood.iter().chain(&found.unmatched).chain(&found.unknown).cloned().collect()
}

/// A limit that holds, and the words in which the newest question says it.
fn applied_limit(asked: &SearchRequest, filter: &Filter) -> AppliedLimit {
    AppliedLimit { words: filter.words.clone(), said: asked.reading.saying(&filter.words).map(str::to_owned) }
}

fn spelling(correction: &Correction) -> SpellingCorrection {
    SpellingCorrection { written: correction.written.clone(), read_as: correction.read_as() }
}

/// What several items are called: as the operator says, in the agent's own language, else by a general word.
pub(super) fn items_word(say: Sentences, item_label: &str, own: &Language) -> String {
    let is_general = item_label == DEFAULT_ITEM_LABEL || SpokenLanguage::of(own) != Some(say.language());
    if is_general { say.items_generic() } else { plain(item_label) }
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
