//! Items by their name, as a person says it.

use forecourt_index::{Error, Hit, Library, Query};
use forecourt_vocabulary::folded;

use crate::fact_words::is_definite;
use crate::facts::stem;
use crate::limits::NAMED_ITEMS_MAX;

/// Words of an item's name beyond those that were said: a longer name is that of something else.
const FURTHER_WORDS_MAX: usize = 2;
/// Items that may have a name in part, and be what one of them is meant by. More are a kind of thing.
const PARTLY_NAMED_MAX: usize = 4;
/// How alike two names are that one typing error tells apart.
const ALIKE_MIN: f64 = 0.85;
/// Characters of a name in which a typing error is forgiven.
const TYPED_CHARS_MIN: usize = 5;

/// How well a name fits what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameMatch {
    /// The same words.
    Same,
    /// The same words but for what stands in brackets, for a number at the end, or for endings.
    Almost,
    /// Spelled almost so.
    Typed,
    /// All words that were said, and a few others.
    Part,
}

/// The items that one of these phrases names, those that it names best alone, best first. Empty: nothing is
/// called so.
pub(crate) fn named(library: &Library, phrases: &[&str]) -> Result<Vec<Hit>, Error> {
    let mut best: Option<NameMatch> = None;
    let mut found: Vec<Hit> = Vec::new();
    for phrase in phrases {
        let said = words(phrase);
        if said.is_empty() {
            continue;
        }
        let query = Query { text: (*phrase).to_owned(), limit: NAMED_ITEMS_MAX, items_only: true, ..Query::default() };
        for hit in library.search(&query)? {
            let Some(fits) = fits(&said, &hit.name) else { continue };
            match best {
                Some(known) if known < fits => {}
                Some(known) if known == fits => push_new(&mut found, hit),
                _ => (best, found) = (Some(fits), vec![hit]),
            }
        }
        // Phrases come the most literal first: no later one can name it better.
        if best == Some(NameMatch::Same) {
            break;
        }
    }
    if found.is_empty() {
        found.extend(only_called(library, phrases)?);
    }
    // `Chicken soup` within many names is a kind of dish, and no item.
    let is_kind = best == Some(NameMatch::Part) && found.len() > PARTLY_NAMED_MAX;
    Ok(if is_kind { Vec::new() } else { found })
}

/// The only item whose short name has a word that is said alone: "the Riesling" of a shop that has one.
fn only_called(library: &Library, phrases: &[&str]) -> Result<Option<Hit>, Error> {
    // "Does rice contain gluten?" asks of no dish.
    let is_known = phrases.iter().any(|phrase| phrase.split_once(' ').is_some_and(|(first, _)| is_definite(first)));
    let said = phrases.last().map(|phrase| words(phrase)).unwrap_or_default();
    let [word] = said.as_slice() else { return Ok(None) };
    if !is_known || word.chars().count() < TYPED_CHARS_MIN {
        return Ok(None);
    }
    let query = Query { text: word.clone(), limit: NAMED_ITEMS_MAX, items_only: true, ..Query::default() };
    let is_called = |hit: &Hit| words(&hit.name).iter().any(|other| stem(other) == stem(word));
    let mut called: Vec<Hit> = library.search(&query)?.into_iter().filter(is_called).collect();
    let is_short = |hit: &Hit| words(&hit.name).len() <= 1 + FURTHER_WORDS_MAX;
    Ok(called.pop().filter(|hit| called.is_empty() && is_short(hit)))
}

fn push_new(found: &mut Vec<Hit>, hit: Hit) {
    if found.iter().all(|known| known.id != hit.id) {
        found.push(hit);
    }
}

fn fits(said: &[String], name: &str) -> Option<NameMatch> {
    let whole = words(name);
    if whole == said {
        return Some(NameMatch::Same);
    }
    let mut short = words(name.split(['(', '[']).next().unwrap_or(name));
    if short.len() > 1 && short.last().is_some_and(|last| is_number(last)) {
        short.pop();
    }
    let is_like = |a: &[String], b: &[String]| {
        a.len() == b.len() && !a.is_empty() && a.iter().zip(b).all(|(a, b)| stem(a) == stem(b))
    };
    if short == said || is_like(&whole, said) || is_like(&short, said) {
        return Some(NameMatch::Almost);
    }
    let typed = said.join(" ");
    let is_typed = |name: &[String]| strsim::normalized_damerau_levenshtein(&typed, &name.join(" ")) >= ALIKE_MIN;
    if typed.chars().count() >= TYPED_CHARS_MIN && (is_typed(&whole) || is_typed(&short)) {
        return Some(NameMatch::Typed);
    }
    // A single word is in many names and stands for none of them.
    let is_part = said.len() > 1
        && whole.len() <= said.len() + FURTHER_WORDS_MAX
        && said.iter().all(|word| whole.iter().any(|other| stem(other) == stem(word)));
    is_part.then_some(NameMatch::Part)
}

/// Whether a word at a name's end only tells variants apart: "Hummus II".
fn is_number(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_digit()) || matches!(word, "i" | "ii" | "iii" | "iv" | "v" | "vi" | "vii" | "viii")
}

/// The words of a name, folded.
fn words(name: &str) -> Vec<String> {
    let folded = folded(name).replace(['\'', '’'], "");
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(said: &str, name: &str) -> Option<NameMatch> {
        fits(&words(said), name)
    }

    #[test]
    fn names_are_matched_by_words() {
        for (said, name, wanted) in [
            ("borscht", "Borscht", Some(NameMatch::Same)),
            ("grandmas creme brulee", "Grandma's Crème Brûlée", Some(NameMatch::Same)),
            ("borscht", "Borscht (Ukrainian)", Some(NameMatch::Almost)),
            ("pancake", "Pancakes", Some(NameMatch::Almost)),
            ("hummus", "Hummus III", Some(NameMatch::Almost)),
            ("borsht", "Borscht", Some(NameMatch::Typed)),
            ("banana bread", "Quick Banana Bread", Some(NameMatch::Part)),
            ("banana bread", "Very Quick and Easy Banana Bread", None),
            ("bread", "Banana Bread", None),
            ("soup", "Soap", None),
            ("alien", "Aliens", Some(NameMatch::Almost)),
            ("it", "Item", None),
        ] {
            assert_eq!(fit(said, name), wanted, "{said}: {name}");
        }
    }
}
