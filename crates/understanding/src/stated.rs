//! Limits of the amounts that items state themselves, by the words that were learnt from them: "at least 3 rooms",
//! "mileage under 50,000 km".

use forecourt_vocabulary::{Quantity, QuestionToken, Unit, WordClass};
use jiff::civil::Date;

use crate::amount::{Comparison, Span};
use crate::filter::{Filter, Test};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::learnt::{LearntMeaning, LearntProperty, StatedValues};
use crate::measure::{self, days_of};
use crate::paths::{AGES, CAPACITY, RANGE_ENDS};
use crate::quantity::{self, within};
use crate::reader::Reader;
use crate::unit::{self, Dimension};

/// What says that a number is below nothing.
const MINUS: &[&str] = &["minus", "-", "moins", "menos"];
/// What is measured in units of which one may be asked for: "a kilo".
const ARTICLE_MEASURES: [Dimension; 2] = [Dimension::Mass, Dimension::Volume];
/// Bytes of such a unit: "l" and "g" behind an article are letters.
const ARTICLE_UNIT_BYTES_MIN: usize = 3;
/// How far a measure may be from one that is asked for without "at least" or "at most", as a part of it.
const NEARLY: f64 = 0.005;
/// How much more items have to state one property of a unit than any other for the unit to mean it.
const DOMINANCE: f64 = 2.0;

/// An amount of a property that is named, or whose unit only one has.
pub(crate) fn read_number(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let named = led_by_name(reader, at).or_else(|| denied_name(reader, at));
    let found = named.or_else(|| led_by_comparative(reader, at)).or_else(|| {
        let mut stated = StatedAmount::read(reader, at)?;
        let named = stated.take_name(reader);
        Some((stated, named))
    });
    // "For 4 people", "a 3 room flat": what leads to an amount, where the amount has a name.
    let led = || {
        let behind = LEADS.iter().filter_map(|class| reader.class(at, *class)).max()?;
        let mut stated = StatedAmount::read(reader, behind)?;
        let named = stated.take_name(reader);
        (!named.is_empty()).then_some((stated, named))
    };
    let (stated, named) = found.or_else(led)?;
    let start = reader.absorb(at, WordClass::LimitLead, floor);
    let meaning = match stated.property(reader, &named)? {
        Choice::Of(properties, factor) => {
            FoundMeaning::Limits(Rank::Stated, vec![stated.filter(reader, &properties, factor)])
        }
        Choice::NotChecked if !reader.is_name() => FoundMeaning::NotUnderstood,
        Choice::NotChecked => return None,
    };
    Some(UnderstoodPart::new(start..stated.end, meaning))
}

/// Words in front of an amount that other rules take for a limit of their own.
const LEADS: &[WordClass] = &[WordClass::For, WordClass::Costs, WordClass::Serves, WordClass::Article];

/// An amount behind the name of its property: "mileage under 50,000", "from model year 2019".
fn led_by_name(reader: &Reader<'_>, at: usize) -> Option<(StatedAmount, Vec<usize>)> {
    let compared = COMPARISONS.iter().filter_map(|(class, is_least)| Some((*is_least, reader.class(at, *class)?)));
    let compared = compared.reduce(|best, next| if next.1 > best.1 { next } else { best });
    let begin = compared.map_or(at, |(_, end)| end);
    // "Size 30" is the size that items state, whatever else some language calls a size.
    let states_size = reader.table.texts.size.iter().any(|path| reader.aids.known.share(path) > 0.0);
    if states_size && reader.class(begin, WordClass::Size).is_some() {
        return None;
    }
    let named = names(reader, begin, is_numeric);
    let end = named.first().map(|(_, end)| *end)?;
    // "At least" before "at": a word that only leads on begins what compares, too.
    let led = |classes: &[WordClass]| StatedAmount::read(reader, reader.skip(end, classes));
    let mut stated = StatedAmount::read(reader, end)
        .or_else(|| led(&[WordClass::Article]))
        .or_else(|| led(&[WordClass::Article, WordClass::LimitLead]))?;
    if let Some((is_least, _)) = compared.filter(|_| stated.span.comparison == Comparison::Bare) {
        let value = Some(stated.span.amount.value);
        let (from, to) = if is_least { (value, None) } else { (None, value) };
        stated.span = Span { from, to, comparison: Comparison::Compared, ..stated.span };
    }
    Some((stated, named.into_iter().map(|(at, _)| at).collect()))
}

