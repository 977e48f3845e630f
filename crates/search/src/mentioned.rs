//! The item whose name stands somewhere in a question, and the question without it.

use forecourt_index::{Error, Hit, Library, Query};
use forecourt_vocabulary::folded;

use crate::fact_question::FactQuestion;
use crate::fact_words::is_definite;
use crate::limits::{FACT_QUESTION_BYTES_MAX, NAMED_ITEMS_MAX};

/// Words of a name that have to be said, unless it has fewer.
const SAID_MIN: usize = 2;
/// Words of a name that may be left out.
const LEFT_OUT_MAX: usize = 2;
/// Those of a name behind an article: of one thing that is known.
const KNOWN_LEFT_OUT_MAX: usize = 3;
/// Words of names that tell none, folded.
const SMALL: &[&str] = &[
    "the", "of", "and", "a", "an", "in", "at", "for", "by", "de", "la", "le", "les", "du", "des", "l", "d", "et",
    "der", "die", "das", "den", "dem", "und", "von", "zu", "am", "im", "el", "los", "las", "y", "del", "en", "con",
];
/// Words before a name that ask for something else than that item, folded.
const BESIDE: &[&str] = &[
    "near",
    "nearby",
    "around",
    "like",
    "similar",
    "than",
    "alternative",
    "alternatives",
    "als",
    "ahnlich",
    "nahe",
    "neben",
    "pres",
    "comme",
    "similaire",
    "cerca",
    "como",
    "parecido",
    "parecida",
    "instead",
    "statt",
    "lieber",
];

/// The one item that a question names in whole, or all but a word or two. `None`: it asks for no fact, or names no item or
/// several.
pub(crate) fn item(library: &Library, question: &str) -> Result<Option<Hit>, Error> {
    if question.len() > FACT_QUESTION_BYTES_MAX || FactQuestion::read(question).is_none() {
        return Ok(None);
    }
    let text = folded(question);
    if words(&text).any(|word| BESIDE.contains(&word)) {
        return Ok(None);
    }
    named_in(library, question)
}

/// The one item whose name a text has, however it goes on.
pub(crate) fn named_in(library: &Library, text: &str) -> Result<Option<Hit>, Error> {
    let folded_text = folded(text);
    let said: Vec<&str> = words(&folded_text).collect();
    let query = Query { text: text.to_owned(), limit: NAMED_ITEMS_MAX, items_only: true, ..Query::default() };
    let mut best: Option<(usize, Hit)> = None;
    let mut is_alone = false;
    for hit in library.search(&query)? {
        let count = said_of(&said, &hit.name);
        match &best {
            Some((most, _)) if *most > count => {}
            Some((most, _)) if *most == count => is_alone = false,
            _ if count > 0 => (best, is_alone) = (Some((count, hit)), true),
            _ => {}
        }
    }
    Ok(best.filter(|_| is_alone).map(|(_, hit)| hit))
}

/// How many words of a name stand together in what is said; 0 where too few do. Behind an article more may be left out:
/// "the Kia Niro" of a "Kia Niro EV 64 kWh".
fn said_of(said: &[&str], name: &str) -> usize {
    let name = folded(name).replace(['\'', '’'], "");
    let name: Vec<&str> = words(&name).collect();
    let telling = name.iter().filter(|word| !SMALL.contains(*word)).count();
    let (mut best, mut is_known) = (0, false);
    let mut at = 0_usize;
    // The longest run of words that are all of the name.
    for run in said.split(|word| !name.contains(word)) {
        let count = run.iter().filter(|word| !SMALL.contains(*word)).count();
        if count > best {
            let before = at.checked_sub(1).and_then(|before| said.get(before));
            (best, is_known) = (count, [before, run.first()].iter().flatten().any(|word| is_definite(word)));
        }
        at += run.len() + 1;
    }
    let left_out_max = if is_known { KNOWN_LEFT_OUT_MAX } else { LEFT_OUT_MAX };
    let is_enough = best >= SAID_MIN.min(telling) && telling.saturating_sub(best) <= left_out_max;
    if is_enough { best } else { 0 }
}

/// A question without the words of an item's name.
pub(crate) fn without_name(question: &str, name: &str) -> String {
    let name = folded(name).replace(['\'', '’'], "");
    let name: Vec<&str> = words(&name).collect();
    let is_other = |word: &&str| {
        let word = folded(word);
        words(&word).next().is_none() || words(&word).any(|part| !name.contains(&part))
    };
    question.split_whitespace().filter(is_other).collect::<Vec<_>>().join(" ")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_said_in_whole_or_nearly() {
        let count = |said: &str, name: &str| {
            let said = folded(said);
            said_of(&words(&said).collect::<Vec<_>>(), name)
        };
        for (said, name, wanted) in [
            ("when is check-out at the lake palace?", "Lake Palace Hotel & Spa", 2),
            ("wie schwer ist die Gartenschere Falk", "Bypass-Gartenschere Falk", 2),
            ("how old is the palace", "Lake Palace Hotel & Spa", 0),
            ("is the palace at the lake warm", "Lake Palace Hotel & Spa", 0),
            ("how strong is the barolo", "Barolo", 1),
            ("how long is the warranty on the Kiro Nova?", "Kiro Nova EV 64 kWh", 2),
            ("is a kiro nova cheap?", "Kiro Nova EV 64 kWh", 0),
            ("combien coûte le Loft Saxe Parc ?", "Loft Saxe du Grand Parc Nord", 3),
            ("what is the lake palace", "The Very Grand Lake Palace Hotel by Sea West", 0),
            ("c'est loin de la plage ?", "Grand Hôtel de la Plage", 0),
        ] {
            assert_eq!(count(said, name), wanted, "{said} {name}");
        }
    }

    #[test]
    fn what_is_asked_stays_without_the_name() {
        assert_eq!(without_name("how heavy is the Blue-Lamp II?", "Blue Lamp II"), "how heavy is the");
        assert_eq!(without_name("Wie alt?", "Lampe"), "Wie alt?");
        assert_eq!(without_name("", ""), "");
    }
}
