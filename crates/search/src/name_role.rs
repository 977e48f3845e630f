//! What a word is in the names of items: what a thing is ("soup"), or what describes it ("chicken"). It tells whether a
//! single word goes on with a question or begins another, in any domain: nothing is known but the names.

use forecourt_vocabulary::folded_word;

use super::request::ItemLookup;

/// Words that end the part of a name that says what it is.
const ENDS: &[&str] = &[
    "with", "without", "and", "or", "in", "on", "for", "from", "of", "against", "mit", "ohne", "und", "oder", "für",
    "gegen", "avec", "sans", "et", "ou", "pour", "contre", "con", "sin", "y", "para", "contra", "de", "à",
];
/// The part of the names with a word in which it says what the thing is, for it to stand for itself.
const HEAD_SHARE: f64 = 0.6;
/// Names that tell enough.
const NAMES_MIN: usize = 2;
/// Languages in which a name begins with what the thing is.
const HEAD_FIRST: [&str; 2] = ["fr", "es"];

/// Whether a word says what a thing is in most names that have it. `None`: too few names have it.
pub(super) fn stands_for_itself(words: &str, reads: &dyn ItemLookup) -> Option<bool> {
    let word = head(words, reads.language())?;
    let names = reads.names(&word);
    let in_name = |name: &&String| segments(name).iter().flatten().any(|other| is_same(other, &word));
    let all: Vec<&String> = names.iter().filter(in_name).collect();
    let heads = all.iter().filter(|name| is_head(name, &word, reads.language())).count();
    // One name tells nothing about how its words are used elsewhere.
    (all.len() >= NAMES_MIN).then_some(heads as f64 >= HEAD_SHARE * all.len() as f64)
}

/// The role that added words have in the names of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joining {
    /// They describe it: "muffins", then "blueberry".
    Describes,
    /// It describes them: "carrot", then "cake".
    IsDescribed,
}

/// How words belong to what was asked for, by the names of items that have all of them. `None`: they don't.
pub(super) fn joining(before: &str, words: &str, reads: &dyn ItemLookup) -> Option<Joining> {
    let (old, new) = (head(before, reads.language())?, head(words, reads.language())?);
    let names = reads.names(&format!("{before} {words}"));
    let describes = |one: &str, other: &str| {
        let has_both = |name: &String| {
            let others = tokens(words).into_iter().chain(tokens(before));
            let own = tokens(name);
            is_head(name, other, reads.language()) && has(&own, one) && others.into_iter().all(|word| has(&own, &word))
        };
        names.iter().any(has_both)
    };
    let is_sure = |word: &str| stands_for_itself(word, reads) == Some(true);
    match () {
        () if describes(&new, &old) && !is_sure(&new) => Some(Joining::Describes),
        () if describes(&old, &new) && !is_sure(&old) => Some(Joining::IsDescribed),
        () => None,
    }
}

/// The word that says what a thing is, where words alone are known.
pub(super) fn head(words: &str, language: &str) -> Option<String> {
    let first = segments(words).into_iter().find(|segment| !segment.is_empty())?;
    if is_head_first(language) { first.into_iter().next() } else { first.into_iter().next_back() }
}

/// Whether two words are the same, in the singular or the plural.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    if begin_otherwise(one, other) {
        return false;
    }
    let (one, other) = (&*folded_word(one), &*folded_word(other));
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    one == other
        || ["s", "es", "n", "en", "e"].iter().any(|end| long.strip_suffix(end) == Some(short))
        || matches!((short.strip_suffix('y'), long.strip_suffix("ies")), (Some(a), Some(b)) if a == b)
}

/// Whether two words have other first letters, which words that are the same have in common: what nearly all pairs of
/// words fail, at once. A shorter one may be no more than an ending.
fn begin_otherwise(one: &str, other: &str) -> bool {
    match (one.as_bytes(), other.as_bytes()) {
        ([one, _, ..], [other, _, ..]) if one.is_ascii_alphanumeric() && other.is_ascii_alphanumeric() => {
            !one.eq_ignore_ascii_case(other)
        }
        _ => false,
    }
}

pub(super) fn is_head_first(language: &str) -> bool {
    HEAD_FIRST.iter().any(|code| language.starts_with(code))
}

pub(super) fn is_head(name: &str, word: &str, language: &str) -> bool {
    let segments = segments(name);
    let Some(first) = segments.iter().find(|segment| !segment.is_empty()) else { return false };
    let head = if is_head_first(language) { first.first() } else { first.last() };
    head.is_some_and(|head| is_same(head, word))
}

fn has(tokens: &[String], word: &str) -> bool {
    tokens.iter().any(|token| is_same(token, word))
}

/// The words of a text that name something.
pub(super) fn tokens(text: &str) -> Vec<String> {
    segments(text).concat()
}

/// The words of a name, in parts: what it is comes in the first one.
pub(super) fn segments(name: &str) -> Vec<Vec<String>> {
    let mut parts = vec![Vec::new()];
    for word in name.split_whitespace() {
        let (begins, ends) = (
            word.starts_with(['(', '[', '-', '–', '&', '\'', '‘', '‚', '"', '“', '„', '«']),
            word.ends_with([',', ':', ';', ')', ']', '-']),
        );
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let parts_here = begins || ENDS.contains(&bare.as_str());
        if parts_here {
            parts.push(Vec::new());
        }
        if let Some(last) = parts.last_mut().filter(|_| !bare.is_empty() && !ENDS.contains(&bare.as_str())) {
            last.push(bare);
        }
        if ends {
            parts.push(Vec::new());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_thing_is_in_its_first_part() {
        for (name, word) in [
            ("Chicken Soup with Rice", "soups"),
            ("Blueberry Muffins (Gluten-Free)", "muffin"),
            ("Jacket, red", "jacket"),
            ("Garlic Bread", "bread"),
            ("Blackberry 'Navaho'", "blackberry"),
        ] {
            assert!(is_head(name, word, "en"), "{name}");
        }
        assert!(!is_head("Chicken Soup", "chicken", "en") && is_head("Soupe de poulet", "soupe", "fr"));
        assert_eq!(head("", "en"), None);
    }

    #[test]
    fn words_are_the_same_in_singular_and_plural() {
        for (one, other) in
            [("berry", "berries"), ("Soup", "soups"), ("dish", "dishes"), ("Suppe", "Suppen"), ("é", "e")]
        {
            assert!(is_same(one, other) && is_same(other, one), "{one} {other}");
        }
        assert!(!is_same("bread", "breakfast") && !is_same("soup", "soap"));
        assert!(is_same("y", "ies") && is_same("", "s") && !is_same("ay", "bies"));
    }
}
