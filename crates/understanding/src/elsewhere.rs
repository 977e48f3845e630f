//! Where something must not be: "not in Bath", "outside Leeds", "außerhalb von Leipzig".

use forecourt_vocabulary::WordClass;

use crate::filter::{Filter, Test};
use crate::found::{Rank, UnderstoodPart};
use crate::place;
use crate::reader::Reader;

/// Words that say by themselves that it must not be there, without accents.
const OUTSIDE: &[&str] = &["outside", "ausserhalb", "hors", "fuera"];
/// Words that lead to a place, without accents.
const IN: &[&str] = &["in", "at", "near", "from", "im", "aus", "bei", "a", "en", "dans", "sur", "au"];
/// Words between those and its name, without accents.
const BETWEEN: &[&str] = &["of", "the", "von", "der", "dem", "den", "de", "du", "des", "la", "le", "les", "el", "los"];
/// Words of the longest name.
const NAME_WORDS_MAX: usize = 4;

/// A place where nothing may be, of those that the items have.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let outside = reader.says(at, OUTSIDE).then_some(at + 1);
    let negated = || {
        let leads = [WordClass::Not, WordClass::Without].iter().filter_map(|class| reader.class(at, *class));
        // "Not in" is one phrase of them, too.
        let behind = |lead: usize| match reader.says(lead, IN) {
            true => Some(lead + 1),
            false => (lead > at + 1 && reader.says(lead - 1, IN)).then_some(lead),
        };
        leads.filter_map(behind).max()
    };
    let mut first = outside.or_else(negated)?;
    while reader.says(first, BETWEEN) {
        first += 1;
    }
    let ends = (first + 1..=first + NAME_WORDS_MAX).rev();
    let mut names = ends.filter(|end| (first..*end).all(|at| reader.is_word(at)));
    let (there, end) =
        names.find_map(|end| Some((place::filter(reader.aids.known, reader.written(first..end))?, end)))?;
    if reader.is_name() {
        return None;
    }
    let values = there.alternatives().iter().filter_map(|one| match &one.test {
        Test::Is(value) | Test::Mentions(value) => Some(value.clone()),
        _ => None,
    });
    let words = reader.say("stated_not", &[&there.words]);
    let filter = Filter { fields: there.fields.clone(), test: Test::NoneOf(values.collect()), words };
    Some(UnderstoodPart::limit(reader.absorb(at, WordClass::WithoutLead, floor)..end, Rank::Stated, filter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Everything, understood};

    #[test]
    fn a_place_can_be_ruled_out() {
        for text in [
            "concerts not in Berlin",
            "concerts outside Berlin",
            "Konzerte nicht in Berlin",
            "Konzerte außerhalb von Berlin",
            "concerts hors de Berlin",
            "conciertos fuera de Berlin",
        ] {
            let found = understood(text, &Everything).filters;
            let rules_out =
                |filter: &&Filter| matches!(&filter.test, Test::NoneOf(values) if *values == ["berlin".to_owned()]);
            assert!(found.iter().any(|filter| rules_out(&filter)), "{text}: {found:?}");
        }
        let found = understood("concerts not in Atlantis", &Everything);
        assert_eq!(found.not_understood, ["not in Atlantis"]);
    }
}
