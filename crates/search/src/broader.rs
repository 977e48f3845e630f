//! One step up, where nothing is what was asked for: for a headache, what is for pain. It is told, and never tried where
//! something has the word itself, or a narrower one.

use forecourt_index::{Error, Hit, Library, Query};
use forecourt_vocabulary::folded;

use super::boost;
use super::head_noun::HeadNoun;
use super::name_role::is_same;
use super::phrases::content_words;
use super::request::SearchRequest;

/// Words of a question that are read for it.
const WORDS_MAX: usize = 16;

/// A thing that nothing here is, and the broader one that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BroaderSubject {
    /// In the words of the question.
    pub(super) asked: String,
    /// As items say it.
    pub(super) broader: String,
}

/// What is found by something broader: the text that was looked for, and the items. `None`: nothing is.
pub(super) fn search(
    library: &Library,
    asked: &SearchRequest,
    query: &Query,
) -> Result<Option<(BroaderSubject, Query, Vec<Hit>)>, Error> {
    let words: Vec<&str> = content_words(&query.text).take(WORDS_MAX).collect();
    let lower: Vec<String> = words.iter().map(|word| folded(word)).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    for (range, names) in library.vocabulary().broader_in(&lower) {
        let named = written(&query.text, &words[range.clone()]);
        // What is here and keeps no limit is asked for all the same: a folding bike under 3,000 is no other bike.
        if library.says_all(named, &[])? {
            continue;
        }
        let names: Vec<String> = names.iter().map(|synonym| synonym.parts.join(" ")).collect();
        let is_of_kind = names.iter().any(|name| is_end_of(name, named));
        for name in names.into_iter().filter(|name| library.knows_word(name)) {
            let text = [&words[..range.start], &[name.as_str()], &words[range.end..]].concat().join(" ");
            // All of it: who asks for headache drops is not served with what drops.
            if !library.says_all(&text, &query.filters)? {
                continue;
            }
            let wider = Query { text, ..query.clone() };
            let mut hits = boost::search(library, &wider, &asked.leanings, &asked.unwanted)?;
            // For a knee pain, what is for pain; but insurances of other things are no life insurance.
            if let Some(other) = HeadNoun::of(library, &name).filter(|_| is_of_kind) {
                hits.retain(|hit| !other.is_it(hit));
            }
            if !hits.is_empty() {
                return Ok(Some((BroaderSubject { asked: named.to_owned(), broader: name }, wider, hits)));
            }
        }
    }
    Ok(None)
}

/// Whether a broader name is a part of what was asked for: a life insurance is one of the insurances.
fn is_end_of(name: &str, asked: &str) -> bool {
    let words: Vec<&str> = asked.split_whitespace().collect();
    let ends = [words.first(), words.last()];
    words.len() > 1 && !name.contains(' ') && ends.into_iter().flatten().any(|word| is_same(word, name))
}

/// Words of a text with what stands between them: "mal de tête".
fn written<'t>(text: &'t str, words: &[&'t str]) -> &'t str {
    // They are parts of the text.
    let at = |word: &str| (word.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let ends = words.first().zip(words.last()).map(|(first, last)| at(first)..at(last) + last.len());
    ends.and_then(|bytes| text.get(bytes)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_with_what_ties_them_together() {
        let text = "contre le mal de tête";
        let words: Vec<&str> = text.split(' ').collect();
        assert_eq!(written(text, &[words[2], words[4]]), "mal de tête");
        assert_eq!((written(text, &words[..1]), written(text, &[])), ("contre", ""));
    }
}
