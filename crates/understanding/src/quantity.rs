//! Limits of quantities: "under 30 minutes", "at most 5 ingredients", "for 8 people", "4 stars or better", "20 bucks".

use forecourt_vocabulary::{Quantity, WordClass};

use crate::amount::{Comparison, Span};
use crate::filter::{Filter, SortOrder, Test};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::learnt::{LearntProperty, StatedValues};
use crate::paths::{CAPACITY, PRICE_LEVEL, SEATS, YEARLY_PAY};
use crate::reader::Reader;
use crate::{ages, yearly_pay};

/// Words that begin a limit behind an amount: "for two under 90".
const COMPARISONS: [WordClass; 4] = [WordClass::AtMost, WordClass::LessThan, WordClass::AtLeast, WordClass::MoreThan];

/// The stars that a house has.
const STARS: &str = "starRating.ratingValue";

/// The limit of a quantity that begins at a token.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    // "À partir de 20 euros" begins like "à 20 euros", and is no price by itself.
    let (asked, behind) = match (reader.span(at), asked_quantity(reader, at)) {
        (Some(span), _) if span.comparison == Comparison::Compared => {
            // "Does not cost more than 20": the words between say of what it is a limit.
            (reader.behind_not(at).and_then(|behind| denied_quantity(reader, at, behind)), at)
        }
        (_, asked) => asked,
    };
    let span = reader.span(behind)?;
    let start = reader.absorb(at, WordClass::LimitLead, floor);
    if let Some(filter) = ages::of_span(reader, &span) {
        let end = span.end + usize::from(ages::is_of_adults(reader, &span) && span.end == span.amount.number_end);
        return Some(UnderstoodPart::limit(start..end, Rank::Quantity(Quantity::Age), filter));
    }
    // "For kids under 12" is no price.
    if ages::is_behind_people(reader, start, &span) {
        let meaning = ages::between(reader, &span)
            .map(|filter| FoundMeaning::Limits(Rank::Quantity(Quantity::Age), vec![filter]));
        return Some(UnderstoodPart::new(start..span.end, meaning.unwrap_or(FoundMeaning::NotUnderstood)));
    }
    let has_lead = start < at || behind > at;
    match quantity(reader, &span, asked, has_lead) {
        QuantitySubject::Known(quantity, factor, path) => {
            let (from, to) = ends(reader, quantity, &span, has_lead)?;
            let (from, to) = (from.map(|end| end * factor), to.map(|end| end * factor));
            let words = words(reader, quantity, from, to);
            let (from, to) = if span.is_strict && !is_counted(quantity) { beyond(from, to) } else { (from, to) };
            let filter = within(path, from, to, words);
            let fields = reader.table.paths(quantity).iter().filter(|other| reader.aids.known.has_number(other));
            let fields = match quantity {
                // Prices stand in several properties, of which an item has one: a limit of money holds for any of them.
                Quantity::Price => fields.cloned().chain(paid(reader)).collect(),
                Quantity::People => rooms_for(reader),
                _ => filter.fields.clone(),
            };
            let filter = Filter { fields, ..filter };
            // Pay that says for what time it is, is compared by that.
            let pay = (quantity == Quantity::Price).then(|| yearly_pay::of_amount(reader, from, to)).flatten();
            let words = filter.words.clone();
            let filter = Filter::any_of(std::iter::once(filter).chain(pay).collect(), words);
            let end = if quantity == Quantity::Price { behind_one_of(reader, span.end) } else { span.end };
            Some(UnderstoodPart::limit(start..end, Rank::Quantity(quantity), filter))
        }
        QuantitySubject::NotChecked => Some(UnderstoodPart::new(start..span.end, FoundMeaning::NotUnderstood)),
        QuantitySubject::None => None,
    }
}

/// Words between a price and what it is paid for, without accents.
const PER: &[&str] = &["per", "pro", "par", "por", "je", "each"];

