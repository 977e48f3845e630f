//! Properties and values to click.

use forecourt_core::findings::{Facet, Findings, ItemOrder};
use forecourt_sentences::Sentences;

use super::link::{Place, range};
use crate::limits::{FACET_VALUE_CHARS_MAX, FACET_VALUES_OPEN, FACET_VALUES_SHOWN, FACETS_SHOWN};
use crate::{clean, item};

/// A property.
pub(super) struct FacetView {
    pub(super) label: String,
    /// The values that are seen at once.
    pub(super) open: Vec<ValueView>,
    /// The others, folded.
    pub(super) folded: Vec<ValueView>,
}

/// A value, and the page with or without it.
pub(super) struct ValueView {
    pub(super) value: String,
    pub(super) items: usize,
    pub(super) is_chosen: bool,
    pub(super) url: String,
}

/// What there is to click, but for values that are too long to be read at a glance, and properties of which there is
/// but one: clicking it would change nothing, unless it was chosen and can be left.
pub(super) fn views(findings: &Findings, place: &Place, say: Sentences) -> Vec<FacetView> {
    let views = findings.facets.iter().map(|facet| view(facet, place, say));
    let tells = |view: &FacetView| view.open.len() > 1 || view.open.iter().any(|value| value.is_chosen);
    views.filter(tells).take(FACETS_SHOWN).collect()
}

fn view(facet: &Facet, place: &Place, say: Sentences) -> FacetView {
    let fits = |value: &&(String, usize)| value.0.chars().count() <= FACET_VALUE_CHARS_MAX;
    let values = facet.values.iter().filter(fits).take(FACET_VALUES_SHOWN);
    let mut open: Vec<ValueView> = values.map(|(value, items)| value_view(facet, value, *items, place, say)).collect();
    // What is chosen can always be reached.
    open.sort_by_key(|value| !value.is_chosen);
    let folded = open.split_off(open.len().min(FACET_VALUES_OPEN));
    FacetView { label: capital(&clean::line(&facet.label)), open, folded }
}

fn value_view(facet: &Facet, value: &str, items: usize, place: &Place, say: Sentences) -> ValueView {
    let (is_chosen, url) = (place.has(&facet.field, value), place.toggled(facet, value));
    let value = if facet.is_ranges { range_label(value, say) } else { text_label(value, say) };
    ValueView { value, items, is_chosen, url }
}

/// An order to click.
pub(super) struct OrderView {
    pub(super) label: String,
    pub(super) is_chosen: bool,
    pub(super) url: String,
}

/// The orders to click, first that of how well items fit. None where there is no other.
pub(super) fn orders(findings: &Findings, place: &Place, say: Sentences) -> Vec<OrderView> {
    let chosen = place.narrowing.order;
    // What is chosen can always be left, even if nothing more can be ordered.
    let offered = ItemOrder::ALL.into_iter().filter(|order| findings.orders.contains(order) || chosen == Some(*order));
    let view = |order: Option<ItemOrder>| {
        let label = order.map_or_else(|| say.page_sort_best(), |order| order_label(order, say));
        OrderView { label, is_chosen: order == chosen, url: place.ordered(order) }
    };
    let offered: Vec<OrderView> = offered.map(Some).map(view).collect();
    if offered.is_empty() { offered } else { std::iter::once(view(None)).chain(offered).collect() }
}

fn order_label(order: ItemOrder, say: Sentences) -> String {
    match order {
        ItemOrder::Cheapest => say.page_sort_cheapest(),
        ItemOrder::Dearest => say.page_sort_dearest(),
        ItemOrder::BestRated => say.page_sort_rating(),
        ItemOrder::Newest => say.page_sort_newest(),
        ItemOrder::Earliest => say.page_sort_earliest(),
    }
}

/// A value of a property that is told as ranges, as people read it.
pub(super) fn range_label(value: &str, say: Sentences) -> String {
    match range(value) {
        Some((from, Some(to))) => format!("{from} – {to}"),
        Some((from, None)) => format!("{from} +"),
        None => text_label(value, say),
    }
}