/// "Does not weigh more than 2 kg": a limit of a property that is denied.
fn denied_name(reader: &Reader<'_>, at: usize) -> Option<(StatedAmount, Vec<usize>)> {
    let behind = reader.behind_not(at)?;
    let (mut stated, named) = led_by_name(reader, behind)?;
    let Span { from, to, comparison, .. } = stated.span;
    // "Not at least 2 kg" is nothing that people say.
    if comparison != Comparison::Compared || from.is_some() == to.is_some() {
        return None;
    }
    stated.span = Span { from: to, to: from, is_strict: false, ..stated.span };
    Some((stated, named))
}

/// Words between an amount and the name of what it is of.
const OF: &[&str] = &["in", "of", "de", "d", "en", "an"];
/// What stands between a comparative and what it is compared with in clauses: "nicht breiter ist als 80 cm".
const IS: &[&str] = &["ist", "sind", "sein", "is", "kostet", "wiegt"];
/// Words between a comparative and what is compared with it.
const THAN: &[&str] = &["than", "als", "wie", "que", "de", "a"];

/// An amount behind a comparative of its property: "deeper than 25 cm", "not wider than a metre".
fn led_by_comparative(reader: &Reader<'_>, at: usize) -> Option<(StatedAmount, Vec<usize>)> {
    let comparative = |at: usize| {
        let all = reader.learnt(at).filter_map(|(meaning, end)| match meaning {
            LearntMeaning::Comparative(property, is_more) => Some((*property, *is_more, end)),
            _ => None,
        });
        let all: Vec<(usize, bool, usize)> = all.collect();
        let longest = all.iter().map(|(.., end)| *end).max()?;
        let (_, is_more, _) = *all.iter().find(|(.., end)| *end == longest)?;
        let of = all.into_iter().filter(|(_, more, end)| *end == longest && *more == is_more);
        Some((of.map(|(property, ..)| property).collect::<Vec<_>>(), is_more, longest))
    };
    let plain = comparative(at).map(|found| (found, false));
    let negated = || reader.behind_not(at).and_then(comparative).map(|found| (found, true));
    let ((named, is_more, end), is_negated) = plain.or_else(negated)?;
    let end = end + usize::from(reader.says(end, IS));
    if !reader.says(end, THAN) {
        return None;
    }
    let mut stated = StatedAmount::read(reader, end + 1)?;
    let value = Some(stated.span.amount.value);
    let (from, to) = if is_more == is_negated { (None, value) } else { (value, None) };
    stated.span = Span { from, to, comparison: Comparison::Compared, is_strict: !is_negated, ..stated.span };
    Some((stated, named))
}

/// Words that compare, and whether what follows is the least.
const COMPARISONS: &[(WordClass, bool)] = &[
    (WordClass::AtLeast, true),
    (WordClass::MoreThan, true),
    (WordClass::Since, true),
    (WordClass::After, true),
    (WordClass::AtMost, false),
    (WordClass::LessThan, false),
    (WordClass::Before, false),
    (WordClass::Until, false),
];

/// The properties that the longest phrase here names, else those of which it is the last word.
pub(crate) fn names<'a>(reader: &Reader<'a>, at: usize, is: fn(&LearntProperty) -> bool) -> Vec<(usize, usize)> {
    let of = |wants_short: bool| {
        let named = reader.learnt(at).filter_map(move |(meaning, end)| match meaning {
            LearntMeaning::Name(property) if !wants_short => Some((*property, end)),
            LearntMeaning::ShortName(property) if wants_short => Some((*property, end)),
            _ => None,
        });
        named.filter(|(property, _)| is(reader.aids.learnt.get(*property))).collect::<Vec<_>>()
    };
    let named = Some(of(false)).filter(|named| !named.is_empty()).unwrap_or_else(|| of(true));
    let longest = named.iter().map(|(_, end)| *end).max();
    named.into_iter().filter(|(_, end)| Some(*end) == longest).collect()
}

