//! Every bound of a vocabulary, with its unit.

/// Files in a deployment's folder `vocabulary`.
pub const FILES_MAX: usize = 64;
/// Classes of one vocabulary, those that come with the program included.
pub(crate) const CLASSES_MAX: usize = 256;
/// Areas, and ways to eat, of one vocabulary; each.
pub(crate) const AREAS_MAX: usize = 64;
/// Kinds of things, properties, and values with names of their own, of one vocabulary; each.
pub(crate) const KINDS_MAX: usize = 512;
/// Groups of words that mean the same in one vocabulary.
pub(crate) const SYNONYMS_MAX: usize = 10_000;
/// Words of a question, with those between them that only tie others together, in which one phrase is looked for.
pub(crate) const SYNONYM_SPAN_MAX: usize = 6;
/// Groups that are narrower than one, whose words are looked for beside its own.
pub(crate) const NARROWER_MAX: usize = 48;
/// Words and phrases of one list.
pub const LIST_WORDS_MAX: usize = 10_000;
/// Words and phrases of one vocabulary.
pub const WORDS_MAX: usize = 200_000;
/// Characters of one phrase.
pub const PHRASE_CHARS_MAX: usize = 80;
/// Words of one phrase.
pub const PHRASE_WORDS_MAX: usize = 8;
/// Words of one text that are judged; what is behind them is not read.
pub(crate) const JUDGED_WORDS_MAX: usize = 20_000;
/// Things that one text says are not there. Of more, the first ones.
pub(crate) const ABSENT_THINGS_MAX: usize = 16;
/// Promises of one text, such as "vegan" and "without nuts", that are believed. Of more, the first ones.
pub(crate) const PROMISES_MAX: usize = 64;
/// Words behind and in front of a promise that it reaches, where no comma ends it before.
pub(crate) const REACH_WORDS_MAX: usize = 32;
/// Bytes of a compound word whose parts are looked for.
pub(crate) const COMPOUND_BYTES_MAX: usize = 48;
/// Letters of a part of a compound word, at least. "Ei" is no part of "Reis".
pub(crate) const PART_LETTERS_MIN: usize = 4;
