//! This module knows the words of questions that say how something is asked, and not what for.

use crate::words::is_plural;

/// Words of questions that say nothing of what is looked for. Sorted.
const EMPTY_WORDS: [&str; 85] = [
    "a",
    "about",
    "am",
    "an",
    "and",
    "any",
    "anybody",
    "anyone",
    "anything",
    "are",
    "as",
    "at",
    "be",
    "been",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "each",
    "everybody",
    "everyone",
    "everything",
    "for",
    "from",
    "go",
    "had",
    "has",
    "have",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "let",
    "like",
    "may",
    "me",
    "must",
    "my",
    "need",
    "of",
    "off",
    "on",
    "one",
    "or",
    "our",
    "out",
    "please",
    "should",
    "so",
    "some",
    "somebody",
    "someone",
    "that",
    "the",
    "their",
    "them",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "us",
    "want",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "whose",
    "will",
    "with",
    "would",
    "you",
    "your",
];

/// Words that begin a question for something that is known: `which messages did we send` sends nothing. Sorted.
const ASKING_WORDS: [&str; 15] =
    ["am", "are", "did", "do", "does", "has", "have", "how", "is", "was", "what", "when", "where", "which", "who"];

/// Words that begin a question without a verb: `all orders of a customer` wants to see them. Sorted.
const NAMING_WORDS: [&str; 13] =
    ["a", "all", "an", "any", "every", "her", "his", "my", "our", "the", "their", "these", "this"];
/// Words after `what` among which a plural says that a list is asked for.
const PLURAL_WITHIN: usize = 3;

/// Whether a word says nothing of what is looked for.
pub(crate) fn is_empty(word: &str) -> bool {
    EMPTY_WORDS.binary_search(&word).is_ok()
}

/// Whether a question asks for something that is known; `how do I` and its kin ask how to do something.
pub(crate) fn asks(written: &[String]) -> bool {
    let word = |at: usize| written.get(at).map_or("", String::as_str);
    let is_how_to = word(0) == "how" && ["can", "could", "do", "does", "should", "to", "would"].contains(&word(1));
    !is_how_to && ASKING_WORDS.binary_search(&word(0)).is_ok()
}

/// Whether a word begins a question without a verb.
pub(crate) fn names(word: &str) -> bool {
    NAMING_WORDS.binary_search(&word).is_ok()
}

/// The verb of what a question asks for. Who asks whether something is so wants to have it checked.
pub(crate) fn asked_for(written: &[String]) -> &'static str {
    let mut after = written.iter().skip(1).take(PLURAL_WITHIN).skip_while(|word| is_empty(word));
    match written.first().map_or("", String::as_str) {
        "which" | "who" => "list",
        "how" => "count",
        "what" if after.next().is_some_and(|word| is_plural(word)) => "list",
        "what" | "when" | "where" => "get",
        _ => "check",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    #[test]
    fn lists_are_sorted() {
        assert!(EMPTY_WORDS.is_sorted() && ASKING_WORDS.is_sorted() && NAMING_WORDS.is_sorted());
    }

    #[test]
    fn what_with_a_plural_asks_for_a_list() {
        let of = |text: &str| asked_for(&words(text).collect::<Vec<_>>());
        assert_eq!(
            (of("what orders are open"), of("what is the status"), of("what address is it")),
            ("list", "get", "get")
        );
        assert_eq!((of("which one"), of("how many"), of("is it open")), ("list", "count", "check"));
    }
}
