//! What an amount limits: the property that it is of, and the filter that says so.

use forecourt_vocabulary::Quantity;
use jiff::civil::Date;

use crate::amount::{Comparison, Span};
use crate::filter::{Filter, Test};
use crate::learnt::{LearntProperty, StatedValues};
use crate::measure::{self, days_of};
use crate::paths::{AGES, CAPACITY, RANGE_ENDS};
use crate::quantity::{self, within};
use crate::reader::Reader;
use crate::stated_amount::{StatedAmount, is_numeric};
use crate::unit::Dimension;

/// How far a measure may be from one that is asked for without "at least" or "at most", as a part of it.
const NEARLY: f64 = 0.005;
/// How much more items have to state one property of a unit than any other for the unit to mean it.
const DOMINANCE: f64 = 2.0;
/// How many times as much as the most, or as little as the least, that items have of a property may be asked for to be
/// meant of it.
const NEAR: f64 = 2.0;
/// How many times as much as the most that items have of a property no question is about.
const BEYOND: f64 = 100.0;
/// The part of the items of a shelf that have to state a property for an amount to be rather of it than of others.
const SHELF_SHARE_MIN: f64 = 0.5;
/// What the vocabulary calls how heavy a thing is.
const WEIGHT: &str = "weight";
/// Properties that one name may mean.
const SAME_NAME_MAX: usize = 4;
/// Days of a month.
const MONTH: f64 = 365.0 / 12.0;
/// Units in which numbers are told without one, whatever the base unit is: kilometres, and hours.
const IN_USE: [(Dimension, f64); 2] = [(Dimension::Length, 1_000.0), (Dimension::Time, 60.0)];

/// The property that an amount is of, with the factor to its unit.
pub(crate) enum Choice<'a> {
    Of(Vec<&'a LearntProperty>, f64),
    /// A limit of a property whose unit nobody knows, or of one of several.
    NotChecked,
}

