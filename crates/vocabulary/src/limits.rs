//! Every bound of a vocabulary, with its unit.

/// Files in a deployment's folder `vocabulary`.
pub const FILES_MAX: usize = 64;
/// Classes of one vocabulary, those that come with the program included.
pub const CLASSES_MAX: usize = 256;
/// Areas, and ways to eat, of one vocabulary; each.
pub const AREAS_MAX: usize = 64;
/// Kinds of things, and properties, of one vocabulary; each.
pub const KINDS_MAX: usize = 512;
/// Groups of words that mean the same in one vocabulary.
pub const SYNONYMS_MAX: usize = 10_000;
/// Words and phrases of one list.
pub const LIST_WORDS_MAX: usize = 10_000;
/// Words and phrases of one vocabulary.
pub const WORDS_MAX: usize = 200_000;
/// Characters of one phrase.
pub const PHRASE_CHARS_MAX: usize = 80;
/// Words of one phrase.
pub const PHRASE_WORDS_MAX: usize = 8;
/// Words of one text that are judged; what is behind them is not read.
pub const JUDGED_WORDS_MAX: usize = 20_000;
/// Letters of a part of a compound word, at least. "Ei" is no part of "Reis".
pub const PART_LETTERS_MIN: usize = 4;
