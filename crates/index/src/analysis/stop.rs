//! Words that say nothing about what is looked for. Left out of queries, and of the pairs of words in names; the
//! index keeps them otherwise, so a query that has nothing else still finds. A change of these lists changes the
//! index.

use std::collections::HashMap;
use std::sync::LazyLock;

use parking_lot::Mutex;
use tantivy::tokenizer::{RawTokenizer, StopWordFilter, TextAnalyzer};

use super::LanguageAnalyzer;

/// What people write around a question in English, beyond the classic list of articles and
/// prepositions.
const ENGLISH_QUESTION_WORDS: &[&str] = &[
    "about",
    "also",
    "am",
    "any",
    "anybody",
    "anyone",
    "anything",
    "because",
    "been",
    "being",
    "both",
    "can",
    "could",
    "did",
    "do",
    "does",
    "during",
    "each",
    "everyone",
    "few",
    "find",
    "from",
    "get",
    "give",
    "had",
    "has",
    "have",
    "having",
    "her",
    "here",
    "him",
    "his",
    "how",
    "i",
    "its",
    "just",
    "let",
    "like",
    "looking",
    "made",
    "make",
    "makes",
    "making",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "need",
    "other",
    "our",
    "own",
    "please",
    "recommend",
    "same",
    "shall",
    "she",
    "should",
    "show",
    "so",
    "some",
    "somebody",
    "someone",
    "something",
    "suggest",
    "tell",
    "than",
    "them",
    "those",
    "too",
    "until",
    "upon",
    "us",
    "very",
    "want",
    "we",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whose",
    "why",
    "would",
    "you",
    "your",
];

/// English words for any item whatever, sorted.
const ENGLISH_GENERIC_WORDS: &[&str] = &[
    "article",
    "articles",
    "book",
    "books",
    "breakfast",
    "dinner",
    "dinners",
    "dish",
    "dishes",
    "film",
    "films",
    "food",
    "foods",
    "idea",
    "ideas",
    "item",
    "items",
    "lunch",
    "lunches",
    "meal",
    "meals",
    "movie",
    "movies",
    "option",
    "options",
    "place",
    "places",
    "product",
    "products",
    "recipe",
    "recipes",
    "remedies",
    "remedy",
    "snack",
    "snacks",
    "supper",
    "thing",
    "things",
    "tonight",
    "weeknight",
];

/// The same in other languages, in which people ask whatever the items are in.
const OTHER_GENERIC_WORDS: &[(&str, &[&str])] = &[
    (
        "de",
        &[
            "angebot",
            "angebote",
            "angeboten",
            "artikel",
            "ding",
            "dinge",
            "etwas",
            "gericht",
            "gerichte",
            "idee",
            "ideen",
            "irgendwas",
            "mittel",
            "produkt",
            "produkte",
            "rezept",
            "rezepte",
            "sache",
            "sachen",
            "wurde",
            "wurden",
            "zeug",
            "zeig",
            "zeige",
            "suche",
            "finde",
            "empfiehl",
        ],
    ),
    (
        "fr",
        &[
            "article",
            "articles",
            "chose",
            "choses",
            "idée",
            "idées",
            "produit",
            "produits",
            "quelque",
            "recette",
            "recettes",
            "remède",
            "remèdes",
            "truc",
            "trucs",
            "endroit",
            "endroits",
            "offre",
            "offres",
            "annonce",
            "annonces",
            "lesquelles",
            "lesquels",
            "laquelle",
            "lequel",
            "montre",
            "montrez",
            "cherche",
            "trouve",
        ],
    ),
    (
        "es",
        &[
            "algo",
            "artículo",
            "artículos",
            "cosa",
            "cosas",
            "idea",
            "ideas",
            "producto",
            "productos",
            "receta",
            "lugar",
            "oferta",
            "ofertas",
            "recetas",
            "remedio",
            "remedios",
            "muéstrame",
            "busco",
            "dame",
            "enséñame",
        ],
    ),
];

static LISTS: LazyLock<Mutex<HashMap<LanguageAnalyzer, Option<TextAnalyzer>>>> = LazyLock::new(Mutex::default);

/// Whether a lower-case word, as written, is a stop word of the tongue.
pub(crate) fn is_stop_word(word: &str, tongue: LanguageAnalyzer) -> bool {
    if tongue == LanguageAnalyzer::ENGLISH && ENGLISH_QUESTION_WORDS.binary_search(&word).is_ok() {
        return true;
    }
    // One list for each language, kept: making it hashes all of its words.
    let mut lists = LISTS.lock();
    let list = lists.entry(tongue).or_insert_with(|| analyzer(tongue));
    list.as_mut().is_some_and(|list| !list.token_stream(word).advance())
}

/// Whether a lower-case word asks for nothing in particular.
pub(crate) fn is_generic_word(word: &str, tongue: LanguageAnalyzer) -> bool {
    if tongue == LanguageAnalyzer::ENGLISH {
        return ENGLISH_GENERIC_WORDS.binary_search(&word).is_ok();
    }
    OTHER_GENERIC_WORDS.iter().any(|(code, words)| *code == tongue.code() && words.contains(&word))
}

/// The text without stop words. Empty when there is nothing else.
pub(crate) fn content_words(text: &str, tongue: LanguageAnalyzer) -> String {
    let is_content = |word: &&str| {
        let bare = bare_word(word);
        !bare.is_empty() && !is_stop_word(&bare, tongue)
    };
    text.split_whitespace().filter(is_content).collect::<Vec<_>>().join(" ")
}

/// A word in lower case without the punctuation around it.
pub(crate) fn bare_word(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

fn analyzer(tongue: LanguageAnalyzer) -> Option<TextAnalyzer> {
    let filter = StopWordFilter::new(tongue.stop_list()?)?;
    Some(TextAnalyzer::builder(RawTokenizer::default()).filter(filter).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_those_of_the_language() {
        assert!(ENGLISH_QUESTION_WORDS.is_sorted() && ENGLISH_GENERIC_WORDS.is_sorted());
        assert!(is_stop_word("the", LanguageAnalyzer::ENGLISH) && is_stop_word("which", LanguageAnalyzer::ENGLISH));
        assert!(!is_stop_word("soup", LanguageAnalyzer::ENGLISH) && !is_stop_word("der", LanguageAnalyzer::ENGLISH));
        assert!(is_stop_word("der", LanguageAnalyzer::of("de")));
        assert!(!is_stop_word("the", LanguageAnalyzer::OTHER));
    }
}
