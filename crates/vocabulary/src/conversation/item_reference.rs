//! "The second one", "number 2", "what's in the first one?", "how long does it take?": an item that was shown.

use super::ConversationFile;
use crate::pattern::Pattern;

/// An item that was shown, and what is wanted of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemReference {
    /// Which one.
    pub position: ItemPosition,
    /// Whether something is asked about it, and not the item itself wanted.
    pub is_question: bool,
}

/// Which of the items that were shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemPosition {
    /// Counted from 1.
    Nth(usize),
    /// The last one.
    Last,
    /// The one that was spoken of last.
    That,
}

/// Characters of a number that can be meant: no list is that long.
const DIGITS_MAX: usize = 4;
/// Words of a message that points at an item by its number.
const WORDS_MAX: usize = 14;

/// Patterns of all languages.
#[derive(Debug)]
pub(super) struct ReferencePatterns {
    ordinals: Vec<Pattern>,
    last: Pattern,
    number: Pattern,
    thing: Pattern,
    choosing: Pattern,
    that_item: Pattern,
    about_item: Pattern,
    no_item: Pattern,
    question: Pattern,
}

impl ReferencePatterns {
    pub(super) fn of(files: &[ConversationFile]) -> Self {
        let all = |of: fn(&ConversationFile) -> &Vec<String>| -> Vec<String> {
            files.iter().flat_map(|file| of(file).iter().cloned()).collect()
        };
        let most = files.iter().map(|file| file.within.ordinals.len()).max().unwrap_or_default();
        let nth = |n: usize| -> Vec<String> {
            files.iter().filter_map(|file| file.within.ordinals.get(n).cloned()).collect()
        };
        Self {
            ordinals: (0..most).map(|n| Pattern::of(r"\b(?:", nth(n), r")\b")).collect(),
            last: Pattern::of(r"\b(?:", all(|file| &file.within.last), r")\b"),
            number: Pattern::of(r"(?:^|\s)(?:", all(|file| &file.within.number), r")\s*(\d+)\b"),
            thing: Pattern::of(r"^\s*(?:", all(|file| &file.within.thing), r")s?\b"),
            choosing: Pattern::of(r"^\s*(?:", all(|file| &file.within.choosing), r")\b[\s,:]*"),
            that_item: Pattern::whole(all(|file| &file.whole.that_item)),
            about_item: Pattern::whole(all(|file| &file.whole.about_item)),
            no_item: Pattern::of("", all(|file| &file.within.no_item), ""),
            question: Pattern::of(r"^[\s¿]*(?:", all(|file| &file.within.question), r")\b"),
        }
    }

    pub(super) fn read(&self, text: &str, item_label: &str) -> Option<ItemReference> {
        let text = text.trim_end_matches(['?', '!', '.', ' ']);
        // Who says much more than "the second one" asks something of its own.
        if text.split_whitespace().count() > WORDS_MAX {
            return None;
        }
        if let Some((position, range)) = self.numbered(text, item_label) {
            let around = format!("{} {}", &text[..range.start], &text[range.end..]);
            let is_question = !self.is_choice(&around);
            // "First course ideas" and "the last samurai" speak of no item; who asks about one asks a question.
            return (!is_question || self.asks(text)).then_some(ItemReference { position, is_question });
        }
        if self.that_item.is_match(text) {
            return Some(ItemReference { position: ItemPosition::That, is_question: false });
        }
        (self.about_item.is_match(text) && !self.no_item.is_match(text))
            .then_some(ItemReference { position: ItemPosition::That, is_question: true })
    }

    /// A number or an ordinal with what it counts, and where that stands.
    fn numbered(&self, text: &str, item_label: &str) -> Option<(ItemPosition, std::ops::Range<usize>)> {
        let digits = text.trim_start_matches('#').trim_end_matches([')', '.']);
        if !digits.is_empty() && digits.len() <= DIGITS_MAX && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some((ItemPosition::Nth(digits.parse().ok()?), 0..text.len()));
        }
        if let Some(found) = self.number.captures(text) {
            let (all, digits) = (found.get(0)?, found.get(1)?);
            let number = digits.as_str().parse().ok().filter(|_| digits.len() <= DIGITS_MAX)?;
            return Some((ItemPosition::Nth(number), all.range()));
        }
        let ordinals = self.ordinals.iter().zip(1..).map(|(pattern, n)| (pattern, ItemPosition::Nth(n)));
        let found = ordinals.chain([(&self.last, ItemPosition::Last)]);
        let mut found = found.filter_map(|(pattern, position)| Some((position, pattern.find(text)?.range())));
        let (position, range) = found.next()?;
        let rest = &text[range.end..];
        let label = item_label.trim_end_matches('s').to_lowercase();
        let is_label = |rest: &str| !label.is_empty() && rest.trim_start().to_lowercase().starts_with(&label);
        let thing = self.thing.find(rest).map(|found| found.end());
        let label = || is_label(rest).then(|| rest.len() - rest.trim_start().len() + label.len());
        let behind = thing.or_else(label);
        // Without a thing behind it, it is one only where nothing else follows.
        let is_asked_of = || self.is_asked_of(&text[..range.start]).then_some(0);
        let end = behind.or_else(|| self.is_choice(rest).then_some(0)).or_else(is_asked_of)?;
        Some((position, range.start..range.end + end.min(rest.len())))
    }

    /// Whether words say no more than that something is chosen.
    fn is_choice(&self, words: &str) -> bool {
        let mut rest = words.trim().trim_end_matches(['?', '!', '.', ',']);
        while let Some(found) = self.choosing.find(rest).filter(|found| !found.is_empty()) {
            rest = &rest[found.end()..];
        }
        rest.trim().is_empty()
    }

    /// Whether a question begins with a verb and an article, so that what follows is asked of that one: "does the second".
    fn is_asked_of(&self, before: &str) -> bool {
        let words: Vec<&str> = before.split_whitespace().collect();
        let [verb, article] = words.as_slice() else { return false };
        self.question.is_match(verb) && !verb.starts_with(['w', 'W', 'q', 'Q']) && self.is_choice(article)
    }

    fn asks(&self, text: &str) -> bool {
        self.question.is_match(text) || self.about_item.is_match(text)
    }
}
