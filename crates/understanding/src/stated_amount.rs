//! Amounts as questions write them, and the properties that are named beside them: "3 rooms", "minus 5 degrees", "80 cm
//! in width".

use forecourt_vocabulary::{Unit, WordClass};

use crate::amount::{Comparison, Span};
use crate::learnt::{LearntMeaning, LearntProperty, StatedValues};
use crate::reader::Reader;
use crate::unit::{self, Dimension};

/// What says that a number is below nothing.
const MINUS: &[&str] = &["minus", "-", "moins", "menos"];
/// What is measured in units of which one may be asked for: "a kilo".
const ARTICLE_MEASURES: [Dimension; 2] = [Dimension::Mass, Dimension::Volume];
/// Bytes of such a unit: "l" and "g" behind an article are letters.
const ARTICLE_UNIT_BYTES_MIN: usize = 3;
/// Words that say less of a time, and more of how fast something is, without accents.
const FAST: &[&str] = &["faster", "quicker", "schneller", "rapide", "rapides", "rapido", "rapida"];
/// Words by which the name of a property without a unit says that it is a time.
const TIMES: &[&str] =
    &["time", "duration", "minutes", "hours", "zeit", "dauer", "temps", "durée", "tiempo", "duración"];
/// Words between an amount and the name of what it is of.
const OF: &[&str] = &["in", "of", "de", "d", "en", "an"];

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

/// Whether the longest phrase that compares here says the least, and the token behind it.
pub(crate) fn comparison(reader: &Reader<'_>, at: usize) -> Option<(bool, usize)> {
    reader.longest_of(at, COMPARISONS)
}

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
    pub(crate) is_other: bool,
    /// Whether it is said of somebody whom something is for: "for a 14 kg dog".
    pub(crate) is_of_somebody: bool,
    /// The tokens of the amount, from its first number on.
    pub(crate) end: usize,
    pub(crate) written: String,
}

/// Tokens between a word that says for whom something is and an amount of them.
const SOMEBODY_TOKENS_MAX: usize = 3;

/// Whether an amount that begins at a token is of somebody for whom something is: "for a 14 kg dog", "für ein Kind mit
/// 20 kg".
fn is_of_somebody(reader: &Reader<'_>, first: usize) -> bool {
    let starts = first.saturating_sub(SOMEBODY_TOKENS_MAX + 1)..first;
    let leads = |at: usize| {
        reader.class(at, WordClass::For).is_some_and(|end| end <= first)
            && (at..first).all(|between| reader.is_word(between))
    };
    starts.into_iter().any(leads)
}

/// Verbs of weights, without accents.
const WEIGHS: &[&str] =
    &["weigh", "weighs", "weighing", "wiegt", "wiegen", "pese", "pesent", "pesant", "pesa", "pesan", "pesen"];

/// Whether an amount that is read at a token stands behind such a verb.
fn is_weighed(reader: &Reader<'_>, at: usize) -> bool {
    let begins = at.saturating_sub(2)..=at;
    begins.into_iter().any(|before| reader.says(before, WEIGHS))
}

/// "Down to minus 5", whose sign stands between the words that compare and the number.
fn below_nothing(reader: &Reader<'_>, at: usize) -> Option<Span> {
    let (is_least, behind) = comparison(reader, at)?;
    let span = reader.span(behind + 1).filter(|_| reader.says(behind, MINUS))?;
    let value = Some(span.amount.value);
    let (from, to) = if is_least { (value, None) } else { (None, value) };
    Some(Span { from, to, comparison: Comparison::Compared, ..span })
}

