//! Bounds of this crate, each with its unit.

/// Words of a question that are looked for; those after them are not.
pub const QUESTION_WORDS_MAX: usize = 64;
/// Words of one field of a description that are indexed.
pub const FIELD_WORDS_MAX: usize = 512;
/// Members of the schemas of one description whose names and words are indexed.
pub const MEMBERS_MAX: usize = 200;
/// Levels of a schema that are looked into.
pub const SCHEMA_DEPTH_MAX: usize = 5;
/// Bytes of a word; what is longer is cut.
pub const WORD_BYTES_MAX: usize = 64;
/// Words of a phrase that means the same as a word.
pub const PHRASE_WORDS_MAX: usize = 3;
/// Characters of the first sentence of a description that stand for its title where it has none.
pub const HEADLINE_CHARS_MAX: usize = 120;