/// Past what a price is of, where nothing else is said there: "30 euros la bouteille", "20 euros per person".
fn behind_one_of(reader: &Reader<'_>, at: usize) -> usize {
    let led = if reader.says(at, PER) { Some(at + 1) } else { reader.class(at, WordClass::Article) };
    let noun = led.filter(|noun| reader.is_word(*noun) && reader.token(noun + 1).is_none_or(|next| !next.is_word()));
    noun.map_or(at, |noun| noun + 1)
}

/// Where items say for how many people something is.
pub(crate) fn rooms_for(reader: &Reader<'_>) -> Vec<String> {
    let known = reader.table.paths(Quantity::People).iter().filter(|path| reader.aids.known.has_number(path));
    let is_room = |property: &LearntProperty| {
        property.id.as_deref().is_some_and(|id| [CAPACITY, SEATS].contains(&id))
            && property.dimension.is_none()
            && matches!(property.stated.values, StatedValues::Numbers { .. })
    };
    let learnt = reader.aids.learnt.all().map(|(_, property)| property).filter(|property| is_room(property));
    known.cloned().chain(learnt.map(|property| property.stated.path.clone())).collect()
}

/// What is earned, where no item says for what time: a limit of money holds for it, too.
fn paid(reader: &Reader<'_>) -> Vec<String> {
    let says_period = reader.aids.known.has_number(YEARLY_PAY[0]);
    let is_paid = |property: &LearntProperty| {
        property.id.as_deref() == Some(yearly_pay::PAID)
            && matches!(property.stated.values, StatedValues::Numbers { .. })
    };
    let paid = reader.aids.learnt.all().map(|(_, property)| property).filter(|property| is_paid(property));
    let paid = paid.filter(|_| !says_period).map(|property| property.stated.path.clone());
    paid.collect()
}

/// The quantity that an amount limits, with the factor to its unit in the index and the path that holds it.
enum QuantitySubject {
    Known(Quantity, f64, &'static str),
    /// A limit of something that no item states.
    NotChecked,
    /// Mere words.
    None,
}

/// The quantity that words in front of an amount name, and the token behind them. `None`: no such words; `Some(None)`:
/// `for`, which names none by itself.
fn asked_quantity(reader: &Reader<'_>, at: usize) -> (Option<Option<Quantity>>, usize) {
    let led = [
        (WordClass::Serves, Some(Quantity::People)),
        (WordClass::Rated, Some(Quantity::Rating)),
        (WordClass::Costs, Some(Quantity::Price)),
        (WordClass::For, None),
    ];
    reader.longest_of(at, &led).map_or((None, at), |(quantity, end)| (Some(quantity), end))
}

/// The quantity that is named between a negation and what it compares.
fn denied_quantity(reader: &Reader<'_>, at: usize, behind: usize) -> Option<Option<Quantity>> {
    (at + 1..behind).find_map(|at| asked_quantity(reader, at).0.filter(Option::is_some))
}

fn quantity(reader: &Reader<'_>, span: &Span, asked: Option<Option<Quantity>>, has_lead: bool) -> QuantitySubject {
    let is_limit = span.comparison != Comparison::Bare;
    // Parts of a hundred are no money.
    let is_part = reader.is_mark(span.amount.number_end, '%');
    let unchecked = |is_limit: bool| match is_limit && reader.states_facts() && !reader.is_name() {
        true => QuantitySubject::NotChecked,
        false => QuantitySubject::None,
    };
    if let Some(unit) = span.amount.unit {
        let mut measured = reader.table.measured(unit);
        let known = measured.find_map(|(quantity, factor)| Some((quantity, factor, reader.path(quantity)?)));
        let Some((quantity, factor, path)) = known else {
            let is_people = unit == forecourt_vocabulary::Unit::Person && asked.is_some();
            return unchecked(is_limit || is_people);
        };
        let stars = (unit == forecourt_vocabulary::Unit::Star && reader.aids.known.has_number(STARS)).then_some(STARS);
        return QuantitySubject::Known(quantity, factor, stars.unwrap_or(path));
    }
    let named = |quantity| match reader.path(quantity) {
        Some(path) => QuantitySubject::Known(quantity, 1.0, path),
        None => unchecked(is_limit),
    };
    let goes_on = COMPARISONS.iter().any(|class| reader.class(span.end, *class).is_some());
    let ends = reader.ends_clause(span.end) || goes_on;
    let is_price = is_limit && span.amount.in_digits && span.comparison == Comparison::Compared && !is_part;
    match asked {
        // "Une basse à quatre cordes" costs no four of anything.
        Some(Some(Quantity::Price)) if !ends && !span.amount.is_article => unchecked(false),
        Some(Some(quantity)) if !span.amount.is_article => named(quantity),
        Some(None) if !is_limit && ends && !span.amount.is_article && reader.path(Quantity::People).is_some() => {
            named(Quantity::People)
        }
        // Where things have prices and take no time, a bare number can only be a price.
        _ if is_price && ends && reader.path(Quantity::Time).is_none() => named(Quantity::Price),
        _ => unchecked(is_price && ends && (has_lead || reader.path(Quantity::Price).is_some())),
    }
}

/// The ends of a limit. An amount without a comparison means what people mean by it.
fn ends(reader: &Reader<'_>, quantity: Quantity, span: &Span, has_lead: bool) -> Option<(Option<f64>, Option<f64>)> {
    let value = span.amount.value;
    // The age of an item is the least that it is for: `for 8 year olds` fits what begins at 8 or earlier.
    if quantity == Quantity::Age {
        return Some((None, Some(span.to.unwrap_or(value))));
    }
    if span.comparison != Comparison::Bare {
        // Under 5 ingredients are 4 at most.
        let step = if span.is_strict && is_counted(quantity) { 1.0 } else { 0.0 };
        return Some((span.from.map(|from| from + step), span.to.map(|to| to - step)));
    }
    match quantity {
        Quantity::Time if span.amount.is_article && !has_lead && !span.amount.is_joined => None,
        // "127 hours" is a title, "a 90 minute film" is a limit.
        Quantity::Length => {
            let is_film = reader.class(span.end, WordClass::Kind).is_some() && !span.amount.is_article;
            is_film.then_some((Some(value * 0.9), Some(value * 1.1)))
        }
        // "Seven stars" shine, "five star hotels" are rated.
        Quantity::Rating if !span.amount.in_digits && reader.ends_clause(span.end) => None,
        Quantity::Rating | Quantity::People => Some((Some(value), None)),
        _ => (value > 0.0).then_some((None, Some(value))),
    }
}

fn is_counted(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::People | Quantity::Parts)
}

