//! What was found, in words. The words are ours, short, and say nothing that the data does not.

use forecourt_content::{Correction, Filter, Hit, Library, MatchedConstraint};
use forecourt_core::findings::{Grounding, ItemFindings, MatchReason, SpellingCorrection};
use forecourt_core::{AgentCard, Event, Findings, Language, Part};
use serde::Deserialize;

use super::facts::{facts, mentions, time, value};
use super::find::SearchResults;
use super::markdown::{escaped, link, plain};
use super::request::SearchRequest;

/// What the words are about.
pub(super) struct AnswerText<'a> {
    /// What several items are called.
    pub(super) item_label: &'a str,
    pub(super) card: &'a AgentCard,
    pub(super) library: &'a Library,
    /// The language that it is in.
    pub(super) answer_in: &'a Language,
}

fn spelling(correction: &Correction) -> SpellingCorrection {
    SpellingCorrection { written: correction.written.clone(), read_as: correction.read_as() }
}

/// What was looked for instead of words that no item has.
fn corrected(found: &SearchResults) -> String {
    let one = |correction: &Correction| {
        format!(" Searched for {} instead of {}.", plain(&correction.read_as()), plain(&correction.written))
    };
    found.corrections.iter().map(one).collect()
}

/// What is told of an item beside itself.
pub(super) fn item(hit: &Hit, score: f32, reason: Option<MatchReason>) -> ItemFindings {
    let grounding = hit.item.get("grounding").and_then(|grounding| Grounding::deserialize(grounding).ok());
    ItemFindings { score, reason, grounding }
}

