//! Of which classes a text is: its members, apart from exceptions and from what the text says is absent.

use crate::class_set::ClassSet;
use crate::limits::{PHRASE_WORDS_MAX, PROMISES_MAX, REACH_WORDS_MAX};
use crate::phrases::{PhraseMatch, Phrases, Sign};
use crate::words::TextWords;

/// Words that may stand between "without" and what is absent: "without any added sugar". "No-salt butter" is butter.
const WORDS_BETWEEN: usize = 2;

/// What a text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClassJudgement {
    /// Classes that it is of.
    pub(crate) of: ClassSet,
    /// Classes that it promises not to be of.
    pub(crate) free: ClassSet,
}

/// How far a promise reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromiseReach {
    /// Over the whole text, as in names: "Vegan Mac and Cheese".
    Text,
    /// To the next comma or "or", as in lists of what is in something: "dairy-free margarine or butter".
    Words,
}

/// A promise of a text, and the words that it counts for.
#[derive(Debug, Clone, Copy)]
struct Promise {
    classes: ClassSet,
    start: usize,
    end: usize,
}

/// Buffers for judging one text after the other.
#[derive(Debug, Default)]
pub(crate) struct JudgeBuffers {
    words: TextWords,
    matches: Vec<PhraseMatch>,
    promises: Vec<Promise>,
}

/// Judges one text.
pub(crate) fn judge(
    text: &str,
    language: &str,
    phrases: &Phrases,
    reach: PromiseReach,
    buffers: &mut JudgeBuffers,
) -> ClassJudgement {
    let JudgeBuffers { words, matches, promises } = buffers;
    words.read(text, language);
    phrases.find(words, language, matches);
    promises.clear();
    find_promises(words, matches, phrases, language, reach, promises);
    let mut judgement = ClassJudgement::default();
    for (at, found) in matches.iter().enumerate() {
        let mut of = found.meaning.of;
        if reach == PromiseReach::Words {
            of = of.with(found.meaning.usually);
        }
        if of.is_empty() {
            continue;
        }
        // An exception counts over the words that it has: "coconut milk" takes the milk away, and no other milk of the
        // text.
        for other in around(matches, at).filter(|other| other.start <= found.start && found.end <= other.end) {
            of = of.without(other.meaning.not);
        }
        for promise in promises.iter().filter(|promise| promise.start <= found.start && found.end <= promise.end) {
            of = of.without(promise.classes);
        }
        judgement.of = judgement.of.with(of);
    }
    for promise in promises {
        judgement.free = judgement.free.with(promise.classes);
    }
    judgement
}

/// The matches that can hold the one at a place, itself among them: a phrase has few words, and matches come in the
/// order of their first one.
fn around(matches: &[PhraseMatch], at: usize) -> impl Iterator<Item = &PhraseMatch> {
    let start = matches[at].start;
    let before = matches[..at].iter().rev().take_while(move |other| other.start + PHRASE_WORDS_MAX > start);
    let behind = matches[at..].iter().take_while(move |other| other.start == start);
    before.chain(behind)
}

/// The words of a text that no phrase is about.
pub(crate) fn unknown_words(text: &str, language: &str, phrases: &Phrases) -> Vec<String> {
    let (mut words, mut matches) = (TextWords::default(), Vec::new());
    words.read(text, language);
    phrases.find(&words, language, &mut matches);
    let is_known = |at: usize| {
        let is_number = words.get(at).starts_with(|c: char| c.is_numeric());
        is_number || matches.iter().any(|found| found.start <= at && at < found.end)
    };
    (0..words.len()).filter(|at| !is_known(*at)).map(|at| words.get(at).to_owned()).collect()
}

fn find_promises(
    words: &TextWords,
    matches: &[PhraseMatch],
    phrases: &Phrases,
    language: &str,
    reach: PromiseReach,
    out: &mut Vec<Promise>,
) {
    let says = |found: &&PhraseMatch| found.meaning.sign.is_some() || !found.meaning.promised.is_empty();
    // Each promise is compared with each match: a text of nothing but "free" must not take quadratic time.
    for sign in matches.iter().filter(says).take(PROMISES_MAX) {
        match sign.meaning.sign {
            Some(Sign::Before) if is_real(sign, matches) => absent_behind(sign, words, matches, reach, out),
            Some(Sign::After) if is_real(sign, matches) => {
                // The longest name that ends where the sign begins, without a pause between.
                let named = matches.iter().filter(|found| found.end == sign.start && !found.meaning.named.is_empty());
                let named = named.min_by_key(|found| found.start);
                if let Some(named) = named.filter(|_| words.segment(sign.start - 1) == words.segment(sign.start)) {
                    out.push(promise(named.meaning.named, named.start, sign.end, words, matches, reach));
                }
            }
            _ if !sign.meaning.promised.is_empty() && !is_denied(sign, words, matches) => {
                out.push(promise(sign.meaning.promised, sign.start, sign.end, words, matches, reach));
            }
            _ => {}
        }
    }
    for at in 0..words.len() {
        let classes = phrases.absent_by_ending(words.get(at), language);
        if !classes.is_empty() && out.len() < PROMISES_MAX {
            out.push(promise(classes, at, at + 1, words, matches, reach));
        }
    }
}

