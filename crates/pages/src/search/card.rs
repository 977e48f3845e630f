//! One item as a result: its picture, its name, where it comes from, why it is here.

use askama::Template;
use forecourt_core::findings::MatchReason;

use super::link::Place;
use crate::item::{Action, Item};
use crate::{clean, template};

/// A result with its number on the page, from 1.
#[derive(Template)]
#[template(path = "search/card.html")]
struct Card<'a> {
    number: usize,
    item: &'a Item,
    snippet: String,
    why: String,
    fits: Vec<String>,
    actions: &'a [Action],
}

/// An item as an element of the list of results. That it has what was chosen goes without saying.
pub(super) fn card(number: usize, item: &Item, reason: Option<&MatchReason>, place: &Place) -> String {
    let snippet = reason.map(|reason| clean::line(&reason.snippet)).filter(|snippet| !snippet.is_empty());
    let is_chosen = |fit: &&String| place.narrowing.exactly.iter().any(|(_, value)| value.eq_ignore_ascii_case(fit));
    let fits = reason.iter().flat_map(|reason| &reason.fits).filter(|fit| !is_chosen(fit));
    template::finish(&Card {
        number,
        item,
        snippet: snippet.unwrap_or_else(|| item.description.clone()),
        why: reason.map(|reason| clean::line(&reason.why)).unwrap_or_default(),
        fits: fits.map(|fit| clean::line(fit)).collect(),
        actions: &item.actions,
    })
}
