//! Which things a text says are not there: "ohne Parfüm", "perfume-free", "sans sulfites ajoutés". In whichever language,
//! and without knowing what the things are.

use std::collections::HashSet;

use crate::file::AbsenceTable;
use crate::fold::folded;
use crate::limits::ABSENT_THINGS_MAX;
use crate::words::TextWords;

/// Letters of a thing, at least.
const THING_LETTERS_MIN: usize = 3;
/// Letters of a word that its endings are not taken off.
const ROOT_LETTERS_MIN: usize = 4;
/// Endings of nouns in the languages that are known: what is left is the same in the singular and the plural, and often in
/// two languages, as in "sulfites" and "sulfitos".
const ROOT_ENDINGS: [char; 5] = ['s', 'n', 'e', 'o', 'a'];
/// Words between a thing and what it is of or from: oil of palm trees is no other oil.
const OF: [&str; 6] = ["of", "de", "du", "d", "von", "from"];
/// Words that may stand between a denial and what it denies.
const BETWEEN_MAX: usize = 2;

/// How texts say that something is not there, in all languages at once: phrases of folded words.
#[derive(Debug, Default)]
pub(crate) struct AbsenceSigns {
    before: Vec<Vec<String>>,
    between: HashSet<String>,
    after: HashSet<String>,
    endings: Vec<String>,
    joining: HashSet<String>,
    unless: Vec<Vec<String>>,
    /// Words beside a denial by which it is only offered: "sans gluten possible".
    offered: HashSet<String>,
    /// What a text must have for it to say so: the first words of denials, and those behind things.
    signs: HashSet<String>,
    /// Bytes of the longest of them.
    longest: usize,
}

impl AbsenceSigns {
    pub(crate) fn of(absence: &[(String, AbsenceTable)]) -> Self {
        let words = |list: fn(&AbsenceTable) -> &[String]| {
            absence.iter().flat_map(move |(_, table)| list(table)).map(|word| folded(word))
        };
        let phrases = |list: fn(&AbsenceTable) -> &[String]| {
            words(list)
                .map(|phrase| phrase.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        let before = phrases(|table| &table.before);
        let after: HashSet<String> = words(|table| &table.after).collect();
        let first = before.iter().filter_map(|phrase| phrase.first().cloned());
        let signs: HashSet<String> = first.chain(after.iter().cloned()).collect();
        Self {
            longest: signs.iter().map(String::len).max().unwrap_or_default(),
            before,
            after,
            between: words(|table| &table.between).collect(),
            endings: words(|table| &table.endings).collect(),
            joining: words(|table| &table.joining).collect(),
            unless: phrases(|table| &table.unless),
            offered: words(|table| &table.offered).map(|word| thing_key(&word)).collect(),
            signs,
        }
    }

    /// What a text says is not there, each as [`thing_key`] has it, at most [`ABSENT_THINGS_MAX`].
    pub(crate) fn things(&self, text: &str) -> Vec<String> {
        if !self.may_say(text) {
            return Vec::new();
        }
        let mut words = TextWords::default();
        // No language: words stay as they are written.
        words.read(text, "");
        let mut found = Vec::new();
        for at in (0..words.len()).filter(|at| !self.is_offered(&words, *at)) {
            if let Some(end) = self.denial(&words, at) {
                self.denied(&words, end, &mut found);
            } else if at > 0
                && self.after.contains(words.get(at))
                && words.segment(at - 1) == words.segment(at)
                && !self.only_looks_so(&words, at)
            {
                push(&mut found, &[words.get(at - 1)]);
            } else if let Some(thing) = self.without_ending(words.get(at)) {
                push(&mut found, &[thing]);
            }
        }
        found
    }

    /// Cheap, and decides for nearly all texts.
    fn may_say(&self, text: &str) -> bool {
        let is_sign = |word: &str| {
            (word.len() <= self.longest && self.signs.contains(word)) || self.without_ending(word).is_some()
        };
        let mut lower = String::new();
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).any(|word| match word.is_ascii() {
            true => {
                lower.clear();
                lower.push_str(word);
                lower.make_ascii_lowercase();
                is_sign(&lower)
            }
            false => is_sign(&folded(word)),
        })
    }

    /// Whether what stands between the same commas says that something can be had so, and not that it is.
    fn is_offered(&self, words: &TextWords, at: usize) -> bool {
        let is_near = |other: &usize| words.segment(*other) == words.segment(at);
        let before = (0..at).rev().take_while(is_near);
        before
            .chain((at + 1..words.len()).take_while(is_near))
            .any(|at| self.offered.contains(&thing_key(words.get(at))))
    }

    fn without_ending<'w>(&self, word: &'w str) -> Option<&'w str> {
        let things = self.endings.iter().filter_map(|ending| word.strip_suffix(ending.as_str()));
        things.filter(|thing| thing.chars().count() >= THING_LETTERS_MIN).min_by_key(|thing| thing.len())
    }

    /// Where the longest denial ends that begins at a word.
    fn denial(&self, words: &TextWords, at: usize) -> Option<usize> {
        let ends = self.before.iter().filter(|phrase| begins(words, at, phrase)).map(|phrase| at + phrase.len());
        ends.max().filter(|_| !self.only_looks_so(words, at))
    }

    fn only_looks_so(&self, words: &TextWords, at: usize) -> bool {
        self.unless.iter().any(|phrase| begins(words, at, phrase))
    }

    /// Takes the things behind a denial.
    fn denied(&self, words: &TextWords, start: usize, found: &mut Vec<String>) {
        let is_near = |at: usize| at < words.len() && at > 0 && words.segment(at) == words.segment(at - 1);
        let mut at = start;
        loop {
            let skipped = (at..at + BETWEEN_MAX).take_while(|at| is_near(*at) && self.between.contains(words.get(*at)));
            at += skipped.count();
            let thing = words.get(at);
            if !is_near(at) || thing.chars().count() < THING_LETTERS_MIN || !thing.chars().all(char::is_alphabetic) {
                return;
            }
            let next = if is_near(at + 1) { words.get(at + 1) } else { "" };
            let end = match OF.contains(&next) && is_near(at + 2) {
                true => at + 2,
                false => {
                    push(found, &[thing]);
                    at
                }
            };
            let further = if end > at { end } else { at + 1 };
            if is_near(further) && !self.joining.contains(words.get(further)) && !OF.contains(&words.get(further)) {
                push(found, &(at..=further).map(|at| words.get(at)).collect::<Vec<_>>());
            }
            at = end + 1;
            if !is_near(at) || !self.joining.contains(words.get(at)) {
                return;
            }
            at += 1;
        }
    }
}