pub(crate) fn is_numeric(property: &LearntProperty) -> bool {
    matches!(property.stated.values, StatedValues::Numbers { .. })
}

/// An amount with its unit, as it was written.
pub(crate) struct StatedAmount {
    pub(crate) span: Span,
    pub(crate) unit: Option<(Dimension, f64)>,
    /// Whether it is money, or a time, which have rules of their own.
    is_other: bool,
    /// The tokens of the amount, from its first number on.
    pub(crate) end: usize,
    written: String,
}

/// "Down to minus 5", whose sign stands between the words that compare and the number.
fn below_nothing(reader: &Reader<'_>, at: usize) -> Option<Span> {
    let compared = COMPARISONS.iter().filter_map(|(class, is_least)| Some((*is_least, reader.class(at, *class)?)));
    let (is_least, behind) = compared.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    let is_sign = reader.token(behind).is_some_and(|token| MINUS.contains(&token.word.as_str()));
    let span = reader.span(behind + 1).filter(|_| is_sign)?;
    let value = Some(span.amount.value);
    let (from, to) = if is_least { (value, None) } else { (None, value) };
    Some(Span { from, to, comparison: Comparison::Compared, ..span })
}

/// The property that an amount is of, with the factor to its unit.
enum Choice<'a> {
    Of(Vec<&'a LearntProperty>, f64),
    /// A limit of a property whose unit nobody knows, or of one of several.
    NotChecked,
}

impl StatedAmount {
    pub(crate) fn read(reader: &Reader<'_>, at: usize) -> Option<Self> {
        let span = reader.span(at).or_else(|| below_nothing(reader, at))?;
        let number_end = span.amount.number_end;
        let behind = reader.bytes(number_end.saturating_sub(1)..number_end).end;
        let rest = &reader.text[behind..];
        let gap = rest.len() - rest.trim_start().len();
        let unit = unit::leading(&rest[gap..]);
        // "A kilo" and "a litre" are amounts, and "a foot" is a thing.
        let is_amount = |(dimension, _, bytes): (Dimension, f64, usize)| {
            ARTICLE_MEASURES.contains(&dimension) && bytes >= ARTICLE_UNIT_BYTES_MIN
        };
        if span.amount.is_article && (span.amount.unit == Some(Unit::Money) || !unit.is_some_and(is_amount)) {
            return None;
        }
        let is_other = matches!(span.amount.unit, Some(Unit::Money | Unit::Cent));
        let unit_bytes = unit.map(|(_, _, bytes)| behind + gap + bytes);
        let unit_end = unit_bytes.map_or(number_end, |end| reader.token_at(end));
        let end = span.end.max(unit_end);
        // As far as the unit is written, without the words that compare.
        let last = unit_end.max(if is_other { span.amount.end } else { number_end });
        let first = reader.first_number(at, number_end);
        let written = reader.written(first..last).to_owned();
        let mut stated =
            Self { span, unit: unit.map(|(dimension, factor, _)| (dimension, factor)), is_other, end, written };
        stated.take_comparison(reader);
        stated.take_sign(reader, first);
        Some(stated)
    }

    /// "Minus 5 degrees": only temperatures go below nothing.
    fn take_sign(&mut self, reader: &Reader<'_>, first: usize) {
        let is_temperature = self.unit.is_some_and(|(dimension, _)| dimension == Dimension::Temperature);
        let before = first.checked_sub(1).and_then(|at| reader.token(at));
        let is_sign = |token: &QuestionToken| MINUS.contains(&token.word.as_str());
        if is_temperature && (before.is_some_and(is_sign) || self.written.starts_with('-')) {
            let value = -self.span.amount.value;
            self.span.amount.value = value;
            self.span.from = self.span.from.map(|_| value);
            self.span.to = self.span.to.map(|_| value);
            self.written = format!("−{}", self.written.trim_start_matches('-'));
        }
    }