/// How far a strict limit of a measure lies from its end, as a part of it: nothing that people tell apart lies between.
const BEYOND: f64 = 1e-9;

/// The ends of a strict limit, which leaves them out: what costs 20 is not under 20.
pub(crate) fn beyond(from: Option<f64>, to: Option<f64>) -> (Option<f64>, Option<f64>) {
    let gap = |end: f64| end.abs().max(1.0) * BEYOND;
    (from.map(|from| from + gap(from)), to.map(|to| to - gap(to)))
}

/// A limit in words.
pub(crate) fn words(reader: &Reader<'_>, quantity: Quantity, from: Option<f64>, to: Option<f64>) -> String {
    let spell = |end: f64| match quantity {
        Quantity::Time | Quantity::Length => reader.spell_minutes(end),
        _ => reader.spell(end),
    };
    let id = quantity.id();
    match (from, to) {
        (Some(from), Some(to)) => reader.say(&format!("{id}_between"), &[&spell(from), &spell(to)]),
        (Some(from), None) => reader.say(&format!("{id}_least"), &[&spell(from)]),
        (None, Some(to)) => reader.say(&format!("{id}_most"), &[&spell(to)]),
        (None, None) => String::new(),
    }
}

pub(crate) fn within(path: &str, from: Option<f64>, to: Option<f64>, words: String) -> Filter {
    Filter { fields: vec![path.to_owned()], test: Test::Within { from, to }, words }
}

