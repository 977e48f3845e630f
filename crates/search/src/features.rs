//! What a question wants things to have: "a flat with a swimming pool". Where none of them says it, that is told; where some
//! do, they come first.

use forecourt_index::{Error, Hit, Library};
use forecourt_loaders::item::SECTION;
use forecourt_understanding::{Filter, PartRole, ReadPart};
use forecourt_vocabulary::{PhraseMeaning, QuestionLexicon, WordClass, thing_key, tokens};

use super::phrases::{content, content_words};
use super::request::SearchRequest;

/// Words of the longest feature: more of them are prose.
const FEATURE_WORDS_MAX: usize = 3;
/// Features of one question that are looked for.
const FEATURES_MAX: usize = 4;

/// The features of a question that are words, and no limit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Features {
    /// Those that some item of the kind has.
    pub(super) present: Vec<String>,
    /// Those that none has.
    pub(super) absent: Vec<String>,
}

impl Features {
    /// Looks for what the newest turn wants. With a model nothing is told: it finds what is said in other words.
    pub(super) fn of(library: &Library, asked: &SearchRequest, filters: &[Filter]) -> Result<Self, Error> {
        let mut found = Self::default();
        if library.has_model() || asked.offset > 0 {
            return Ok(found);
        }
        for (kind, feature) in wanted(asked).into_iter().take(FEATURES_MAX) {
            match is_said(library, &kind, &feature, filters)? {
                true => found.present.push(feature),
                false => found.absent.push(feature),
            }
        }
        Ok(found)
    }

    /// The absent ones, where what was found are things. Documents speak of what they like.
    pub(super) fn told(self, hits: &[Hit]) -> Vec<String> {
        let are_things = !hits.is_empty() && hits.iter().all(|hit| hit.item.get(SECTION).is_none());
        if are_things { self.absent } else { Vec::new() }
    }

    /// The words of those that some item has.
    pub(super) fn leanings(&self) -> impl Iterator<Item = String> + '_ {
        self.present.iter().flat_map(|feature| content_words(feature)).map(str::to_lowercase)
    }
}

/// Leaves out things that say that they have no such thing, where others say nothing of the kind: a dress "without
/// pockets" is none with pockets.
pub(super) fn leave_out_denied(library: &Library, wanted: &[String], hits: &mut Vec<Hit>) {
    let wanted: Vec<String> = wanted.iter().map(|feature| thing_key(feature)).collect();
    let denies = |hit: &Hit| {
        let texts = ["name", "description"].into_iter().filter_map(|key| hit.item.get(key)?.as_str());
        let absent: Vec<String> = texts.flat_map(|text| library.vocabulary().absent_in(text)).collect();
        wanted.iter().any(|feature| absent.contains(feature))
    };
    if !wanted.is_empty() && hits.iter().any(|hit| !denies(hit)) {
        hits.retain(|hit| !denies(hit));
    }
}

/// Words without those of some features. `None`: nothing is left.
pub(super) fn without(words: &str, features: &[String]) -> Option<String> {
    let is_of_feature = |word: &&str| features.iter().any(|feature| feature.split(' ').any(|other| other == *word));
    let left: Vec<&str> = words.split(' ').filter(|word| !is_of_feature(word)).collect();
    (!left.is_empty()).then(|| left.join(" "))
}

/// Each feature behind a "with", and what stands in front of it.
fn wanted(asked: &SearchRequest) -> Vec<(String, String)> {
    let reading = &asked.reading;
    let parts: Vec<&ReadPart> = reading.parts().collect();
    let words = |part: &ReadPart| reading.words(part).map(content).unwrap_or_default();
    let subject = |at: usize| parts.get(at).filter(|part| part.role == PartRole::Subject).map(|part| words(part));
    let leads = |part: &ReadPart| part.role == PartRole::Filler && reading.words(part).is_some_and(says_with);
    let all = parts.iter().enumerate().filter(|(_, part)| leads(part));
    all.filter_map(|(at, _)| {
        let feature = subject(at + 1).filter(|feature| is_short(feature))?;
        let kind = at.checked_sub(1).and_then(subject).unwrap_or_default();
        Some((kind, feature))
    })
    .collect()
}

fn is_short(feature: &str) -> bool {
    (1..=FEATURE_WORDS_MAX).contains(&feature.split_whitespace().count())
}

/// Whether a filler has a word that leads to what is wished for.
fn says_with(words: &str) -> bool {
    let tokens = tokens(words);
    let with = PhraseMeaning::Word(WordClass::With);
    (0..tokens.len())
        .any(|at| QuestionLexicon::shipped().meanings(&tokens[at..]).into_iter().any(|(meaning, _)| *meaning == with))
}

/// Whether some item says a feature that is what stands in front of it, as far as a word of that is known.
fn is_said(library: &Library, kind: &str, feature: &str, filters: &[Filter]) -> Result<bool, Error> {
    if !library.says_all(feature, filters)? {
        return Ok(false);
    }
    let mut is_of_kind = None;
    for word in content_words(kind) {
        if library.says_all(word, filters)? {
            let has_both = library.says_all(&format!("{word} {feature}"), filters)?;
            is_of_kind = Some(is_of_kind.unwrap_or(false) || has_both);
        }
    }
    Ok(is_of_kind.unwrap_or(true))
}

#[cfg(test)]
mod tests {
    use super::super::request::TurnReading;
    use super::*;

    #[test]
    fn what_stands_behind_with_is_a_feature_of_what_is_before() {
        let part = |bytes: std::ops::Range<usize>, role: PartRole| ReadPart { bytes, role };
        let asked =
            |text: &str, parts| SearchRequest { reading: TurnReading::new(text, parts), ..SearchRequest::default() };
        let pool = asked(
            "flat with a swimming pool",
            vec![part(0..4, PartRole::Subject), part(5..11, PartRole::Filler), part(12..25, PartRole::Subject)],
        );
        assert_eq!(wanted(&pool), [("flat".to_owned(), "swimming pool".to_owned())]);
        let german = asked(
            "Wohnung mit Pool",
            vec![part(0..7, PartRole::Subject), part(8..11, PartRole::Filler), part(12..16, PartRole::Subject)],
        );
        assert_eq!(wanted(&german), [("Wohnung".to_owned(), "Pool".to_owned())]);
        let not_led = asked(
            "flat in town",
            vec![part(0..4, PartRole::Subject), part(5..7, PartRole::Filler), part(8..12, PartRole::Subject)],
        );
        assert!(wanted(&not_led).is_empty());
        let prose = |words: usize| is_short(&"x ".repeat(words));
        assert!(prose(FEATURE_WORDS_MAX) && !prose(FEATURE_WORDS_MAX + 1) && !is_short(""));
    }
}