fn begins(words: &TextWords, at: usize, phrase: &[String]) -> bool {
    !phrase.is_empty() && phrase.iter().enumerate().all(|(of, word)| words.get(at + of) == word)
}

fn push(found: &mut Vec<String>, words: &[&str]) {
    let key = thing_key(&words.join(" "));
    if found.len() < ABSENT_THINGS_MAX && !key.is_empty() && !found.contains(&key) {
        found.push(key);
    }
}

/// A thing as it is compared with what texts say is not there: folded, without the endings of its words, and without words
/// that only tie others together.
pub fn thing_key(phrase: &str) -> String {
    let folded = folded(phrase);
    let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && !OF.contains(word));
    let root = |word: &str| {
        let letters = word.chars().count();
        let endings = word.chars().rev().take_while(|c| ROOT_ENDINGS.contains(c)).count();
        let kept = letters - endings.min(letters.saturating_sub(ROOT_LETTERS_MIN));
        word.chars().take(kept).collect::<String>()
    };
    words.map(root).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Vocabulary;

    #[test]
    fn a_text_says_what_is_not_there() {
        for (text, things) in [
            ("Mizellenwasser ohne Parfüm, mit Aloe", &["Parfüm"][..]),
            ("Für empfindliche Haut. Ohne Parfüm und Alkohol.", &["Parfüm", "Alkohol"]),
            ("sans sulfites ajoutés", &["sulfites", "sulfites ajoutés"]),
            ("Sirop sans sucre, sans alcool", &["sucre", "alcool"]),
            ("sin azúcar ni colorantes", &["azúcar", "colorantes"]),
            ("Fragrance-free lotion", &["fragrance"]),
            ("free of gluten and dyes", &["gluten", "dyes"]),
            ("alkoholfreies Bier", &["alkohol"]),
            ("biscuits sans huile de palme", &["huile palme"]),
            ("without palm oil", &["palm", "palm oil"]),
            ("free range eggs", &[]),
            ("sans gluten possible sur demande", &[]),
            ("opciones veganas y sin gluten", &[]),
            ("auf Wunsch ohne Milch", &[]),
            ("mit Parfüm", &[]),
            ("no", &[]),
            ("", &[]),
        ] {
            let wanted: Vec<String> = things.iter().map(|thing| thing_key(thing)).collect();
            assert_eq!(Vocabulary::shipped().absent_in(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_thing_is_the_same_in_its_forms() {
        for (one, other) in
            [("sulfites", "sulfito"), ("Parabene", "parabens"), ("sucre", "sucres"), ("huile de palme", "huiles palme")]
        {
            assert_eq!(thing_key(one), thing_key(other));
        }
        assert_ne!(thing_key("lana"), thing_key("lan"));
        assert_eq!(thing_key("of"), "");
    }

    #[test]
    fn no_more_things_are_taken_than_the_bound() {
        let letters = |n: usize| {
            char::from(b'b' + (n % 20) as u8).to_string() + &"xyz"[..2] + &char::from(b'b' + (n / 20) as u8).to_string()
        };
        let text = |n: usize| (0..n).map(|n| format!("without {}q, ", letters(n))).collect::<String>();
        let count = |n: usize| Vocabulary::shipped().absent_in(&text(n)).len();
        assert_eq!((count(ABSENT_THINGS_MAX), count(ABSENT_THINGS_MAX + 1)), (ABSENT_THINGS_MAX, ABSENT_THINGS_MAX));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(sans|free|of|no|ohne|parfümfrei|ni|de|,| |.{0,4}){0,12}", any in any::<String>()) {
            Vocabulary::shipped().absent_in(&text);
            Vocabulary::shipped().absent_in(&any);
            thing_key(&any);
        }
    }
}
