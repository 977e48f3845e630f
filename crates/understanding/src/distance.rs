//! How far away something may be to which items state a distance: "300 m from the beach", "pistes à moins de 500 m",
//! "near the station".

use forecourt_vocabulary::WordClass;

use crate::amount::{Comparison, Span};
use crate::distance_name::BETWEEN;
use crate::found::{Rank, UnderstoodPart};
use crate::learnt::LearntProperty;
use crate::quantity::within;
use crate::reader::Reader;
use crate::stated_amount::StatedAmount;
use crate::stated_distance::{is_stated, stated};
use crate::unit::Dimension;

/// Words for what is near, without accents, in front of [`BETWEEN`].
const NEAR: &[&str] = &["near", "close", "nearby", "nahe", "nah", "proche", "pres", "cerca", "portes", "pied"];
/// Words in front of a distance that begin other limits, too, without accents.
const LEADS: &[&str] = &["a", "at", "within", "in", "im", "auf", "dans"];
/// Metres that are near, where nobody says how many.
const NEAR_METRES: f64 = 1_000.0;
/// Words of [`BETWEEN`] that stand together.
const BETWEEN_MAX: usize = 4;

/// A distance to what items state one to.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    if reader.aids.learnt.all().all(|(_, property)| property.distance_to.is_none()) || reader.is_name() {
        return None;
    }
    ahead(reader, at, floor).or_else(|| behind(reader, at)).or_else(|| near(reader, at, floor))
}

/// "Less than 300 m from the beach".
fn ahead(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    // "A 300 m" would be a price.
    let behind = reader.says(at, LEADS).then_some(at + 1);
    let amount = length(reader, at).or_else(|| length(reader, behind?))?;
    let (to, end) = thing(reader, between(reader, amount.end))?;
    let start = reader.absorb(at, WordClass::LimitLead, floor);
    limit(reader, amount, &to, start..between(reader, end))
}

/// "The slopes, at most 500 m away", "pistes (moins de 500 m)".
fn behind(reader: &Reader<'_>, at: usize) -> Option<UnderstoodPart> {
    let (to, end) = thing(reader, at)?;
    let mark = end + usize::from([',', '(', ':'].iter().any(|mark| reader.is_mark(end, *mark)));
    let led = reader.skip(mark, &[WordClass::Article, WordClass::LimitLead]);
    let amount = length(reader, mark).or_else(|| length(reader, led))?;
    if amount.span.comparison == Comparison::Bare {
        return None;
    }
    let end = between(reader, amount.end);
    let end = end + usize::from(reader.is_mark(end, ')'));
    limit(reader, amount, &to, lead(reader, at)..end)
}

/// "Near the beach".
fn near(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    if !reader.says(at, NEAR) {
        return None;
    }
    let begin = between(reader, at + 1);
    // "Aux portes des pistes (moins de 500 m)" says how far.
    if let Some(told) = behind(reader, begin) {
        return Some(UnderstoodPart {
            tokens: reader.absorb(at, WordClass::LimitLead, floor)..told.tokens.end,
            ..told
        });
    }
    let (to, end) = thing(reader, begin)?;
    let first = to.first()?;
    let name = first.name(reader.aids.answer_in.as_str());
    let far = format!("{} km", reader.spell(NEAR_METRES / 1_000.0));
    let filter = within(&first.stated.path, None, Some(NEAR_METRES), reader.say("stated_most", &[name, &far]));
    let start = reader.absorb(at, WordClass::LimitLead, floor);
    Some(UnderstoodPart::limit(start..end, Rank::Stated, filter))
}

fn limit(
    reader: &Reader<'_>,
    mut amount: StatedAmount,
    to: &[&LearntProperty],
    tokens: std::ops::Range<usize>,
) -> Option<UnderstoodPart> {
    let (_, factor) = amount.unit?;
    // Who names a distance alone wants to go no further.
    if amount.span.comparison == Comparison::Bare {
        let most = Some(amount.span.amount.value);
        amount.span = Span { from: None, to: most, comparison: Comparison::Compared, ..amount.span };
    }
    Some(UnderstoodPart::limit(tokens, Rank::Stated, amount.filter(reader, to, factor)))
}

