//! Words that people put around what they ask for: greetings, "more", "only …", and those that ask for nothing.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

static HELLO: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:hi|hello|hey|hallo|greetings|good\s+(?:morning|day|afternoon|evening)|help|start|\?+|(?:what|how)\s+(?:can|do|could)\s+(?:you|i)\s+(?:do|ask|help|use\s+(?:you|this))(?:\s+(?:you|here|for\s+me|me\s+with))?|who\s+are\s+you|what\s+(?:is\s+this|are\s+you)|how\s+does\s+(?:this|it)\s+work)(?:\s+(?:there|you|everyone|please))?",
    )
});
static MORE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:and\s+|yes,?\s+|ok(?:ay)?,?\s+)?(?:(?:show|give|tell)\s+(?:me\s+)?)?(?:some\s+|any\s+|the\s+)?(?:more|next|continue|go\s+on|others|mehr|weitere|weiter|encore|davantage|la\s+suite|más)(?:\s+(?:please|results?|items?|ones|page|ten|of\s+(?:them|these|those|the\s+same)))*",
    )
});
/// Words at the beginning that go on with what was said before.
static GOES_ON: LazyLock<Regex> = LazyLock::new(|| {
    start(
        r"(?:(?:and|but|only|just|und|aber|nur|et|mais|seulement|pero|s[oó]lo|also|plus|ok(?:ay)?|now|then|yes|please|rather|instead|make\s+(?:it|them)|(?:which|any|some)\s+of\s+(?:them|these|those)|(?:can|could)\s+(?:it|they)\s+be|show\s+(?:me\s+)?(?:only|just))\b[\s,]*)+",
    )
});
/// Words that point at what was shown before.
static POINTS_BACK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:ones?|them|these|those)\b").expect("a pattern of our own"));
/// Words that ask for nothing by themselves.
const FILLERS: [&str; 48] = [
    "a",
    "about",
    "an",
    "any",
    "anything",
    "are",
    "be",
    "can",
    "dishes",
    "do",
    "find",
    "for",
    "give",
    "have",
    "i",
    "ideas",
    "in",
    "is",
    "it",
    "like",
    "looking",
    "make",
    "me",
    "need",
    "of",
    "one",
    "ones",
    "only",
    "please",
    "ready",
    "show",
    "should",
    "some",
    "something",
    "stuff",
    "that",
    "the",
    "them",
    "these",
    "they",
    "thing",
    "things",
    "those",
    "to",
    "want",
    "what",
    "which",
    "with",
];
/// Bytes of a turn that asks for more.
const MORE_BYTES_MAX: usize = 100;
/// Words in a turn that points back; a longer one stands for itself.
const POINTING_WORDS_MAX: usize = 10;

/// A pattern for a whole turn.
fn pattern(text: &str) -> Regex {
    Regex::new(&format!(r"(?i)^\s*(?:{text})[\s!.?,]*$")).expect("a pattern of our own")
}

/// A pattern for the beginning of a turn.
fn start(text: &str) -> Regex {
    Regex::new(&format!(r"(?i)^\s*{text}")).expect("a pattern of our own")
}

/// Whether a turn asks for nothing: it is empty, or says hello.
pub(super) fn is_greeting(text: &str) -> bool {
    text.trim().is_empty() || HELLO.is_match(text)
}

/// Whether a turn asks for more of the same, and for nothing else.
pub(super) fn is_more(text: &str, item_label: &str) -> bool {
    // "More recipes" is "more items", whatever they are called.
    text.len() <= MORE_BYTES_MAX && MORE.is_match(&text.to_lowercase().replace(&item_label.to_lowercase(), "items"))
}

/// A turn without the words at its beginning that go on with what was said before.
pub(super) fn behind_going_on(text: &str) -> Cow<'_, str> {
    GOES_ON.replace(text, "")
}

/// Whether a turn points at what was shown before.
pub(super) fn points_back(text: &str) -> bool {
    POINTS_BACK.is_match(text) && is_short(text)
}

/// Whether a turn is so short that it may lean on the one before.
pub(super) fn is_short(text: &str) -> bool {
    text.split_whitespace().count() <= POINTING_WORDS_MAX
}

/// The words that ask for something.
pub(super) fn content_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty() && !FILLERS.contains(&word.to_lowercase().as_str()))
}
