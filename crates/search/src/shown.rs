//! The item that a caller means of those that were shown: the question that showed it is asked again, and has the same
//! answer.

use forecourt_index::{Error, Hit, Library, Query};
use forecourt_understanding::SortOrder;

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