impl StatedAmount {
    /// The property that an amount is of: what is named beside it, else the one that has its unit.
    pub(crate) fn property<'a>(&self, reader: &Reader<'a>, named: &[usize]) -> Option<Choice<'a>> {
        let learnt = reader.aids.learnt;
        let named: Vec<&LearntProperty> = named.iter().map(|at| learnt.get(*at)).collect();
        if named.is_empty() {
            return self.by_unit(reader);
        }
        if let Some(load) = self.load(reader, &named) {
            return Some(load);
        }
        let dimension = self.unit.map(|(dimension, _)| dimension);
        let of_unit: Vec<&LearntProperty> =
            named.iter().filter(|property| dimension.is_some() && property.dimension == dimension).copied().collect();
        if !of_unit.is_empty() {
            let factor = self.unit.map_or(1.0, |(_, factor)| factor);
            return Some(Choice::Of(one_for_each(reader, of_unit), factor));
        }
        // A number without a unit on either side, or with the one that people mean who name none.
        let is_time = dimension == Some(Dimension::Duration);
        let is_usual = self
            .unit
            .is_none_or(|(dimension, factor)| factor == 1.0 || is_time || IN_USE.contains(&(dimension, factor)));
        // What is told in one unit only is asked for without it, too.
        let is_bare = |property: &&LearntProperty| {
            property.dimension.is_none()
                || (dimension.is_none() && property.dimension.is_some_and(Dimension::has_one_unit))
        };
        let bare: Vec<&LearntProperty> = named.into_iter().filter(is_bare).collect();
        // "In Bath under 200k" is no number of baths.
        if !bare.is_empty() && bare.iter().all(|property| self.is_beyond(reader, property)) {
            return None;
        }
        match bare.first().filter(|_| is_usual) {
            Some(first) => {
                // "Less than 2 years" of what is told in months.
                let in_months = is_time && first.name("en").split(' ').any(|word| word == "months");
                let factor = self.unit.filter(|_| in_months).map_or(1.0, |(_, factor)| factor / MONTH);
                Some(Choice::Of(one_for_each(reader, bare), factor))
            }
            None => Some(Choice::NotChecked),
        }
    }

    /// "For a child that weighs 40 kg": what bears somebody, where items say what they bear.
    fn load<'a>(&self, reader: &Reader<'a>, named: &[&LearntProperty]) -> Option<Choice<'a>> {
        let (dimension, factor) = self.unit.filter(|(dimension, _)| *dimension == Dimension::Mass)?;
        let is_weight = named.iter().any(|property| property.id.as_deref() == Some(WEIGHT));
        let is_somebody = is_weight && self.span.comparison == Comparison::Bare && reader.names_ages();
        let bears = |property: &&LearntProperty| property.more_will_do && property.dimension == Some(dimension);
        let of: Vec<&LearntProperty> = reader.aids.learnt.all().map(|(_, property)| property).filter(bears).collect();
        (is_somebody && !of.is_empty()).then_some(Choice::Of(of, factor))
    }

    /// The property that has this unit, where there is one, or one that far more items state than any other.
    fn by_unit<'a>(&self, reader: &Reader<'a>) -> Option<Choice<'a>> {
        let (dimension, factor) = self.unit.filter(|_| !self.is_other && !self.is_of_people(reader))?;
        // How long a dish takes or a film lasts has a rule of its own.
        let is_known =
            || [Quantity::Time, Quantity::Length].into_iter().any(|quantity| reader.path(quantity).is_some());
        if dimension == Dimension::Time && is_known() {
            return None;
        }
        let is_limit = self.span.comparison != Comparison::Bare;
        // How far it is to the station is no length of anything.
        let is = |property: &LearntProperty| {
            property.dimension == Some(dimension) && is_numeric(property) && property.distance_to.is_none()
        };
        let of = reader.aids.learnt.all().map(|(_, property)| property).filter(|property| is(property));
        let mut of: Vec<&LearntProperty> = of.collect();
        of.sort_by(|a, b| b.stated.share.total_cmp(&a.stated.share));
        // Of the shelf that is asked for: what washes 8 kilos is no vacuum cleaner of 8 kilos.
        let own: Vec<&LearntProperty> =
            of.iter().filter(|property| among(reader, property) >= SHELF_SHARE_MIN).copied().collect();
        let of = if own.is_empty() { of } else { own };
        // "For a 14 kg dog": what a thing is for, and not how heavy it is itself.
        let of = match self.is_of_somebody {
            true => Some(of.iter().filter(|property| !is_own_measure(property)).copied().collect::<Vec<_>>()),
            false => None,
        }
        .filter(|others| !others.is_empty())
        .unwrap_or(of);
        // Nobody asks for a drop of 170 cm where all are of a few millimetres, and something has lengths about so long.
        let near: Vec<&LearntProperty> =
            of.iter().filter(|property| self.is_near(reader, property, factor)).copied().collect();
        let of = if near.is_empty() { of } else { near };
        // Some items state it in one language, and some in another.
        let first = *of.first()?;
        let (same, others): (Vec<&LearntProperty>, Vec<&LearntProperty>) =
            of.into_iter().partition(|property| is_same(first, property));
        let share: f64 = same.iter().map(|property| property.stated.share).sum();
        match others.first() {
            None => Some(Choice::Of(same, factor)),
            Some(other) if share >= other.stated.share * DOMINANCE => Some(Choice::Of(same, factor)),
            Some(_) if is_limit => Some(Choice::NotChecked),
            Some(_) => None,
        }
    }

    /// Whether the values that items have of a property come near the amount.
    fn is_near(&self, reader: &Reader<'_>, property: &LearntProperty, factor: f64) -> bool {
        let value = self.span.amount.value * factor;
        let ends = [0.0, 1.0].map(|part| reader.aids.known.quantile(&property.stated.path, part));
        match ends {
            [Some(least), Some(most)] if least >= 0.0 => least / NEAR <= value && value <= most * NEAR,
            _ => true,
        }
    }

    /// Whether an amount without a unit is far more than any item has.
    fn is_beyond(&self, reader: &Reader<'_>, property: &LearntProperty) -> bool {
        let most = reader.aids.known.quantile(&property.stated.path, 1.0);
        self.unit.is_none() && most.is_some_and(|most| most > 0.0 && self.span.amount.value > most * BEYOND)
    }

    /// Whether years are those of somebody who something is for, where items say for whom they are.
    fn is_of_people(&self, reader: &Reader<'_>) -> bool {
        let is_time = self.unit.is_some_and(|(dimension, _)| dimension == Dimension::Duration);
        is_time && (reader.names_ages() || AGES.iter().any(|path| reader.aids.known.has_number(path)))
    }

    /// The limit that an amount is of these properties, which are one, with the factor to its unit.
    pub(crate) fn filter(&self, reader: &Reader<'_>, properties: &[&LearntProperty], factor: f64) -> Filter {
        let first = properties.first();
        if let Some(bearing) = first.and_then(|first| self.bearing(first)) {
            return bearing.filter(reader, properties, factor);
        }
        let is_whole = factor == 1.0
            && first.is_some_and(|first| first.stated.values == StatedValues::Numbers { are_whole: true });
        // Nobody is older than five with five: ages are told in whole years.
        let is_time = first.is_some_and(|first| first.dimension == Some(Dimension::Duration));
        let step = if self.span.is_strict && (is_whole || is_time) { 1.0 } else { 0.0 };
        let path = first.map_or("", |first| first.stated.path.as_str());
        let ends = |value: f64| self.ends(path, value * factor);
        let (from, to) = match self.span.comparison {
            // What bears 150 kg bears somebody of 140 kg.
            Comparison::Bare if first.is_some_and(|first| first.more_will_do) => {
                (self.span.amount.value * factor, f64::MAX)
            }
            // What is warm at -10 degrees is so at -5.
            Comparison::Bare if first.is_some_and(|first| first.less_will_do) => {
                (f64::MIN, self.span.amount.value * factor)
            }
            Comparison::Bare if is_whole => ends(self.span.amount.value),
            Comparison::Bare => {
                let value = self.span.amount.value * factor;
                (value - value.abs() * NEARLY, value + value.abs() * NEARLY)
            }
            _ => (
                self.span.from.map_or(f64::MIN, |from| ends(from).0 + step),
                self.span.to.map_or(f64::MAX, |to| ends(to).1 - step),
            ),
        };
        let (from, to) = (Some(from).filter(|from| *from > f64::MIN), Some(to).filter(|to| *to < f64::MAX));
        let (from, to) = if self.span.is_strict && step == 0.0 { quantity::beyond(from, to) } else { (from, to) };
        let key = match (from, to) {
            (Some(_), Some(_)) => "stated_is",
            (Some(_), None) => "stated_least",
            _ => "stated_most",
        };
        let name = &names_of(properties, reader.aids.answer_in.as_str());
        let filter = within(path, from, to, reader.say(key, &[name, &self.written]));
        let own = properties.iter().map(|property| property.stated.path.clone());
        // Items say in one of several ways how many people there is room for.
        let is_room = first.is_some_and(|first| first.id.as_deref() == Some(CAPACITY));
        let others = if is_room { quantity::rooms_for(reader) } else { Vec::new() };
        let mut fields: Vec<String> = own.collect();
        others.into_iter().for_each(|path| {
            if !fields.contains(&path) {
                fields.push(path)
            }
        });
        let filter = Filter { fields, ..filter };
        match self.span.comparison {
            Comparison::Bare => self.or_in_range(reader, filter, factor),
            _ => filter,
        }
    }

    /// "Bears at least minus 20 degrees": of what is told by the coldest that it bears, the least cold is the most. `None`: it
    /// is told otherwise.
    fn bearing(&self, property: &LearntProperty) -> Option<Self> {
        let Span { from, to, is_strict, .. } = self.span;
        let is_least = from.is_some_and(|from| from < 0.0) && to.is_none() && !is_strict;
        let is_cold = property.less_will_do && property.dimension == Some(Dimension::Temperature);
        (is_cold && is_least).then(|| Self {
            span: Span { from: None, to: from, ..self.span },
            written: self.written.clone(),
            ..*self
        })
    }

    /// A limit of one measure, which a range that has it keeps, too: a head of 53 cm fits a helmet for 50 to 55 cm.
    fn or_in_range(&self, reader: &Reader<'_>, filter: Filter, factor: f64) -> Filter {
        let value = Some(self.span.amount.value * factor);
        let ends = |path: &String| RANGE_ENDS.map(|end| format!("{path}.{end}"));
        let ranges = filter.fields.iter().map(ends).filter(|ends| reader.aids.known.has_number(&ends[0]));
        let ranges = ranges.map(|ends| Filter {
            fields: ends.into(),
            test: Test::Overlaps { from: value, to: value, or_unstated: false },
            words: filter.words.clone(),
        });
        let all: Vec<Filter> = ranges.collect();
        let words = filter.words.clone();
        Filter::any_of(std::iter::once(filter).chain(all).collect(), words)
    }

    /// The first and the last value that a number stands for: a year is all of its days.
    fn ends(&self, path: &str, value: f64) -> (f64, f64) {
        let year = (measure::is_date_key(path) && value.fract() == 0.0).then_some(value as i16);
        let first = year.and_then(|year| Date::new(year, 1, 1).ok());
        let last = year.and_then(|year| Date::new(year, 12, 31).ok());
        first.zip(last).map_or((value, value), |(first, last)| (days_of(first), days_of(last)))
    }
}

