//! The item that a caller means of those that were shown: the question that showed it is asked again, and has the same
//! answer.

use forecourt_index::{Error, Hit, Library, Query};
use forecourt_understanding::SortOrder;
use forecourt_vocabulary::folded;

use super::fact_words::is_definite;
use super::find::find;
use super::request::{ItemQuestion, SearchRequest, ShownHit, ShownItem};
use crate::limits::ORDERED_ITEMS_MAX;

/// The result of looking for an item that was shown before.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FoundItem {
    /// The item.
    Item(Box<ShownHit>),
    /// There is none at this position.
    NoSuchPosition(usize),
    /// None of the items that were shown states what the order goes by.
    NoOrder,
}

/// Finds the item, where answers have `page` items.
pub(super) fn item(library: &Library, about: &ItemQuestion, page: usize) -> Result<FoundItem, Error> {
    let shown = &about.shown;
    let page = shown.results.unwrap_or(page);
    let at = |position: usize, hit: Hit| FoundItem::Item(Box::new(ShownHit { position, hit }));
    match &about.which {
        ShownItem::Position(position) => {
            let hits = match position.checked_sub(1) {
                Some(offset) => find(library, &SearchRequest { offset, ..shown.clone() }, 1)?.hits,
                None => Vec::new(),
            };
            Ok(hits.into_iter().next().map_or(FoundItem::NoSuchPosition(*position), |hit| at(*position, hit)))
        }
        ShownItem::Last => {
            let hits = find(library, shown, page)?.hits;
            let position = shown.offset + hits.len();
            Ok(hits.into_iter().next_back().map_or(FoundItem::NoSuchPosition(1), |hit| at(position, hit)))
        }
        ShownItem::First(order) => {
            let hits = find(library, shown, page)?.hits;
            let first = first_by(library, shown, order, &hits)?;
            let place = first.and_then(|id| hits.iter().position(|hit| hit.id == id));
            Ok(place.map_or(FoundItem::NoOrder, |place| at(shown.offset + place + 1, hits[place].clone())))
        }
    }
}

/// The id of the one of these items that comes first in another order.
fn first_by(
    library: &Library,
    shown: &SearchRequest,
    order: &SortOrder,
    hits: &[Hit],
) -> Result<Option<String>, Error> {
    let asked = SearchRequest { offset: 0, order: Some(order.clone()), ..shown.clone() };
    // The filters as `find` understands them, so that the same items are put in order.
    let applied = find(library, &asked, 1)?.applied;
    let query = Query {
        text: shown.text.clone(),
        filters: applied,
        limit: ORDERED_ITEMS_MAX,
        order: Some(order.clone()),
        ..Query::default()
    };
    let ordered = library.search(&query)?;
    Ok(ordered.into_iter().map(|hit| hit.id).find(|id| hits.iter().any(|hit| hit.id == *id)))
}

/// The place of the one of these names that a text says a part of behind an article, as far as that tells it from the
/// others: "is the Kronos one dimmable?". `None`: it says none, or one of several. `is_own`: whether a word may be of a name
/// alone.
pub(super) fn named_by(text: &str, names: &[String], is_own: &dyn Fn(&str) -> bool) -> Option<usize> {
    let said = words(text);
    let names: Vec<Vec<String>> = names.iter().map(|name| words(name)).collect();
    // What all are called tells none apart.
    let tells = |word: &String| (names.len() == 1 || !names.iter().all(|name| name.contains(word))) && is_own(word);
    let behind = |name: &Vec<String>, at: usize| said[at..].iter().take_while(|word| name.contains(word)).count();
    let count = |name: &Vec<String>| {
        let articles = said.iter().enumerate().filter(|(_, word)| is_definite(word)).map(|(at, _)| at + 1);
        let runs = articles.map(|at| (at, behind(name, at)));
        let telling = runs.filter(|(at, run)| said[*at..*at + *run].iter().any(tells));
        telling.map(|(_, run)| run).max().unwrap_or_default()
    };
    let counts: Vec<usize> = names.iter().map(count).collect();
    let most = counts.iter().copied().max().filter(|most| *most > 0)?;
    let mut best = counts.iter().enumerate().filter(|(_, count)| **count == most);
    let (at, _) = best.next()?;
    best.next().is_none().then_some(at)
}

fn words(text: &str) -> Vec<String> {
    let folded = folded(text);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_shown_is_named_by_what_tells_it_from_the_others() {
        let names = ["Kronos Lamp 4", "Vega Lamp 7", "Vega Lamp Mini"].map(str::to_owned);
        for (text, at) in [
            ("is the Kronos one dimmable?", Some(0)),
            ("Wie schwer ist die Vega Lamp Mini?", Some(2)),
            ("is the Vega one dimmable?", None),
            ("is the lamp dimmable?", None),
            ("is Kronos any good?", None),
            ("does it glow?", None),
            ("", None),
        ] {
            assert_eq!(named_by(text, &names, &|_| true), at, "{text}");
        }
        assert_eq!(named_by("¿cuánto pesa la lamp?", &names[..1], &|_| true), Some(0));
        assert_eq!(named_by("how bright is the kronos?", &names, &|word| word != "kronos"), None);
        assert_eq!(named_by("the", &[], &|_| true), None);
    }
}
