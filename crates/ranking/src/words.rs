//! This module cuts texts and names into words and brings those to their stems.

use std::collections::HashMap;

use frostem::{Algorithm, Stemmer};

use crate::limits::WORD_BYTES_MAX;

/// Cuts texts into stems. Keeps the stems that it has made: descriptions repeat their words.
pub(crate) struct Stems {
    stemmer: Stemmer,
    made: HashMap<String, String>,
}

impl Stems {
    pub(crate) fn new() -> Self {
        Self { stemmer: Stemmer::new(Algorithm::English), made: HashMap::new() }
    }

    /// The stem of a lower-case word.
    pub(crate) fn stem(&mut self, word: &str) -> &str {
        if !self.made.contains_key(word) {
            let stem = match word.bytes().any(|b| b.is_ascii_digit()) {
                true => word.to_owned(),
                false => self.stemmer.stem(word).into_owned(),
            };
            self.made.insert(word.to_owned(), stem);
        }
        self.made.get(word).map_or("", String::as_str)
    }
}

/// The words of a text in lower case. Names fall into their words: `listCustomerBikes` and `list_customer_bikes` are
/// both three. An English `'s` is left out.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let runs = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    let bare = runs.map(|run| {
        let run = run.trim_matches(['\'', '’']);
        run.strip_suffix("'s").or_else(|| run.strip_suffix("’s")).unwrap_or(run)
    });
    bare.flat_map(|run| run.split(['\'', '’'])).flat_map(humps).filter(|word| !word.is_empty()).map(lower)
}

/// Whether an English word in lower case looks like a plural: `orders`, and neither `address` nor `status`.
pub(crate) fn is_plural(word: &str) -> bool {
    word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
}

fn lower(word: &str) -> String {
    let mut end = word.len().min(WORD_BYTES_MAX);
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    word[..end].to_lowercase()
}

/// The parts of a name that is written in humps: `HTMLParserV2` is `HTML`, `Parser` and `V2`.
fn humps(run: &str) -> impl Iterator<Item = &str> {
    let chars: Vec<(usize, char)> = run.char_indices().collect();
    let begins = |at: usize| {
        let (before, here) = (chars[at - 1].1, chars[at].1);
        let next_is_small = chars.get(at + 1).is_some_and(|(_, next)| next.is_lowercase());
        here.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_small))
    };
    // `IDs` is one word, and so is `PRs`: a plural and no hump.
    let is_plural = |at: usize| at + 2 == chars.len() && chars[at + 1].1 == 's' && chars[at - 1].1.is_uppercase();
    let mut starts: Vec<usize> = vec![0];
    starts.extend((1..chars.len()).filter(|at| begins(*at) && !is_plural(*at)).map(|at| chars[at].0));
    starts.push(run.len());
    let parts: Vec<&str> = starts.windows(2).map(|pair| &run[pair[0]..pair[1]]).collect();
    parts.into_iter()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Vec<String> {
        words(text).collect()
    }

    #[test]
    fn names_fall_into_their_words() {
        assert_eq!(
            of("listCustomerBikes list_customer-bikes"),
            ["list", "customer", "bikes", "list", "customer", "bikes"]
        );
        assert_eq!(of("HTMLParser getIDs OF2 v2"), ["html", "parser", "get", "ids", "of2", "v2"]);
        assert_eq!(of("the user's PRs, don’t"), ["the", "user", "prs", "don", "t"]);
    }

    #[test]
    fn plurals_end_in_s() {
        assert!(is_plural("orders") && ["address", "status", "analysis", "order"].iter().all(|word| !is_plural(word)));
    }

    #[test]
    fn long_words_are_cut_at_the_bound() {
        let exact = "x".repeat(WORD_BYTES_MAX);
        assert_eq!(of(&exact), std::slice::from_ref(&exact));
        assert_eq!(of(&format!("{exact}y")), [exact]);
    }

    proptest! {
        #[test]
        fn any_text_ends_in_words(text in any::<String>()) {
            prop_assert!(words(&text).all(|word| !word.contains(char::is_whitespace)));
        }
    }
}