    /// "Or more" behind the unit or the name, where nothing was compared before.
    fn take_comparison(&mut self, reader: &Reader<'_>) {
        if self.span.comparison != Comparison::Bare {
            return;
        }
        let value = self.span.amount.value;
        let class = |class| reader.class(self.end, class);
        let less = class(WordClass::OrLess).or_else(|| class(WordClass::OrEarlier));
        let more = class(WordClass::OrMore).or_else(|| class(WordClass::OrLater));
        let (from, to, end) = match (less, more) {
            (Some(end), _) => (None, Some(value), end),
            (None, Some(end)) => (Some(value), None, end),
            (None, None) => return,
        };
        self.span = Span { from, to, comparison: Comparison::Compared, ..self.span };
        self.end = end;
    }

    /// Takes the name of a property behind the number or behind its unit.
    fn take_name(&mut self, reader: &Reader<'_>) -> Vec<usize> {
        let number_end = self.span.amount.number_end;
        // Behind the unit first: kilometres may be what a mileage is called, and "250 km range" is none.
        // People are counted by what counts people: of "3 persons waterproof" the number is no water column.
        let of_people = self.span.amount.unit == Some(Unit::Person);
        let percent = number_end + usize::from(reader.is_mark(number_end, '%'));
        // "80 cm in width", "80 cm de ancho".
        let tied = self.end + usize::from(reader.says(self.end, OF));
        let behind = [self.end, reader.skip(self.end, &[WordClass::Article]), tied, number_end, percent];
        for behind in behind.into_iter().skip(if of_people { 3 } else { 0 }) {
            let named = names(reader, behind, is_numeric);
            if let Some((_, end)) = named.first() {
                self.end = self.end.max(*end);
                self.take_comparison(reader);
                return named.into_iter().map(|(at, _)| at).collect();
            }
        }
        self.take_first_word(reader)
    }

    /// "A 30 inch chest", of a chest girth: the first word of a name, behind a measure of what it is.
    fn take_first_word(&mut self, reader: &Reader<'_>) -> Vec<usize> {
        let Some((dimension, _)) = self.unit else { return Vec::new() };
        let is_measured = |property: &LearntProperty| property.dimension == Some(dimension) && is_numeric(property);
        let named = reader.learnt(self.end).filter_map(|(meaning, end)| match meaning {
            LearntMeaning::FirstWord(property) if is_measured(reader.aids.learnt.get(*property)) => {
                Some((*property, end))
            }
            _ => None,
        });
        let named: Vec<(usize, usize)> = named.collect();
        self.end = named.iter().map(|(_, end)| *end).max().unwrap_or(self.end);
        named.into_iter().map(|(property, _)| property).collect()
    }