impl StatedAmount {
    pub(crate) fn read(reader: &Reader<'_>, at: usize) -> Option<Self> {
        let span = reader.span(at).or_else(|| below_nothing(reader, at))?;
        let number_end = span.amount.number_end;
        let behind = reader.bytes(number_end.saturating_sub(1)..number_end).end;
        let rest = &reader.text[behind..];
        let gap = rest.len() - rest.trim_start().len();
        let unit = unit::leading(&rest[gap..]);
        // "A kilo" and "a litre" are amounts, and "a foot" is a thing; "at least an hour" is a limit.
        let is_limit = span.comparison == Comparison::Compared;
        let is_amount = |(dimension, _, bytes): (Dimension, f64, usize)| {
            (is_limit || ARTICLE_MEASURES.contains(&dimension)) && bytes >= ARTICLE_UNIT_BYTES_MIN
        };
        if span.amount.is_article && (span.amount.unit == Some(Unit::Money) || !unit.is_some_and(is_amount)) {
            return None;
        }
        // "A dog that weighs 50 pounds" costs no pounds.
        let is_weighed = unit.is_some_and(|(dimension, ..)| dimension == Dimension::Mass) && is_weighed(reader, at);
        let is_other = matches!(span.amount.unit, Some(Unit::Money | Unit::Cent)) && !is_weighed;
        let unit_bytes = unit.map(|(_, _, bytes)| behind + gap + bytes);
        let unit_end = unit_bytes.map_or(number_end, |end| reader.token_at(end));
        let end = span.end.max(unit_end);
        // As far as the unit is written, without the words that compare.
        let last = unit_end.max(if is_other { span.amount.end } else { number_end });
        let first = reader.first_number(at, number_end);
        let written = reader.written(first..last).to_owned();
        let mut stated = Self {
            span,
            unit: unit.map(|(dimension, factor, _)| (dimension, factor)),
            is_other,
            is_of_somebody: is_of_somebody(reader, first),
            end,
            written,
        };
        stated.take_comparison(reader);
        stated.take_sign(reader, first);
        Some(stated)
    }

    /// "Minus 5 degrees": only temperatures go below nothing.
    fn take_sign(&mut self, reader: &Reader<'_>, first: usize) {
        let is_temperature = self.unit.is_some_and(|(dimension, _)| dimension == Dimension::Temperature);
        let is_behind_sign = first.checked_sub(1).is_some_and(|before| reader.says(before, MINUS));
        if is_temperature && (is_behind_sign || self.written.starts_with('-')) {
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

    /// "1800 or faster": less of a time, and more of anything else.
    pub(crate) fn faster(self, reader: &Reader<'_>, at: usize, properties: &[&LearntProperty]) -> Self {
        let is_time = |property: &&LearntProperty| match property.dimension {
            None => property.name("en").split(' ').any(|word| TIMES.contains(&word)),
            Some(dimension) => matches!(dimension, Dimension::Time | Dimension::Duration),
        };
        let says = (at..self.end).any(|at| reader.says(at, FAST));
        let Span { from, to, .. } = self.span;
        if !says || properties.iter().any(is_time) || from.is_some() == to.is_some() {
            return self;
        }
        Self { span: Span { from: to, to: from, ..self.span }, ..self }
    }

    /// Those of these properties that can be told in the unit of the amount. What has no unit may be a time by its name alone.
    pub(crate) fn measured(&self, reader: &Reader<'_>, mut named: Vec<usize>) -> Vec<usize> {
        let Some((dimension, _)) = self.unit else { return named };
        let is_time = matches!(dimension, Dimension::Time | Dimension::Duration);
        named.retain(|at| {
            let property = reader.aids.learnt.get(*at);
            let says_time = || property.name("en").split(' ').any(|word| TIMES.contains(&word) || word == "months");
            property.dimension == Some(dimension) || (property.dimension.is_none() && (!is_time || says_time()))
        });
        named
    }

    /// Takes the name of a property behind the number or behind its unit.
    pub(crate) fn take_name(&mut self, reader: &Reader<'_>) -> Vec<usize> {
        let number_end = self.span.amount.number_end;
        // Behind the unit first: kilometres may be what a mileage is called, and "250 km range" is none.
        // People are counted by what counts people: of "3 persons waterproof" the number is no water column.
        let of_people = self.span.amount.unit == Some(Unit::Person);
        let percent = number_end + usize::from(reader.is_mark(number_end, '%'));
        // "80 cm in width", "80 cm de ancho".
        let tied = self.end + usize::from(reader.says(self.end, OF));
        // "30 euros the bottle" is what one costs.
        let behind_article = if self.is_other { self.end } else { reader.skip(self.end, &[WordClass::Article]) };
        let behind = [self.end, behind_article, tied, number_end, percent];
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
}