impl AnswerText<'_> {
    /// Who this is, and what can be asked. Speaks only of limits that the content knows.
    pub(super) fn introduction(&self) -> String {
        let mut text =
            format!("I am **{}**. {}", plain(&self.card.name), plain(&self.card.description)).trim_end().to_owned();
        let examples = match self.card.examples.is_empty() {
            false => self.card.examples.iter().collect::<Vec<_>>(),
            true => self.card.skills.iter().flat_map(|skill| &skill.examples).collect(),
        };
        if !examples.is_empty() {
            text.push_str("\n\nYou could ask:\n");
            examples.iter().for_each(|example| text.push_str(&format!("\n- {}", plain(example))));
        }
        let known = |words: &&&str| !self.library.understand(words, self.answer_in).filters.is_empty();
        let limits: Vec<String> = ["under 30 minutes", "no nuts", "vegetarian", "from 1999"]
            .iter()
            .filter(known)
            .map(|l| format!("“{l}”"))
            .collect();
        if !limits.is_empty() {
            text.push_str(&format!("\n\nPut limits in plain words, such as {}.", limits.join(", ")));
        }
        text.push_str(&format!(
            "\n\nSay *more* for further {}, or narrow an answer down with *only …*. I know {} of them.",
            plain(self.item_label),
            self.library.len()
        ));
        text
    }

    /// The answer: a lead, the items one by one, what to do next; then the items as data.
    pub(super) fn found(&self, asked: &SearchRequest, found: &SearchResults) -> Vec<Event> {
        let Some(best) = found.hits.first() else {
            return vec![Event::Text(self.nothing(asked, found))];
        };
        let first = asked.offset + 1;
        let mut texts = vec![format!("{}\n", self.lead(asked, found, best, found.hits.len()))];
        texts.extend(found.hits.iter().enumerate().map(|(at, hit)| self.item(first + at, hit, &asked.text, "")));
        if found.has_more {
            texts.push("\n\nSay *more* for the next ones.\n".to_owned());
        }
        let data = found.hits.iter().map(|hit| Event::Part(Part::data(hit.item.clone())));
        texts.into_iter().map(Event::Text).chain(data).collect()
    }

    /// What the answer says about itself, for those who ask.
    pub(super) fn findings(&self, asked: &SearchRequest, found: &SearchResults) -> Findings {
        let summary = match found.hits.first() {
            None => self.nothing(asked, found),
            Some(best) => self.lead(asked, found, best, found.hits.len()),
        };
        let mut ignored = asked.unread.clone();
        ignored.extend(found.ignored.iter().map(|named| named.name.clone()));
        ignored.dedup();
        let applied = found.applied.iter().map(|filter| filter.words.clone()).collect();
        let items = found.hits.iter().map(|hit| item(hit, hit.score, None)).collect();
        let (count, more) = (found.hits.len(), found.has_more);
        let not_understood = asked.not_understood.clone();
        let corrections = found.corrections.iter().map(spelling).collect();
        Findings { summary, count, more, applied, ignored, not_understood, corrections, items, ..Findings::default() }
    }

    /// What is told of each item, with why it is here.
    pub(super) fn explained(&self, found: &SearchResults) -> Vec<ItemFindings> {
        found.hits.iter().map(|hit| item(hit, hit.score, Some(self.reason(hit)))).collect()
    }

    /// Why an item is here.
    pub(super) fn reason(&self, hit: &Hit) -> MatchReason {
        MatchReason { snippet: hit.snippet.clone(), fits: self.fits(hit, said), why: String::new() }
    }

    /// The constraints that an item keeps, but for those that only repeat what it is.
    fn fits(&self, hit: &Hit, said: impl Fn(&MatchedConstraint) -> String) -> Vec<String> {
        hit.matched.iter().filter(|matched| !self.is_what_all_are(&matched.constraint)).map(said).collect()
    }

    /// The answer in a sentence or two: how many items there are, the `best` of the `count` that are shown, and
    /// under which limits.
    pub(super) fn lead(&self, asked: &SearchRequest, found: &SearchResults, best_hit: &Hit, count: usize) -> String {
        let item_label = plain(self.item_label);
        let quotes = asked.offset == 0 && is_prose(best_hit);
        let quote = if quotes { format!("{}\n\n", excerpt(best_hit)) } else { String::new() };
        let (best, offset) = (best(best_hit), asked.offset);
        let mut lead = match count {
            _ if offset > 0 => {
                format!(
                    "{} {} to {}, in the order in which they match.",
                    capital(&item_label),
                    offset + 1,
                    offset + count
                )
            }
            1 => format!("One match: {best}."),
            _ if !found.has_more => format!("{count} {item_label} match; the best is {best}."),
            _ => format!("Best match: {best}."),
        };
        lead.push_str(&self.limits(found));
        lead.push_str(&corrected(found));
        asked.notes.iter().for_each(|note| lead.push_str(&format!(" {}", plain(note))));
        quote + &lead
    }

    /// Says honestly that there is nothing, and what could be asked instead.
    fn nothing(&self, asked: &SearchRequest, found: &SearchResults) -> String {
        let item_label = plain(self.item_label);
        if asked.offset > 0 {
            return format!("That was all: there are no further {item_label} for this question.");
        }
        let mut text = format!("I found no {item_label} for this.{}", self.limits(found));
        match found.relaxations.as_slice() {
            [] if found.applied.is_empty() => text.push_str(" None of them mentions any of these words; try others."),
            [] => text.push_str(" Leaving out a single one of the limits would not help; try other words."),
            relaxations => {
                text.push_str("\n\nIt works with one limit less:\n");
                for (filter, hit) in relaxations {
                    text.push_str(&format!("\n- without “{}”: {}", plain(&filter.words), best(hit)));
                }
            }
        }
        text
    }

    /// The constraints that were applied, and those that could not be.
    fn limits(&self, found: &SearchResults) -> String {
        let list = |filters: &mut dyn Iterator<Item = &Filter>| {
            filters.map(|f| plain(&f.words)).collect::<Vec<_>>().join("; ")
        };
        let applied = list(&mut found.applied.iter().filter(|filter| !self.is_what_all_are(&filter.words)));
        let ignored = list(&mut found.ignored.iter().map(|named| &named.filter));
        let mut text = String::new();
        if !applied.is_empty() {
            text.push_str(&format!(" Limits: {applied}."));
        }
        if !ignored.is_empty() {
            text.push_str(&format!(" Not applied, since no item has it: {ignored}."));
        }
        text
    }

    /// Whether a constraint only repeats what the items are called: `Recipe` of `recipes`.
    fn is_what_all_are(&self, words: &str) -> bool {
        let words = words.trim_start_matches("@type: ");
        !words.is_empty() && self.item_label.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words))
    }

    /// One item of the list: its name, its facts, what it says, and why it is here. `why` is what somebody who
    /// judged it says, and may be empty.
    pub(super) fn item(&self, number: usize, hit: &Hit, question: &str, why: &str) -> String {
        let facts = facts(&hit.item).iter().map(|fact| plain(fact)).collect::<Vec<_>>().join(", ");
        let mut lines = vec![format!("\n{number}. {}", link(&hit.name, hit.url.as_deref()))];
        if !facts.is_empty() {
            lines[0].push_str(&format!(": {facts}"));
        }
        let leads = number == 1 && is_prose(hit);
        if !hit.snippet.is_empty() && !leads {
            lines.push(plain(&hit.snippet));
        }
        let mentioned = mentions(hit, question);
        if !mentioned.is_empty() {
            lines.push(format!("With {}", mentioned.iter().map(|entry| plain(entry)).collect::<Vec<_>>().join("; ")));
        }
        let fits = self.fits(hit, |matched| plain(&said(matched)));
        if !fits.is_empty() {
            lines.push(format!("Fits: {}", fits.join("; ")));
        }
        if !why.is_empty() {
            lines.push(format!("Why: {}", plain(why)));
        }
        // Two spaces before a line's end break the line inside a list item.
        let indent = " ".repeat(number.to_string().len() + 2);
        lines.join(&format!("  \n{indent}"))
    }
}

/// Whether an item is a text rather than a thing: what it says is the answer, and leads it.
fn is_prose(hit: &Hit) -> bool {
    !hit.snippet.is_empty() && facts(&hit.item).is_empty()
}

/// What a text says from its best sentence on, in whole sentences as far as they fit.
fn excerpt(hit: &Hit) -> String {
    const CHARS_MAX: usize = 600;
    let texts = ["text", "description", "articleBody"].iter().filter_map(|key| hit.item.get(*key)?.as_str());
    let whole = texts.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let from_best = |text: String| text.find(&hit.snippet).map(|start| text[start..].to_owned());
    let text = whole.filter_map(from_best).next().unwrap_or_else(|| hit.snippet.clone());
    match text.char_indices().nth(CHARS_MAX) {
        None => escaped(&text),
        Some((end, _)) => {
            let cut = &text[..end];
            escaped(cut.rfind(". ").map_or(cut, |stop| &cut[..=stop]))
        }
    }
}

/// An item in half a sentence.
fn best(hit: &Hit) -> String {
    let name = link(&hit.name, hit.url.as_deref());
    match time(&hit.item) {
        Some(time) => format!("{name}, ready in {time}"),
        None => name,
    }
}

/// A constraint with the fact that satisfies it.
fn said(matched: &MatchedConstraint) -> String {
    match &matched.value {
        Some(found) if !matched.constraint.contains(found.as_str()) => {
            format!("{} ({})", matched.constraint, value(found))
        }
        _ => matched.constraint.clone(),
    }
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