    fn property<'a>(&self, reader: &Reader<'a>, named: &[usize]) -> Option<Choice<'a>> {
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
        if let Some(first) = of_unit.first() {
            let factor = self.unit.map_or(1.0, |(_, factor)| factor);
            return Some(Choice::Of(of_unit.iter().filter(|other| is_same(first, other)).copied().collect(), factor));
        }
        // A number without a unit on either side, or with the one that people mean who name none.
        let is_time = dimension == Some(Dimension::Duration);
        let is_usual = self
            .unit
            .is_none_or(|(dimension, factor)| factor == 1.0 || is_time || IN_USE.contains(&(dimension, factor)));
        let bare: Vec<&LearntProperty> = named.into_iter().filter(|property| property.dimension.is_none()).collect();
        match bare.first().filter(|_| is_usual) {
            // The ends of a range are one property: what is paid from and to.
            Some(first) => {
                let same = |property: &&&LearntProperty| property.name("en") == first.name("en");
                // "Less than 2 years" of what is told in months.
                let in_months = is_time && first.name("en").split(' ').any(|word| word == "months");
                let factor = self.unit.filter(|_| in_months).map_or(1.0, |(_, factor)| factor / MONTH);
                Some(Choice::Of(bare.iter().filter(same).copied().collect(), factor))
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
        let is = |property: &LearntProperty| property.dimension == Some(dimension) && is_numeric(property);
        let of = reader.aids.learnt.all().map(|(_, property)| property).filter(|property| is(property));
        let mut of: Vec<&LearntProperty> = of.collect();
        of.sort_by(|a, b| b.stated.share.total_cmp(&a.stated.share));
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

    /// Whether years are those of somebody who something is for, where items say for whom they are.
    fn is_of_people(&self, reader: &Reader<'_>) -> bool {
        let is_time = self.unit.is_some_and(|(dimension, _)| dimension == Dimension::Duration);
        is_time && (reader.names_ages() || AGES.iter().any(|path| reader.aids.known.has_number(path)))
    }

    pub(crate) fn filter(&self, reader: &Reader<'_>, properties: &[&LearntProperty], factor: f64) -> Filter {
        let first = properties.first();
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
        let name = first.map_or("", |first| first.name(reader.aids.answer_in.as_str()));
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

/// What the vocabulary calls how heavy a thing is.
const WEIGHT: &str = "weight";
/// Days of a month.
const MONTH: f64 = 365.0 / 12.0;

/// Whether two properties are one that items name differently.
pub(crate) fn is_same(one: &LearntProperty, other: &LearntProperty) -> bool {
    one.stated.path == other.stated.path || (one.id.is_some() && one.id == other.id && one.dimension == other.dimension)
}

/// Units in which numbers are told without one, whatever the base unit is: kilometres, and hours.
const IN_USE: [(Dimension, f64); 2] = [(Dimension::Length, 1_000.0), (Dimension::Time, 60.0)];

#[cfg(test)]
mod tests {
    use forecourt_vocabulary::Vocabulary;

    use super::*;
    use crate::learnt::{LearntProperties, StatedProperty};
    use crate::tests::{Everything, understood_with};

    /// What homes, cars and coats state.
    fn learnt() -> LearntProperties {
        let property = |path: &str, values| StatedProperty { path: path.to_owned(), share: 0.9, values };
        let whole = || StatedValues::Numbers { are_whole: true };
        let broken = || StatedValues::Numbers { are_whole: false };
        let texts = |all: &[&str]| StatedValues::Texts(all.iter().map(|text| (*text).to_owned()).collect());
        let stated = vec![
            property("numberOfRooms", whole()),
            property("floorSize.square_metre", broken()),
            property("mileageFromOdometer.metre", whole()),
            property("additionalProperty.waterColumn.metre", broken()),
            property("additionalProperty.sunProtectionFactor", whole()),
            property("comfortTemperature.celsius", whole()),
            property("vehicleModelDate", whole()),
            property("width.metre", broken()),
            property("additionalProperty.Maximum load.gram", broken()),
            property("additionalProperty.Chest girth.metre", broken()),
            property("additionalProperty.Reichweite.metre", broken()),
            property("additionalProperty.Eventual height.metre", broken()),
            property("additionalProperty.Capacity.litre", broken()),
            property("petsAllowed", StatedValues::Truth),
            property("amenityFeature.garden", StatedValues::Truth),
            property("vehicleTransmission", texts(&["automatic", "manual"])),
            property("fuelType", texts(&["diesel", "petrol", "electric"])),
            property("employmentType", texts(&["full_time", "part_time"])),
            property("contraindication", texts(&["asthma", "liver disease"])),
            property("audience.suggestedGender", texts(&["female", "male", "unisex"])),
        ];
        LearntProperties::of(stated, &Vocabulary::shipped())
    }

    fn limits(text: &str) -> Vec<String> {
        let found = understood_with(text, &Everything, &learnt());
        let told = found.not_understood.into_iter().map(|words| format!("? {words}"));
        found.filters.into_iter().map(|filter| filter.words).chain(told).collect()
    }

    #[test]
    fn amounts_are_limits_of_the_property_that_is_named_or_has_the_unit() {
        for (text, limit) in [
            ("flat with at least 3 rooms", "room: at least 3"),
            ("flat, 3 or more rooms", "room: at least 3"),
            ("Wohnung mit mindestens 3 Zimmern", "room: at least 3"),
            ("a 3 room flat", "room: 3"),
            ("more than 3 rooms", "room: at least 3"),
            ("flat of at least 80 m²", "floor size: at least 80 m²"),
            ("car, mileage under 50,000 km", "mileage: at most 50,000 km"),
            ("voiture de moins de 50 000 km", "mileage: at most 50 000 km"),
            ("coat, water column at least 15000 mm", "water column: at least 15000 mm"),
            ("water column of 10 m or more", "water column: at least 10 m"),
            ("suncream factor 50 or more", "sun protection factor: at least 50"),
            ("sleeping bag down to minus 5 degrees", "comfort temperature: at most −5 degrees"),
            ("desk wider than 120 cm", "width: at least 120 cm"),
            ("desk not wider than 120 cm", "width: at most 120 cm"),
            ("a desk that must not be wider than 1.2 m", "width: at most 1.2 m"),
            ("Schreibtisch, nicht breiter als 120 cm", "width: at most 120 cm"),
            ("bureau plus large que 120 cm", "width: at least 120 cm"),
            ("mesa no más ancha que 120 cm", "width: at most 120 cm"),
            ("a car that does not have more than 50,000 km", "mileage: at most 50,000 km"),
            ("stool for somebody of 140 kg", "maximum load: at least 140 kg"),
        ] {
            let found = limits(text);
            assert!(found.iter().any(|words| words == limit), "{text}: {found:?}");
        }
    }

    #[test]
    fn strict_limits_leave_the_number_out() {
        let found = understood_with("more than 3 rooms", &Everything, &learnt());
        assert_eq!(found.filters[0].test, Test::Within { from: Some(4.0), to: None });
        for (text, end, is_strict) in [
            ("less than 120 cm wide", 1.2, true),
            ("at most 120 cm wide", 1.2, false),
            ("wider than 120 cm", 1.2, true),
            ("mileage under 50000 km", 50_000_000.0, true),
        ] {
            let found = understood_with(text, &Everything, &learnt());
            let Test::Within { from, to } = found.filters[0].test else { panic!("{text}: {found:?}") };
            let lies_beyond = from.map_or(to.is_some_and(|to| to < end), |from| from > end);
            assert_eq!(lies_beyond, is_strict, "{text}: {found:?}");
        }
    }

    #[test]
    fn a_superlative_with_the_name_of_a_property_is_an_order_by_it() {
        for (text, path, descending) in [
            ("the bike with the longest range", "additionalProperty.Reichweite.metre", true),
            ("Rad mit der größten Reichweite", "additionalProperty.Reichweite.metre", true),
            ("vélo avec la plus grande autonomie", "additionalProperty.Reichweite.metre", true),
            ("bicicleta con más autonomía", "additionalProperty.Reichweite.metre", true),
            ("flat with the most rooms", "numberOfRooms", true),
            ("car with the lowest mileage", "mileageFromOdometer.metre", false),
            ("stool with the highest maximum load", "additionalProperty.Maximum load.gram", true),
            ("the plant that grows the tallest", "additionalProperty.Eventual height.metre", true),
        ] {
            let found = understood_with(text, &Everything, &learnt());
            let order = found.order.unwrap_or_else(|| panic!("{text}: {:?}", found.not_understood));
            assert_eq!((order.fields[0].as_str(), order.descending), (path, descending), "{text}");
        }
        assert!(understood_with("at most 3 rooms", &Everything, &learnt()).order.is_none());
    }

    #[test]
    fn one_of_a_unit_is_an_amount_and_the_first_word_of_a_name_says_of_what() {
        let found = |text: &str| understood_with(text, &Everything, &learnt()).filters;
        for (text, from) in [("a can of a litre", 1.0), ("Kanne, ein Liter", 1.0), ("medio litro", 0.5)] {
            let all = found(text);
            let holds = |filter: &Filter| match filter.test {
                Test::Within { from: Some(low), to: Some(high) } => low <= from && from <= high,
                _ => false,
            };
            assert!(all.iter().any(holds), "{text}: {all:?}");
        }
        assert!(found("a harness for a 30 inch chest").iter().any(|one| one.fields[0].contains("Chest girth")));
        assert!(found("a foot").is_empty());
    }

    #[test]
    fn either_of_two_features_will_do() {
        for text in ["flat with a garden or pets allowed", "Wohnung mit Garten oder Haustiere erlaubt"] {
            let found = understood_with(text, &Everything, &learnt()).filters;
            assert!(matches!(&found[..], [one] if one.alternatives().len() == 2), "{text}: {found:?}");
        }
        let found = understood_with("a cabin where dogs must be allowed", &Everything, &learnt()).filters;
        assert_eq!(found[0].test, Test::Is("true".to_owned()));
    }

    #[test]
    fn values_and_truths_are_limits_by_the_words_that_people_use() {
        for (text, wanted) in [
            ("diesel with automatic transmission", &["fuel: diesel", "transmission: automatic"][..]),
            ("Diesel mit Automatik", &["fuel: diesel", "transmission: automatik"]),
            ("full-time job", &["employment type: full-time"]),
            ("Stelle in Vollzeit", &["employment type: in vollzeit"]),
            ("flat, pets allowed", &["pets allowed"]),
            ("flat with a garden", &["garden"]),
            ("diesel or petrol", &["fuel: diesel / petrol"]),
            ("not automatic", &["not automatic"]),
            ("no diesel", &["not diesel"]),
            ("pills, I have asthma", &["contraindication: not asthma"]),
            ("a jacket for women", &["gender: women"]),
        ] {
            let found = limits(text);
            wanted.iter().for_each(|limit| assert!(found.iter().any(|words| words == limit), "{text}: {found:?}"));
        }
        // Garden chairs are no garden, and a fueltype alone is no limit.
        for text in ["garden chairs", "rooms", "a car", "the fuel"] {
            assert_eq!(limits(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_value_is_asked_of_every_property_that_has_it_and_a_truth_has_words_for_its_no() {
        let texts = |all: &[&str]| StatedValues::Texts(all.iter().map(|text| (*text).to_owned()).collect());
        let property = |path: &str, values| StatedProperty { path: path.to_owned(), share: 0.9, values };
        let learnt = LearntProperties::of(
            vec![
                property("about", texts(&["tennis", "yoga"])),
                property("sport", texts(&["tennis", "football"])),
                property("furnished", StatedValues::Truth),
                property("inLanguage", texts(&["en", "english", "de"])),
            ],
            &Vocabulary::shipped(),
        );
        let found = |text: &str| understood_with(text, &Everything, &learnt).filters;
        for text in ["tennis", "Tennis", "tenis"] {
            assert_eq!(found(text)[0].fields, ["about", "sport"], "{text}");
        }
        assert_eq!(found("yoga")[0].fields, ["about"]);
        for (text, test) in [
            ("unfurnished", "false"),
            ("unmöbliert", "false"),
            ("sin amueblar", "false"),
            ("furnished", "true"),
            ("not furnished", "false"),
        ] {
            assert_eq!(found(text)[0].test, Test::Is(test.to_owned()), "{text}");
        }
        let Test::IsOneOf { values, .. } = &found("english")[0].test else { panic!("a value") };
        assert_eq!(values, &["english", "en"]);
    }

    #[test]
    fn what_is_not_automatic_has_to_say_what_it_is() {
        let found = understood_with("not automatic", &Everything, &learnt());
        assert_eq!(found.filters[0].test, Test::NoneOf(vec!["automatic".to_owned()]));
        let found = understood_with("no pets allowed", &Everything, &learnt());
        assert_eq!(found.filters[0].test, Test::Is("false".to_owned()));
    }
}