/// Whether a property is a measure of the thing itself: its weight, and not what weight it is for.
fn is_own_measure(property: &LearntProperty) -> bool {
    property.id.is_some() && !property.more_will_do
}

/// The part of the items of the shelf that is asked for that state a property.
fn among(reader: &Reader<'_>, property: &LearntProperty) -> f64 {
    reader.shelf().map_or(0.0, |shelf| reader.aids.known.share_among(&property.stated.path, shelf))
}

/// The properties of one name that an amount may be of: shoes have one kind of sizes, and boots another. Where one item has
/// two of them, the one that more items have is meant.
fn one_for_each<'a>(reader: &Reader<'_>, named: Vec<&'a LearntProperty>) -> Vec<&'a LearntProperty> {
    let states = |property: &LearntProperty| Filter::within(&property.stated.path, None, None);
    let mut chosen: Vec<&LearntProperty> = Vec::new();
    for property in named {
        let stands_beside = |one: &&LearntProperty| {
            !is_one_range(one, property)
                && !is_same(one, property)
                && reader.aids.known.finds("", &[states(one), states(property)])
        };
        if chosen.len() < SAME_NAME_MAX && !chosen.iter().any(stands_beside) {
            chosen.push(property);
        }
    }
    chosen
}

/// The ends of a range are one property: what is paid from and to.
fn is_one_range(one: &LearntProperty, other: &LearntProperty) -> bool {
    one.name("en") == other.name("en")
}

/// What properties are called, each name once.
fn names_of(properties: &[&LearntProperty], language: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for property in properties {
        let name = property.name(language);
        if !names.contains(&name)
            && !properties.iter().any(|other| names.contains(&other.name(language)) && is_same(other, property))
        {
            names.push(name);
        }
    }
    names.join(" / ")
}

/// Whether two properties are one that items name differently.
pub(crate) fn is_same(one: &LearntProperty, other: &LearntProperty) -> bool {
    one.stated.path == other.stated.path || (one.id.is_some() && one.id == other.id && one.dimension == other.dimension)
}
