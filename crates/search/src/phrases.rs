//! Words that people put around what they ask for, as the vocabulary knows them.

use forecourt_vocabulary::ConversationPhrases;

/// Words in a turn that leans on the one before; a longer one stands for itself.
const LEANING_WORDS_MAX: usize = 10;
/// Bytes of a turn that asks for more.
const MORE_BYTES_MAX: usize = 100;

/// The phrases of all languages.
pub(super) fn phrases() -> &'static ConversationPhrases {
    ConversationPhrases::shipped()
}

/// Whether a turn asks for more of the same, and for nothing else.
pub(super) fn is_more(text: &str, item_label: &str) -> bool {
    if text.len() > MORE_BYTES_MAX {
        return false;
    }
    // "More recipes" is "more items", whatever they are called.
    let label = item_label.to_lowercase();
    let text = text.to_lowercase();
    phrases().is_more(&if label.is_empty() { text } else { text.replace(&label, "items") })
}

/// Whether a turn points at what was shown before.
pub(super) fn points_back(text: &str) -> bool {
    is_short(text) && phrases().points_back(text)
}

/// Whether a turn is so short that it may lean on the one before.
pub(super) fn is_short(text: &str) -> bool {
    text.split_whitespace().count() <= LEANING_WORDS_MAX
}

/// The words that ask for something.
pub(super) fn content_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty() && !phrases().is_filler(word))
}

/// The words of a text that ask for something, one space apart.
pub(super) fn content(text: &str) -> String {
    content_words(text).collect::<Vec<_>>().join(" ")
}
