//! "To rent", "zu verkaufen", "à louer": for what something is offered, where items state it.

use forecourt_vocabulary::{Quantity, WordClass};

use crate::filter::Filter;
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::paths::{FOR_RENT, FOR_SALE, OFFERED};
use crate::reader::Reader;

/// Types of what is let as often as sold, in lower case: of other things that have a price it goes without saying that
/// they are sold.
pub const HOMES: &[&str] = &[
    "apartment",
    "house",
    "singlefamilyresidence",
    "accommodation",
    "residence",
    "realestatelisting",
    "room",
    "hotelroom",
    "suite",
    "vacationrental",
];
/// Words in which a home stands beside what is done with it: they are looked for, too.
const COMPOUNDS: &[&str] = &["wohnung", "wohnungen"];

/// Words for whatever is let or sold, without accents.
const ANY: &[&str] =
    &["place", "places", "somewhere", "something", "anything", "etwas", "irgendwas", "quelque", "algo", "sitio"];

/// What is offered for rent or for sale. Where no item says, it is told, but for things of a shop.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let asked = [(WordClass::ToRent, FOR_RENT), (WordClass::ForSale, FOR_SALE)];
    let here = |at: usize| reader.longest_of(at, &asked);
    let (offered, end) = here(at)?;
    if reader.is_name() {
        return None;
    }
    let known = reader.aids.known;
    let is_one_word = end == at + 1;
    let holds = |value: &str| known.has_value(OFFERED, value);
    // "To buy or hire": whichever.
    let other =
        reader.class(end, WordClass::Or).and_then(|or| here(reader.skip(or, &[WordClass::LimitLead])).or(here(or)));
    if let Some((_, end)) = other.filter(|(other, _)| *other != offered) {
        return Some(UnderstoodPart::new(at..end, FoundMeaning::Filler));
    }
    let is_home = HOMES.iter().any(|kind| known.has_value("@type", kind));
    // Where nothing is let, everything is sold.
    if holds(FOR_RENT) || (holds(FOR_SALE) && is_home) {
        // "A place to rent" is any of them.
        let is_any = at > floor && reader.says(at - 1, ANY);
        let start = if is_any { at - 1 } else { reader.absorb(at, WordClass::LimitLead, floor) };
        let words = reader.say(if offered == FOR_RENT { "for_rent" } else { "for_sale" }, &[]);
        let limit = UnderstoodPart::limit(start..end, Rank::Stated, Filter { words, ..Filter::is(OFFERED, offered) });
        let is_compound = COMPOUNDS.iter().any(|home| reader.written(at..end).to_lowercase().ends_with(home));
        return Some(if is_one_word && is_compound { limit.keeping_words() } else { limit });
    }
    // A word alone may be of a thing: "rental insurance".
    if is_one_word || !reader.states_facts() {
        return None;
    }
    let is_sold = offered == FOR_SALE && !is_home && reader.path(Quantity::Price).is_some();
    let meaning = if is_sold { FoundMeaning::Filler } else { FoundMeaning::NotUnderstood };
    Some(UnderstoodPart::new(at..end, meaning))
}

#[cfg(test)]
mod tests {
    use crate::tests::{Stating, understood, understood_in};

    const HOMES: Stating = Stating(&["offers.price", "offers.offered=rent", "offers.offered=sale"]);

    #[test]
    fn what_is_let_and_what_is_sold_are_told_apart() {
        for (text, left, limit) in [
            ("flat to rent", "flat", "for rent"),
            ("flats for sale", "flats", "for sale"),
            ("Wohnung zu mieten", "Wohnung", "for rent"),
            ("Haus zu verkaufen", "Haus", "for sale"),
            ("Mietwohnung", "Mietwohnung", "for rent"),
            ("appartement à louer", "appartement", "for rent"),
            ("maison à vendre", "maison", "for sale"),
            ("piso en alquiler", "piso", "for rent"),
            ("casa en venta", "casa", "for sale"),
            ("the cheapest place to rent", "", "for rent"),
        ] {
            let found = understood(text, &HOMES);
            let limits: Vec<&str> = found.filters.iter().map(|filter| filter.words.as_str()).collect();
            assert_eq!((found.text.as_str(), limits), (left, vec![limit]), "{text}");
        }
        assert_eq!(understood_in("flat to rent", &HOMES, "es").filters[0].words, "en alquiler");
    }

    #[test]
    fn where_nothing_says_so_it_is_told_but_of_things_that_are_sold() {
        let shop = Stating(&["offers.price"]);
        assert_eq!(understood("bikes to rent", &shop).not_understood, ["to rent"]);
        let found = understood("bikes for sale", &shop);
        assert!(found.not_understood.is_empty() && found.text == "bikes", "{found:?}");
        let homes = Stating(&["offers.price", "@type=apartment"]);
        assert_eq!(understood("flats for sale", &homes).not_understood, ["for sale"]);
    }
}
