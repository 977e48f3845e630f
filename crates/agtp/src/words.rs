//! Texts compared by their words, without a model.

/// Letters that the beginnings of two words must share to be akin.
const STEM_CHARS: usize = 4;

/// The words of a text, in lower case.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether one word is the beginning of the other, as `recipe` is of `recipes`.
pub(crate) fn is_akin(a: &str, b: &str) -> bool {
    let long_enough = a.chars().count().min(b.chars().count()) >= STEM_CHARS;
    long_enough && (a.starts_with(b) || b.starts_with(a))
}