/// Whether an "or" begins at a word.
fn is_joint(at: usize, matches: &[PhraseMatch]) -> bool {
    matches.iter().any(|found| found.start == at && found.meaning.sign == Some(Sign::Joining))
}

/// Whether no longer phrase makes something else of a sign: "free range".
fn is_real(sign: &PhraseMatch, matches: &[PhraseMatch]) -> bool {
    let longer = |other: &&PhraseMatch| {
        other.start <= sign.start && sign.end <= other.end && other.end - other.start > sign.end - sign.start
    };
    !matches.iter().filter(longer).any(|other| other.meaning.sign.is_some())
}

/// "not vegan", "non-vegetarian".
fn is_denied(promise: &PhraseMatch, words: &TextWords, matches: &[PhraseMatch]) -> bool {
    matches.iter().any(|sign| {
        matches!(sign.meaning.sign, Some(Sign::Before | Sign::Nothing))
            && sign.end == promise.start
            && words.sentence(sign.start) == words.sentence(promise.start)
    })
}

/// What "without" makes absent: names of classes with all that they stand for, and other things where they stand.
fn absent_behind(
    sign: &PhraseMatch,
    words: &TextWords,
    matches: &[PhraseMatch],
    reach: PromiseReach,
    out: &mut Vec<Promise>,
) {
    let mut at = sign.end;
    let mut between = 0;
    while at < words.len() && words.sentence(at) == words.sentence(sign.start) {
        let longest = |found: &&PhraseMatch| found.start == at;
        let found = matches.iter().filter(longest).max_by_key(|found| (found.end, !found.meaning.of.is_empty()));
        match found {
            Some(found) if !found.meaning.named.is_empty() => {
                // "Cake without milk": what is in front is meant.
                let mut promised = promise(found.meaning.named, sign.start, found.end, words, matches, reach);
                let before = (0..sign.start)
                    .rev()
                    .take(REACH_WORDS_MAX)
                    .take_while(|at| words.segment(*at) == words.segment(sign.start));
                let before = before.take_while(|at| !is_joint(*at, matches)).last();
                promised.start = promised.start.min(before.unwrap_or(promised.start));
                out.push(promised);
                (at, between) = (found.end, WORDS_BETWEEN);
            }
            Some(found) if !found.meaning.of.is_empty() => {
                out.push(Promise { classes: found.meaning.of, start: found.start, end: found.end });
                (at, between) = (found.end, WORDS_BETWEEN);
            }
            Some(found) if found.meaning.sign == Some(Sign::Joining) => (at, between) = (found.end, 0),
            Some(found) if found.meaning.sign == Some(Sign::Between) && between < WORDS_BETWEEN => {
                (at, between) = (found.end, between + 1);
            }
            _ => break,
        }
        // "without nuts, milk": what is behind a pause is there.
        if at < words.len() && words.segment(at) != words.segment(at - 1) {
            break;
        }
    }
}

/// A promise that stands from `start` to `end`, with the words that it reaches.
fn promise(
    classes: ClassSet,
    start: usize,
    end: usize,
    words: &TextWords,
    matches: &[PhraseMatch],
    reach: PromiseReach,
) -> Promise {
    // A promise between commas ("pasta, vegan") is about all of it; one before a word is about that word.
    let is_alone = {
        let own = |at: usize| words.segment(at) == words.segment(start);
        (start == 0 || !own(start - 1)) && (end >= words.len() || !own(end))
    };
    let sentence = |at: &usize| words.sentence(*at) == words.sentence(start);
    if reach == PromiseReach::Text || is_alone {
        let first = (0..start).rev().take_while(sentence).last().unwrap_or(start);
        let last = (end..words.len()).take_while(sentence).last().map_or(end, |at| at + 1);
        return Promise { classes, start: first, end: last };
    }
    let reached = (end..words.len())
        .take(REACH_WORDS_MAX)
        .take_while(|at| words.segment(*at) == words.segment(start) && !is_joint(*at, matches));
    Promise { classes, start, end: reached.last().map_or(end, |at| at + 1) }
}

#[cfg(test)]
mod tests {
    use crate::Vocabulary;
    use crate::limits::{COMPOUND_BYTES_MAX, JUDGED_WORDS_MAX, PROMISES_MAX};

    fn of(text: &str) -> Vec<String> {
        Vocabulary::shipped().classes_in(text, "en").of
    }

    #[test]
    fn promises_are_believed_up_to_the_bound() {
        let has_butter =
            |before: usize| of(&format!("{}, vegan butter", "vegan leaf, ".repeat(before))).contains(&"butter".into());
        assert!(!has_butter(PROMISES_MAX - 1));
        assert!(has_butter(PROMISES_MAX), "who says vegan too often is not believed");
    }

    #[test]
    fn a_long_text_comes_to_an_end() {
        for phrase in ["peanut butter ", "vegan ", "without nuts ", "free ", "or ", "x"] {
            of(&phrase.repeat(JUDGED_WORDS_MAX));
        }
    }

    #[test]
    fn parts_of_compounds_are_looked_for_up_to_the_bound() {
        let is_gluten = |bytes: usize| {
            let word = format!("{}mehl", "x".repeat(bytes - 4));
            Vocabulary::shipped().classes_in(&word, "de").of.contains(&"gluten".to_owned())
        };
        assert!(is_gluten(COMPOUND_BYTES_MAX) && !is_gluten(COMPOUND_BYTES_MAX + 1));
    }
}
