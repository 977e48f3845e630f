//! One item as a result: its picture, its name, what it costs, where it comes from, why it is here.

use askama::Template;
use forecourt_core::findings::{AppliedLimit, MatchReason};
use forecourt_sentences::Sentences;

use super::link::Place;
use crate::highlight::Words;
use crate::item::{Action, Fact, Item, Price};
use crate::{clean, template};

/// A result with its number on the page, from 1. What ends in `_html` is escaped, with the words of the question marked.
#[derive(Template)]
#[template(path = "search/card.html")]
struct Card<'a> {
    number: usize,
    item: &'a Item,
    monogram: String,
    title_html: String,
    snippet_html: String,
    price: Option<Price>,
    entries: Option<Vec<String>>,
    why: String,
    fits: Vec<String>,
    glance: Vec<Fact>,
    say: Sentences,
    actions: &'a [Action],
    /// Where a click is counted.
    ping: Option<String>,
}

/// In which words cards are told, and which are marked in them.
#[derive(Clone, Copy)]
pub(super) struct CardWords<'a> {
    pub(super) words: &'a Words,
    pub(super) say: Sentences,
    /// Whether this site counts clicks on them.
    pub(super) counts_clicks: bool,
}

/// An item as an element of the list of results. That it has what was chosen, or what is `applied` to all of them, goes
/// without saying; `marking` says which words are marked, and in which words the card is told.
pub(super) fn card(
    number: usize,
    item: &Item,
    reason: Option<&MatchReason>,
    place: &Place,
    applied: &[AppliedLimit],
    marking: CardWords<'_>,
) -> String {
    let CardWords { words, say, counts_clicks } = marking;
    let snippet = reason.map(|reason| clean::line(&reason.snippet)).filter(|snippet| !snippet.is_empty());
    let is_chosen = |fit: &&String| place.narrowing.exactly.iter().any(|(_, value)| value.eq_ignore_ascii_case(fit));
    // A fit is a limit, and what the item states in parentheses.
    let limit_of = |fit: &str| fit.rsplit_once(" (").map_or_else(|| fit.to_owned(), |(limit, _)| limit.to_owned());
    let is_said = |fit: &&String| {
        let is = |limit: &AppliedLimit| {
            limit.words.eq_ignore_ascii_case(fit) || limit.words.eq_ignore_ascii_case(&limit_of(fit))
        };
        applied.iter().any(is)
    };
    // That all are near goes without saying, and how near each is does not.
    let distance = reason.and_then(|reason| reason.distance.as_ref());
    let is_distance = |fit: &&String| distance == Some(*fit);
    let fits = reason
        .iter()
        .flat_map(|reason| &reason.fits)
        .filter(|fit| !is_chosen(fit) && (is_distance(fit) || !is_said(fit)));
    let snippet = snippet.unwrap_or_else(|| item.description.clone());
    // A list that the snippet quotes is not quoted twice.
    let entries = item.entries(|text| words.is_in(text) && !snippet.contains(text));
    let entries = entries.map(|entries| entries.iter().map(|text| words.marked(text)).collect());
    template::finish(&Card {
        number,
        item,
        monogram: template::monogram(&item.title),
        title_html: words.marked(&item.title),
        snippet_html: words.marked(&snippet),
        price: item.price(&say),
        glance: item.glance(&say),
        say,
        entries,
        why: reason.map(|reason| clean::line(&reason.why)).unwrap_or_default(),
        fits: fits.map(|fit| clean::line(fit)).collect(),
        actions: &item.actions,
        ping: counts_clicks.then(|| place.click(item.address.as_deref()?)).flatten(),
    })
}