/// Any other value as people read it.
fn text_label(value: &str, say: Sentences) -> String {
    clean::line(&item::named(value, say))
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use forecourt_core::SearchRefinement;
    use forecourt_sentences::SpokenLanguage;

    use super::*;

    fn place(chosen: &[(&str, &str)]) -> Place {
        let exactly = chosen.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect();
        let narrowing = SearchRefinement { exactly, ..SearchRefinement::default() };
        Place { path: "/~a".to_owned(), question: "q".to_owned(), earlier: Vec::new(), narrowing }
    }

    fn english() -> Sentences {
        Sentences::in_language(SpokenLanguage::English)
    }

    fn seen(values: usize, chosen: &[(&str, &str)]) -> Vec<FacetView> {
        let values = (0..values).map(|n| (format!("v{n}"), 100 - n)).collect();
        let facet = Facet { field: "genre".to_owned(), label: "genre".to_owned(), values, ..Facet::default() };
        views(&Findings { facets: vec![facet], ..Findings::default() }, &place(chosen), english())
    }

    #[test]
    fn values_beyond_a_glance_are_folded_but_what_is_chosen_is_not() {
        let view = seen(FACET_VALUES_OPEN, &[]).remove(0);
        assert_eq!((view.label.as_str(), view.open.len(), view.folded.len()), ("Genre", FACET_VALUES_OPEN, 0));
        let last = format!("v{FACET_VALUES_OPEN}");
        let view = seen(FACET_VALUES_OPEN + 1, &[("genre", &last)]).remove(0);
        assert_eq!((view.open[0].value.as_str(), view.open[0].is_chosen, view.folded.len()), (last.as_str(), true, 1));
        assert_eq!(view.open[0].url, "/~a?user=q");
        assert_eq!(seen(FACET_VALUES_SHOWN + 1, &[]).remove(0).folded.len(), FACET_VALUES_SHOWN - FACET_VALUES_OPEN);
    }

    #[test]
    fn a_facet_without_values_is_not_shown_and_a_long_value_is_none() {
        assert!(seen(0, &[]).is_empty());
        let long = |letters: usize| ("x".repeat(letters), 1);
        let values = vec![("y".to_owned(), 2), long(FACET_VALUE_CHARS_MAX), long(FACET_VALUE_CHARS_MAX + 1)];
        let facet = Facet { field: "a".to_owned(), values, ..Facet::default() };
        let view = views(&Findings { facets: vec![facet], ..Findings::default() }, &place(&[]), english()).remove(0);
        assert_eq!((view.label.as_str(), view.open.len()), ("", 2));
    }

    #[test]
    fn a_facet_of_one_value_is_shown_only_to_leave_it() {
        assert!(seen(1, &[]).is_empty());
        assert_eq!(seen(1, &[("genre", "v0")]).len(), 1);
        assert_eq!(seen(2, &[]).len(), 1);
    }

    #[test]
    fn names_of_a_vocabulary_are_short() {
        let text = |value: &str| text_label(value, english());
        let ranges = |value: &str| range_label(value, english());
        assert_eq!(
            (text("https://schema.org/VeganDiet"), text("http://schema.org/Odd")),
            ("Vegan".to_owned(), "Odd".to_owned())
        );
        assert_eq!(text_label("Recipe", Sentences::in_language(SpokenLanguage::German)), "Rezept");
        assert_eq!(text("A\u{202e}\nB"), "A B");
        assert_eq!((ranges("20..50"), ranges("4+")), ("20 – 50".to_owned(), "4 +".to_owned()));
        assert_eq!((text("16+"), ranges("x")), ("16+".to_owned(), "x".to_owned()));
    }

    #[test]
    fn orders_are_links_and_the_chosen_one_can_be_left() {
        let say = english();
        let of = |orders: &[ItemOrder], chosen| {
            let mut place = place(&[]);
            place.narrowing.order = chosen;
            let views = super::orders(&Findings { orders: orders.to_vec(), ..Findings::default() }, &place, say);
            views.into_iter().map(|view| (view.label, view.is_chosen, view.url)).collect::<Vec<_>>()
        };
        assert!(of(&[], None).is_empty());
        let chosen = of(&[ItemOrder::Dearest], Some(ItemOrder::Cheapest));
        assert_eq!(chosen.len(), 3);
        assert_eq!((chosen[0].1, chosen[0].2.as_str()), (false, "/~a?user=q"));
        assert_eq!((chosen[1].1, chosen[2].2.as_str()), (true, "/~a?user=q&sort=dearest"));
    }
}