/// The order by a quantity, with what has the most of it first where `descending`.
pub(crate) fn by(reader: &Reader<'_>, quantity: Quantity, descending: bool) -> SortOrder {
    let known = |path: &&String| reader.aids.known.has_number(path);
    let mut fields: Vec<String> = reader.path(quantity).map(str::to_owned).into_iter().collect();
    for path in reader.table.paths(quantity).iter().filter(known) {
        if !fields.contains(path) {
            fields.push(path.clone());
        }
    }
    // Amounts and signs can't be compared: what more items state counts.
    let share = |path: &str| reader.aids.known.share(path);
    let is_in_signs = quantity == Quantity::Price && reader.aids.known.has_number(PRICE_LEVEL);
    if is_in_signs && fields.iter().all(|path| share(path) < share(PRICE_LEVEL)) {
        fields = vec![PRICE_LEVEL.to_owned()];
    }
    let end = if descending { "descending" } else { "ascending" };
    SortOrder { fields, descending, words: reader.say(&format!("{}_{end}", quantity.id()), &[]) }
}

#[cfg(test)]
mod tests {
    use crate::tests::{Everything, parts, understood_in};

    #[test]
    fn a_level_that_is_negated_is_not_its_opposite_and_nothing_above_is_a_most() {
        let found = understood_in("soup not for beginners", &Everything, "en");
        assert!(found.filters.is_empty() && found.not_understood == ["not for beginners"], "{found:?}");
        for text in ["soup, nothing above 20 euros", "Suppe, nichts über 20 Euro", "soupe, rien au-dessus de 20 euros"]
        {
            assert_eq!(parts(text).1, ["at most 20"], "{text}");
        }
    }

    #[test]
    fn comparatives_of_prices_leave_the_price_out_and_their_negations_do_not() {
        use crate::filter::Test;
        for (text, is_strict) in [
            ("cups cheaper than 20 euros", true),
            ("cups less expensive than 20 euros", true),
            ("cups not cheaper than 20 euros", false),
            ("Tassen billiger als 20 Euro", true),
            ("Tassen nicht billiger als 20 Euro", false),
            ("Tassen nicht günstiger als 20 Euro", false),
            ("tasses moins chères que 20 euros", true),
            ("une tasse pas plus chère que 20 euros", false),
            ("una taza más barata que 20 euros", true),
            ("una taza no más cara que 20 euros", false),
            ("tazas más baratas que 20 euros", true),
            ("tazas no más caras que 20 euros", false),
            ("tasses pas plus chères que 20 euros", false),
            ("una taza, mayor a 20 euros", true),
            ("una taza, menor a 20 euros", true),
        ] {
            let found = understood_in(text, &Everything, "en");
            let Some(Test::Within { from, to }) = found.filters.first().map(|filter| filter.test.clone()) else {
                panic!("{text}: {found:?}")
            };
            let is_out = from.map_or(to.is_some_and(|to| to < 20.0), |from| from > 20.0);
            assert_eq!(is_out, is_strict, "{text}: {found:?}");
        }
        for text in [
            "tazas más caras que 20 euros",
            "tazas que superen 20 euros",
            "tasses plus chères que 20 euros",
            "tasses dépassant 20 euros",
            "Tassen, teurer wie 20 Euro",
            "Tassen oberhalb von 20 Euro",
            "cups upwards of 20 euros",
        ] {
            let found = understood_in(text, &Everything, "en");
            let test = found.filters.first().map(|filter| &filter.test);
            assert!(matches!(test, Some(Test::Within { from: Some(_), to: None })), "{text}: {found:?}");
        }
    }

