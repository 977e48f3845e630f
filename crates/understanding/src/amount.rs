//! Numbers with their units, and what is compared with them: "half an hour", "1h30", "at most 5 ingredients",
//! "between 10 and 20 euros".

use forecourt_vocabulary::{PhraseMeaning, QuestionToken, Unit, WordClass};

use crate::learnt::LearntMeaning;
use crate::plain_date::YEARS;
use crate::reader::Reader;
use crate::unit;

/// The ones that may follow tens in words: `twenty five`.
const ONES: std::ops::RangeInclusive<f64> = 1.0..=9.0;
/// How far `about` reaches below and above an amount, as a part of it.
const AROUND: f64 = 0.25;

/// Letters of the code of a currency.
const CODE_BYTES: usize = 3;
/// Words that begin a range, and alone its least end.
const FROM: &[&str] = &["from"];

/// What "thousand" stands for.
const MANY: f64 = 1_000.0;

/// What people call money by, without accents, and what one is worth.
const NOTES: &[(&[&str], f64)] = &[
    (&["fiver", "fivers", "funfer"], 5.0),
    (&["tenner", "tenners", "zehner"], 10.0),
    (&["zwanziger"], 20.0),
    (&["funfziger", "fuffi"], 50.0),
    (&["hunderter"], 100.0),
    (&["grand"], MANY),
];

/// Whether a word behind digits says that these are thousands: `20k`, `20 mil`.
fn is_thousand(token: &QuestionToken) -> bool {
    match token.word.as_str() {
        "k" => token.is_joined,
        "thousand" | "tausend" | "mille" | "mil" => true,
        _ => false,
    }
}

/// A number, and perhaps its unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Amount {
    pub(crate) value: f64,
    pub(crate) unit: Option<Unit>,
    /// The token behind the number.
    pub(crate) number_end: usize,
    /// The token behind it.
    pub(crate) end: usize,
    /// Whether the number may be no more than an article: "an hour".
    pub(crate) is_article: bool,
    /// Whether a hyphen joins number and unit: "30-minute".
    pub(crate) is_joined: bool,
    /// Whether the number is written in digits.
    pub(crate) in_digits: bool,
}

/// Whether an amount comes with a word that compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// No such word: whether it is a least or a most depends on the quantity.
    Bare,
    /// With a word for less or more, or with both ends.
    Compared,
    /// About so much.
    Around,
}

/// A part of a quantity's values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) from: Option<f64>,
    pub(crate) to: Option<f64>,
    /// Whether the ends themselves are left out.
    pub(crate) is_strict: bool,
    pub(crate) comparison: Comparison,
    /// The amount whose unit counts.
    pub(crate) amount: Amount,
    /// The token behind it.
    pub(crate) end: usize,
}

