//! Orders that a person chooses with a click: by price, rating or date.

use forecourt_core::Language;
use forecourt_core::findings::ItemOrder;
use forecourt_index::{Error, Library};
use forecourt_understanding::SortOrder;
use forecourt_vocabulary::{PropertyTable, Quantity, QuestionLexicon};

/// The quantity of an order, and whether the greatest comes first.
pub(super) fn quantity(order: ItemOrder) -> (Quantity, bool) {
    match order {
        ItemOrder::Cheapest => (Quantity::Price, false),
        ItemOrder::Dearest => (Quantity::Price, true),
        ItemOrder::BestRated => (Quantity::Rating, true),
        ItemOrder::Newest => (Quantity::Date, true),
        ItemOrder::Earliest => (Quantity::Date, false),
    }
}

/// The order in the terms of a search, worded in the language of the answer. `None`: no item states the quantity.
pub(super) fn sort_order(
    library: &Library,
    order: ItemOrder,
    answer_in: &Language,
) -> Result<Option<SortOrder>, Error> {
    let (quantity, descending) = quantity(order);
    let mut fields = Vec::new();
    for path in PropertyTable::shipped().paths(quantity) {
        if library.has_property(path)? {
            fields.push(path.clone());
        }
    }
    let end = if descending { "descending" } else { "ascending" };
    let words = QuestionLexicon::shipped().say(answer_in.as_str(), &format!("{}_{end}", quantity.id()), &[]);
    Ok((!fields.is_empty()).then_some(SortOrder { fields, descending, words }))
}