    #[test]
    fn limits_are_read_in_many_forms() {
        for (text, left, limit) in [
            ("soup under 30 minutes", "soup", "30 minutes or less"),
            ("soup in under 30 mins", "soup", "30 minutes or less"),
            ("Soup ready in half an hour", "Soup", "30 minutes or less"),
            ("soup that takes less than an hour", "soup", "1 hour or less"),
            ("soup in 1.5 hours or less", "soup", "1.5 hours or less"),
            ("20-minute dinner", "dinner", "20 minutes or less"),
            ("dinner 45 min max", "dinner", "45 minutes or less"),
            ("no more than twenty minutes, soup", "soup", "20 minutes or less"),
            ("stew over 2 hours", "stew", "2 hours or more"),
            ("quick soup", "soup", "30 minutes or less"),
            ("quick soup under 15 minutes", "quick soup", "15 minutes or less"),
            ("desserts under an hour", "desserts", "1 hour or less"),
            ("Suppe unter 30 Minuten", "Suppe", "30 minutes or less"),
            ("schnelle Suppe", "Suppe", "30 minutes or less"),
            ("Eintopf in weniger als einer halben Stunde", "Eintopf", "30 minutes or less"),
            ("Braten, mindestens 2 Stunden", "Braten", "2 hours or more"),
            ("soupe en moins de 30 minutes", "soupe", "30 minutes or less"),
            ("soupe, moins d'une heure", "soupe", "1 hour or less"),
            ("sopa en menos de 30 minutos", "sopa", "30 minutes or less"),
            ("sopa en media hora", "sopa", "30 minutes or less"),
            ("sopa rápida", "sopa", "30 minutes or less"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
    }

    #[test]
    fn other_uses_of_the_words_stay() {
        for text in [
            "quick bread",
            "fast food burger",
            "breakfast",
            "7 hour",
            "soup for 30 people",
            "under the sea",
            "minute steak",
        ] {
            let expected = if text == "7 hour" { vec!["7 hours or less".to_owned()] } else { Vec::new() };
            assert_eq!(parts(text).1, expected, "{text}");
        }
    }

    #[test]
    fn prices_need_a_currency() {
        for (text, left, limit) in [
            ("gift under $20", "gift", "at most 20"),
            ("gift up to 19.99 euros", "gift", "at most 19.99"),
            ("gift between $10 and $20", "gift", "from 10 to 20"),
            ("gift from 10 to 20 dollars", "gift", "from 10 to 20"),
            ("wine over €50", "wine", "at least 50"),
            ("wine, $20 or less", "wine", "at most 20"),
            ("Wein unter 20 Euro", "Wein", "at most 20"),
            ("vin à moins de 20 €", "vin", "at most 20"),
            ("vino por menos de 20 euros", "vino", "at most 20"),
            ("Wein zwischen 10 und 20 Euro", "Wein", "from 10 to 20"),
            ("cheap wine", "wine", "cheap here: at most 10"),
            ("günstiger Wein", "Wein", "cheap here: at most 10"),
            ("a premium wine", "a wine", "dear here: at least 20"),
            ("cheap wine under $5", "cheap wine", "at most 5"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
        assert!(parts("gift under 20").1.is_empty());
        assert!(parts("between 10 and 20 people").1.is_empty());
    }

    #[test]
    fn ratings_are_read_in_many_forms() {
        for (text, left, limit) in [
            ("hotel with at least 4 stars", "hotel", "rated 4 or better"),
            ("4-star hotel", "hotel", "rated 4 or better"),
            ("hotel, 4+ stars", "hotel", "rated 4 or better"),
            ("hotel 4.5 stars or better", "hotel", "rated 4.5 or better"),
            ("hotel rated over 4", "hotel", "rated 4 or better"),
            ("hotel under 3 stars", "hotel", "rated 3 or less"),
            ("Hotel mit mindestens 4 Sternen", "Hotel", "rated 4 or better"),
            ("highly rated hotel", "hotel", "rated 20 or better"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
        for text in ["star wars", "hotel 4", "movie stars", "seven stars"] {
            assert!(parts(text).1.is_empty(), "{text}");
        }
    }

    #[test]
    fn limits_are_said_back_in_the_language_of_the_answer() {
        for (language, said) in [
            ("en", "45 minutes or less"),
            ("de", "höchstens 45 Minuten"),
            ("fr", "45 minutes au plus"),
            ("es", "45 minutos como máximo"),
            ("nl", "45 minutes or less"),
        ] {
            assert_eq!(understood_in("soup in 45 min", &Everything, language).filters[0].words, said, "{language}");
        }
        assert_eq!(understood_in("soup, 1.5 h max", &Everything, "de").filters[0].words, "höchstens 1,5 Stunden");
    }
}