impl Reader<'_> {
    /// The number here, the token behind it, and whether it may be an article.
    pub(crate) fn number(&self, at: usize) -> Option<(f64, usize, bool)> {
        let token = self.token(at)?;
        if let Some(number) = token.number() {
            if let Some((part, end)) = self.fraction(at) {
                return Some((part, end, false));
            }
            if self.token(at + 1).is_some_and(is_thousand) {
                return Some((number * MANY, at + 2, false));
            }
            let behind = self.fraction(at + 1).filter(|(part, _)| *part < 1.0);
            return Some(behind.map_or((number, at + 1, false), |(part, end)| (number + part, end, false)));
        }
        let word =
            |meaning: &PhraseMeaning| if let PhraseMeaning::Number(number) = meaning { Some(*number) } else { None };
        let (number, end) = self.longest(at, word)?;
        // `twenty five` is one number; `twenty one` too, but `twenty a` begins with an article.
        let is_tens = end == at + 1 && (20.0..100.0).contains(&number) && number % 10.0 == 0.0;
        let ones = self
            .longest(end, word)
            .filter(|(ones, _)| is_tens && ONES.contains(ones) && !self.is_single(end, WordClass::Article));
        Some(ones.map_or((number, end, number == 1.0), |(ones, end)| (number + ones, end, false)))
    }

    /// `1/2` here.
    fn fraction(&self, at: usize) -> Option<(f64, usize)> {
        let (over, under) = (self.token(at)?.number()?, self.token(at + 2)?.number()?);
        let is_one = self.is_mark(at + 1, '/') && self.token(at + 1)?.is_joined && self.token(at + 2)?.is_joined;
        (is_one && over < under && under <= 10.0).then(|| (over / under, at + 3))
    }

    /// The amount that begins here.
    pub(crate) fn amount(&self, at: usize) -> Option<Amount> {
        let sign = self.currency(at);
        let start = sign.unwrap_or(at);
        let amount = |value, unit, number_end, end| Amount {
            value,
            unit,
            number_end,
            end,
            is_article: false,
            is_joined: false,
            in_digits: true,
        };
        let minutes =
            |meaning: &PhraseMeaning| if let PhraseMeaning::Minutes(minutes) = meaning { Some(*minutes) } else { None };
        let behind_article = self.skip_article(start);
        if let Some((value, end)) = self.longest(start, minutes).or_else(|| self.longest(behind_article, minutes)) {
            return Some(amount(value, Some(Unit::Minute), end, end));
        }
        let (value, end, is_article) = self.number(start)?;
        let in_digits = self.token(start)?.number().is_some();
        if let Some((worth, behind)) = self.note(end) {
            let money = amount(value * worth, Some(Unit::Money), behind, behind);
            return Some(Amount { in_digits, ..money });
        }
        if let Some(behind) = self.currency(end).or_else(|| sign.map(|_| end)) {
            let behind =
                self.unit(behind).filter(|(unit, _)| *unit == Unit::Money).map_or(behind, |(_, behind)| behind);
            return Some(amount(value, Some(Unit::Money), end, behind));
        }
        let unit = self.unit(end).filter(|(unit, _)| self.may_be_unit(end, *unit, in_digits));
        let Some((unit, behind)) = unit else {
            return Some(Amount { in_digits, is_article, ..amount(value, None, end, end) });
        };
        let is_joined = self.token(end).is_some_and(|token| token.is_joined);
        let (value, behind) = match unit {
            Unit::Hour => self.further_minutes(value, behind),
            _ => (value, behind),
        };
        Some(Amount { is_article, is_joined, in_digits, ..amount(value, Some(unit), end, behind) })
    }

    /// What a note of money is worth that is called by it: "a tenner". A grand piano is no money.
    fn note(&self, at: usize) -> Option<(f64, usize)> {
        let worth = NOTES.iter().find(|(names, _)| self.says(at, names)).map(|(_, worth)| *worth)?;
        self.ends_clause(at + 1).then_some((worth, at + 1))
    }

    /// A letter alone is a unit only where it stands at the number.
    fn may_be_unit(&self, at: usize, unit: Unit, in_digits: bool) -> bool {
        let is_letter = self.token(at).is_some_and(|token| token.word.chars().count() == 1);
        !is_letter || (in_digits && (unit == Unit::Hour || self.token(at).is_some_and(|token| token.is_joined)))
    }

    fn skip_article(&self, at: usize) -> usize {
        let is_one =
            self.number(at).is_some_and(|(number, end, is_article)| is_article && number == 1.0 && end == at + 1);
        if is_one { at + 1 } else { at }
    }

    /// The unit here, and the token behind it.
    pub(crate) fn unit(&self, at: usize) -> Option<(Unit, usize)> {
        self.longest(at, |meaning| if let PhraseMeaning::Unit(unit) = meaning { Some(*unit) } else { None })
    }

    /// The token behind a currency sign.
    fn currency(&self, at: usize) -> Option<usize> {
        let is_sign = ['$', '€', '£', '¥'].iter().any(|sign| self.is_mark(at, *sign));
        // "EUR 50".
        let is_code = || {
            let code = self.token(at).filter(|token| token.is_word() && token.range.len() == CODE_BYTES);
            let is_upper =
                code.is_some_and(|code| self.text[code.range.clone()].bytes().all(|b| b.is_ascii_uppercase()));
            is_upper && self.token(at + 1).is_some_and(|next| next.number().is_some())
        };
        let is_money = || self.unit(at).is_some_and(|(unit, _)| unit == Unit::Money);
        (is_sign || (is_code() && is_money())).then_some(at + 1)
    }

    /// Hours and minutes: "1h30", "1 hour 20 minutes", "an hour and a half".
    fn further_minutes(&self, hours: f64, at: usize) -> (f64, usize) {
        // `an hour and a half` needs its `and`, `1h30` the missing space: `2 hours 30` alone may go on with 30 of
        // anything.
        let behind_and = self.class(at, WordClass::And).unwrap_or(at);
        if let Some((number, end, _)) = self.number(behind_and) {
            let unit = self.unit(end);
            if let Some((Unit::Minute, end)) = unit {
                return (hours + number / 60.0, end);
            }
            if number == 0.5 && behind_and > at && unit.is_none() {
                return (hours + number, end);
            }
            let is_joined = self.token(at).is_some_and(|token| token.is_joined && token.number().is_some());
            if is_joined && number < 60.0 && unit.is_none() {
                return (hours + number / 60.0, end);
            }
        }
        (hours, at)
    }

    /// The part of a quantity's values that the words from here on describe.
    pub(crate) fn span(&self, at: usize) -> Option<Span> {
        // The more words say that a limit is meant, the earlier it is tried: a bare amount begins each of the others
        // too.
        let between = self.class(at, WordClass::Between).and_then(|at| self.range(at, true));
        between.or_else(|| self.compared(at)).or_else(|| self.range(at, false)).or_else(|| self.with_word_behind(at))
    }

    /// Two ends. Without "between", what stands between them must be "to" or a dash.
    fn range(&self, at: usize, is_led: bool) -> Option<Span> {
        let low = self.amount(at)?;
        let to = self.class(low.end, WordClass::To)?;
        let is_and = self.class(low.end, WordClass::And).is_some();
        let high = self.amount(to).filter(|_| is_led || !is_and)?;
        let is_told = is_led || low.in_digits || low.unit.is_some() || high.unit.is_some();
        if high.is_article || !is_told {
            return None;
        }
        // "2 to 3 hours" has its unit at the end, "$20 to 30" at the start.
        let factor = match (low.unit, high.unit) {
            (None, Some(_)) | (Some(_), None) | (None, None) => 1.0,
            (Some(Unit::Minute), Some(Unit::Hour)) => 1.0 / 60.0,
            (Some(low), Some(high)) if low == high => 1.0,
            (Some(_), Some(_)) => return None,
        };
        // "Between 15 and 20 thousand": both are.
        let is_thousands = high.number_end.checked_sub(1).and_then(|at| self.token(at)).is_some_and(is_thousand);
        let factor = if is_thousands && low.value < MANY { factor * MANY } else { factor };
        let (from, to) = (low.value * factor, high.value);
        let amount = Amount { unit: high.unit.or(low.unit), ..high };
        let (from, to) = (Some(from.min(to)), Some(from.max(to)));
        Some(Span { from, to, is_strict: false, comparison: Comparison::Compared, amount, end: high.end })
    }

    /// The token behind a negation and the words of a limit that go with it: "does not cost", "no".
    pub(crate) fn behind_not(&self, at: usize) -> Option<usize> {
        let negations = [WordClass::Not, WordClass::AuxiliaryNot, WordClass::Without];
        let behind = negations.iter().filter_map(|class| self.class(at, *class)).max()?;
        Some(self.skip(behind, &[WordClass::Costs, WordClass::LimitLead, WordClass::Verb]))
    }

    /// The word for less or more here, and the token behind it. "Does not cost more than" is a most.
    fn comparison(&self, at: usize) -> Option<(WordClass, usize)> {
        use WordClass::{AtLeast, AtMost, LessThan, MoreThan};
        let longest = |at: usize, classes: &[WordClass]| {
            let led = classes.iter().filter_map(|class| Some((*class, self.class(at, *class)?)));
            led.reduce(|best, next| if next.1 > best.1 { next } else { best })
        };
        longest(at, &[AtMost, LessThan, AtLeast, MoreThan, WordClass::Around])
            .or_else(|| {
                let (class, end) = longest(self.behind_not(at)?, &[MoreThan, LessThan])?;
                Some((if class == MoreThan { AtMost } else { AtLeast }, end))
            })
            .or_else(|| {
                // "Bis 50 cm": with a unit it is no day.
                let end = self.class(at, WordClass::Until)?;
                let number = self.amount(end)?;
                let bytes = self.bytes(end..number.number_end);
                let names = |(meaning, _): (&LearntMeaning, usize)| matches!(meaning, LearntMeaning::Name(_));
                let is_measured = number.unit.is_some()
                    || unit::leading(self.text[bytes.end..].trim_start()).is_some()
                    || self.learnt(number.number_end).any(names);
                is_measured.then_some((AtMost, end))
            })
            .or_else(|| {
                // "From 50 euros", "from 5 kg up"; "from 1999" is a year.
                let is_from = self.says(at, FROM);
                let number = if is_from { self.amount(at + 1)? } else { return None };
                let is_year = number.unit.is_none() && YEARS.contains(&number.value) && self.ends_clause(number.end);
                (!is_year && !number.is_article).then_some((AtLeast, at + 1))
            })
    }

    /// A word for less or more, then an amount.
    fn compared(&self, at: usize) -> Option<Span> {
        use WordClass::{AtLeast, AtMost, LessThan, MoreThan};
        let (class, end) = self.comparison(at)?;
        // "Max. 20 kg".
        let end = end + usize::from(self.is_mark(end, '.'));
        // `Around 20 to 30` is already as vague as its ends: they are not moved apart once more.
        if class == WordClass::Around
            && let Some(range) = self.range(end, false)
        {
            return Some(range);
        }
        let amount = self.amount(end)?;
        let value = amount.value;
        let (from, to, comparison) = match class {
            AtMost | LessThan => (None, Some(value), Comparison::Compared),
            AtLeast | MoreThan => (Some(value), None, Comparison::Compared),
            _ => (Some(value * (1.0 - AROUND)), Some(value * (1.0 + AROUND)), Comparison::Around),
        };
        let behind = if to.is_some() { WordClass::OrLess } else { WordClass::OrMore };
        // `At most 30 minutes or less` says it twice.
        let end = self.class(amount.end, behind).unwrap_or(amount.end);
        Some(Span { from, to, is_strict: matches!(class, LessThan | MoreThan), comparison, amount, end })
    }

    /// An amount, and perhaps a word for less or more behind it.
    fn with_word_behind(&self, at: usize) -> Option<Span> {
        let amount = self.amount(at)?;
        let behind = |class| self.class(amount.end, class);
        let (from, to, comparison, end) = match (behind(WordClass::OrLess), behind(WordClass::OrMore)) {
            (Some(end), _) => (None, Some(amount.value), Comparison::Compared, end),
            (None, Some(end)) if !self.is_mark(end - 1, '+') || self.is_plus(end - 1) => {
                let unit = amount.unit.or_else(|| self.unit(end).map(|(unit, _)| unit));
                let end = if amount.unit.is_some() { end } else { self.unit(end).map_or(end, |(_, end)| end) };
                let amount = Amount { unit, ..amount };
                return Some(Span {
                    from: Some(amount.value),
                    to: None,
                    is_strict: false,
                    comparison: Comparison::Compared,
                    amount,
                    end,
                });
            }
            _ => (None, None, Comparison::Bare, amount.end),
        };
        Some(Span { from, to, is_strict: false, comparison, amount, end })
    }

    /// `4+` is four or more, `2 + 2` is a sum.
    fn is_plus(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.is_joined)
            && self.token(at + 1).is_none_or(|next| next.number().is_none())
    }
}
