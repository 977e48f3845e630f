//! Text to words: the same steps for items and for queries, chosen by language.

mod fold;
mod stems;
mod stop;
mod text_language;
mod tokenizers;
mod tongue;
mod words;

pub(crate) use fold::{fold_text, without_doubles};
pub(crate) use stop::{bare_word, content_words, is_generic_word, is_stop_word};
pub(crate) use text_language::item_language;
pub(crate) use tokenizers::{
    FACT_END, NAME_WORDS_MAX, SPELLED_CHARS_MIN, backwards, endings_tokenizer, fact_word, facts_tokenizer, fnv,
    pairs_tokenizer, spelled_tokenizer, whole_fact, whole_name, words_tokenizer,
};
pub(crate) use tongue::LanguageAnalyzer;
pub(crate) use words::Words;
