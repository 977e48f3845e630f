//! A question to a document: the section that answers it, as it was written, with links to it and to its
//! neighbours; or that none does.

use forecourt_index::{Hit, Library, WordCoverage};
use forecourt_loaders::item::SECTION;
use forecourt_sentences::Sentences;
use serde_json::Value;

use crate::fact_data;
use crate::facts::facts;
use crate::limits::SECTIONS_COMPARED_MAX;
use crate::markdown::{escaped_text, link, strip_hidden};
use crate::passage::{Passage, passage};

/// The part of a question's words, by weight, that a section needs to be shown as the answer.
const ANSWERS_MIN: f32 = 0.6;
/// The part that it needs to be shown at all, as the closest section.
const CLOSEST_MIN: f32 = 0.35;
/// The same where sections are found by meaning as well, in other words than those of the question.
const CLOSEST_BY_MEANING_MIN: f32 = 0.2;
/// What a word counts that says what is done rather than to what.
const WEAK_WORD: f32 = 0.3;
/// What it counts beside that a word is in the heading.
const HEADING: f32 = 0.5;

/// How well a section of a document answers a question, by the part of its words that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SectionMatch {
    /// It speaks of something else.
    Unrelated,
    /// It may not answer the question.
    Closest,
    /// It speaks of what was asked.
    Answers,
}

/// What a text states of itself, beside its words. Whatever states anything else is a thing: a hotel has an address.
const OF_TEXTS: &[&str] = &[
    "name",
    "alternateName",
    "headline",
    "title",
    "description",
    "text",
    "articleBody",
    "abstract",
    "url",
    "id",
    "identifier",
    "image",
    "thumbnailUrl",
    "author",
    "creator",
    "publisher",
    "datePublished",
    "dateModified",
    "dateCreated",
    "inLanguage",
    "keywords",
    "license",
    "isPartOf",
    "mainEntityOfPage",
    "articleSection",
    "about",
    "position",
    "wordCount",
    "potentialAction",
    "sameAs",
];

/// Whether an item is a text rather than a thing: what it says is the answer, and leads it.
pub(crate) fn is_text(say: Sentences, hit: &Hit) -> bool {
    !hit.snippet.is_empty()
        && (hit.item.get(SECTION).is_some() || (states_texts_alone(&hit.item) && facts(say, &hit.item).is_empty()))
}

fn states_texts_alone(item: &Value) -> bool {
    let of_text = |key: &String| key.starts_with(['@', '_']) || OF_TEXTS.contains(&key.as_str());
    item.as_object().is_none_or(|item| item.keys().all(of_text))
}

/// Puts the section first that speaks of most of a question, and tells how well it answers. `None` where what was
/// found are things, or nothing.
pub(crate) fn choose(say: Sentences, library: &Library, question: &str, hits: &mut [Hit]) -> Option<SectionMatch> {
    if !is_text(say, hits.first()?) {
        return None;
    }
    let texts = hits.iter().take(SECTIONS_COMPARED_MAX).take_while(|hit| is_text(say, hit));
    let worths: Vec<(f32, f32)> = texts.map(|hit| worth(&covered(library, question, hit))).collect();
    let mut best = 0;
    for (at, (_, worth)) in worths.iter().enumerate() {
        best = if *worth > worths[best].1 { at } else { best };
    }
    // The best comes first, and the others keep the order of the search.
    hits[..=best].rotate_right(1);
    // A section that was found by meaning answers in other words than those of the question.
    let closest = if library.has_model() { CLOSEST_BY_MEANING_MIN } else { CLOSEST_MIN };
    Some(match worths[best].0 {
        share if share >= ANSWERS_MIN => SectionMatch::Answers,
        share if share >= closest => SectionMatch::Closest,
        _ => SectionMatch::Unrelated,
    })
}

/// The section in words: its passage, where it is from, and what stands beside it.
pub(crate) fn section_answer(
    say: Sentences,
    library: &Library,
    question: &str,
    hit: &Hit,
    fits: SectionMatch,
) -> String {
    let Passage { text, is_cut } = written(library, question, hit);
    let mut lines = Vec::new();
    if fits != SectionMatch::Answers {
        lines.push(say.document_closest());
    }
    lines.push(text);
    let source = link(&hit.name, hit.url.as_deref());
    let mut about = if is_cut { say.document_continue(&source) } else { say.document_source(&source) };
    let near: Vec<String> = ["previous", "next"].iter().filter_map(|key| neighbour(hit, key)).collect();
    if !near.is_empty() {
        about.push_str(&format!(" {}", say.document_near(&near.join(", "))));
    }
    lines.push(about);
    lines.join("\n\n")
}

/// What a hit says: the markdown of its section, else its text.
fn written(library: &Library, question: &str, hit: &Hit) -> Passage {
    let worth = |block: &str| {
        let words = library.word_coverage(question, "", block);
        words.iter().filter(|word| word.in_text).map(weight).sum()
    };
    let section = hit.item.get(SECTION).and_then(|section| section.get("markdown")?.as_str());
    match section.filter(|markdown| !markdown.trim().is_empty()) {
        Some(markdown) => {
            let told = passage(markdown, &worth);
            // Markdown of the operator's own documents is shown as it is written; a plain text has none, and is
            // escaped.
            Passage { text: strip_hidden(&told.text), ..told }
        }
        None => {
            let told = passage(text(hit), &worth);
            Passage { text: escaped_text(&told.text), ..told }
        }
    }
}

/// A link to the section beside a section.
fn neighbour(hit: &Hit, key: &str) -> Option<String> {
    let beside = hit.item.get(SECTION)?.get(key)?;
    Some(link(beside.get("name")?.as_str()?, beside.get("url").and_then(Value::as_str)))
}

/// The text of an item without its markup.
fn text(hit: &Hit) -> &str {
    let texts = ["text", "articleBody", "description", "abstract"].iter();
    texts.filter_map(|key| hit.item.get(*key)?.as_str()).next().unwrap_or(&hit.snippet)
}

fn covered(library: &Library, question: &str, hit: &Hit) -> Vec<WordCoverage> {
    // The name has all headings above the section: these count as its text, and only its own as its heading.
    let heading = hit.name.rsplit(" › ").next().unwrap_or(&hit.name);
    library.word_coverage(question, heading, &format!("{}\n{}", hit.name, text(hit)))
}

/// The part of the question that is covered, and the same with what headings count more.
fn worth(words: &[WordCoverage]) -> (f32, f32) {
    let total: f32 = words.iter().map(weight).sum();
    if total <= 0.0 {
        // A question without words that say anything is answered by whatever was found.
        return (1.0, 1.0);
    }
    let part = |has: fn(&WordCoverage) -> bool| words.iter().filter(|word| has(word)).map(weight).sum::<f32>() / total;
    let share = part(|word| word.in_heading || word.in_text);
    (share, share + HEADING * part(|word| word.in_heading))
}

fn weight(word: &WordCoverage) -> f32 {
    let lower = word.word.to_lowercase();
    let lower = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let is_weak = fact_data::questions().iter().any(|language| language.weak.contains(lower));
    word.weight * if is_weak { WEAK_WORD } else { 1.0 }
}