fn length(reader: &Reader<'_>, at: usize) -> Option<StatedAmount> {
    StatedAmount::read(reader, at).filter(|amount| amount.unit.is_some_and(|(unit, _)| unit == Dimension::Length))
}

/// The distances to what is named here, and the token behind it.
fn thing<'a>(reader: &Reader<'a>, at: usize) -> Option<(Vec<&'a LearntProperty>, usize)> {
    let word = |at: usize| reader.token(at).filter(|token| token.is_word()).map(|token| token.word.as_str());
    // "The train station", where items say how far the railway station is; the bus station is another one.
    let two = word(at).zip(word(at + 1)).map(|(first, second)| stated(&format!("{first} {second}"), reader.aids));
    if let Some(to) = two.filter(|to| !to.is_empty()) {
        return Some((to, at + 2));
    }
    let to = stated(word(at)?, reader.aids);
    // "The ski slopes" are told by two words, of which each names them.
    let is_more = |at: &usize| word(*at).is_some_and(|word| is_stated(word, reader.aids));
    let more = (at + 1..).take_while(is_more).count();
    (!to.is_empty()).then_some((to, at + 1 + more))
}

/// Behind the words between.
fn between(reader: &Reader<'_>, at: usize) -> usize {
    let is_between = |at: &usize| reader.says(*at, BETWEEN) || reader.is_mark(*at, '\'');
    at + (at..).take(BETWEEN_MAX).take_while(is_between).count()
}

/// Where the words begin that lead to a thing: "aux portes des pistes".
fn lead(reader: &Reader<'_>, at: usize) -> usize {
    let is_lead = |at: &usize| reader.says(*at, BETWEEN) || reader.says(*at, NEAR);
    at - (0..at).rev().take(BETWEEN_MAX).take_while(is_lead).count()
}

#[cfg(test)]
mod tests {
    use forecourt_vocabulary::Vocabulary;

    use crate::learnt::{LearntProperties, StatedProperty, StatedValues};
    use crate::tests::{Everything, understood_with};

    #[test]
    fn a_distance_is_one_to_what_it_names() {
        let property = |name: &str| StatedProperty {
            path: format!("additionalProperty.{name}.metre"),
            share: 0.5,
            values: StatedValues::Numbers { are_whole: true },
        };
        let stated = vec![property("Distance de la plage"), property("Distance des pistes")];
        let learnt = LearntProperties::of(stated, &Vocabulary::shipped());
        for (text, said) in [
            ("logement à moins de 300 m de la plage", "distance de la plage: at most 300 m"),
            ("house 300 m from the beach", "distance de la plage: at most 300 m"),
            ("Haus höchstens 300 Meter vom Strand entfernt", "distance de la plage: at most 300 Meter"),
            ("casa a menos de 2 km de la playa", "distance de la plage: at most 2 km"),
            ("casa a 300 m de la playa", "distance de la plage: at most 300 m"),
            ("chalet, pistes à moins de 500 m", "distance des pistes: at most 500 m"),
            ("chalet aux portes des pistes (moins de 500 m)", "distance des pistes: at most 500 m"),
            ("house near the beach", "distance de la plage: at most 1 km"),
        ] {
            let found = understood_with(text, &Everything, &learnt);
            let words: Vec<&str> = found.filters.iter().map(|filter| filter.words.as_str()).collect();
            assert_eq!(words, [said], "{text}: left {:?}", found.text);
        }
        let stated = vec![property("Distance to railway station")];
        let learnt = LearntProperties::of(stated, &Vocabulary::shipped());
        let found = |text: &str| understood_with(text, &Everything, &learnt).filters;
        assert_eq!(found("rooms within half a mile of a train station").len(), 1);
        assert!(found("rooms within half a mile of a bus station").is_empty());
        for text in ["house 300 m from the river", "house by the beach"] {
            let found = understood_with(text, &Everything, &learnt);
            assert!(found.filters.iter().all(|filter| !filter.words.contains("plage")), "{text}: {:?}", found.filters);
        }
    }
}
