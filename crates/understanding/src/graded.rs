//! Little or much of what items grade in words: "needs little water", "wenig Pflege", "peu d'entretien", "mucha luz", of a
//! property whose values are "low", "hoch" or "very high".

use forecourt_vocabulary::{compared, folded};

use crate::filter::{Filter, Test};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::learnt::{LearntProperty, StatedValues};
use crate::paths::SHARE_MIN;
use crate::reader::Reader;

/// Words for little and for much of something, without accents.
const DEGREES: &[(&[&str], bool)] = &[
    (
        &[
            "little", "low", "minimal", "wenig", "wenige", "geringer", "geringem", "geringen", "peu", "faible", "poco",
            "poca", "bajo", "baja",
        ],
        false,
    ),
    (
        &[
            "much", "high", "lots", "plenty", "viel", "hohem", "hoher", "hohen", "beaucoup", "haute", "mucho", "mucha",
            "alto", "alta",
        ],
        true,
    ),
];
/// How items grade what is little, and what is much, without accents.
const LOW: &[&str] =
    &["low", "gering", "niedrig", "wenig", "faible", "bajo", "baja", "little", "minimal", "poco", "poca"];
const HIGH: &[&str] = &["high", "hoch", "viel", "eleve", "elevee", "fort", "forte", "alto", "alta", "mucho", "mucha"];
/// Words in front of such a grade, without accents.
const VERY: &[&str] = &["very", "sehr", "tres", "muy"];
/// Words between a degree and what there is little of, without accents.
const OF: &[&str] = &["of", "de", "d"];
/// Letters of the shortest word, and those by which a longer one begins like a property's name.
const WORD_LETTERS: usize = 3;
const BEGIN_LETTERS: usize = 4;

/// Little or much of a property that is graded in words. Where few items grade it, a wish: these
/// words may mean something else.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    // As it is written: "wenig" is spelled almost like a word of limits.
    let degree = folded(reader.token(at).map(|_| reader.written(at..at + 1))?);
    let is_much = DEGREES.iter().find(|(words, _)| words.contains(&degree.as_str())).map(|(_, is_much)| *is_much)?;
    let word = if reader.says(at + 1, OF) { at + 2 } else { at + 1 };
    let asked = folded(reader.written(word..word + 1));
    if !reader.is_word(word) || asked.chars().count() < WORD_LETTERS || reader.is_name() {
        return None;
    }
    let graded = reader.aids.learnt.all().filter_map(|(_, one)| Some((one, of_grade(one, &asked, is_much)?)));
    let graded: Vec<(&LearntProperty, Filter)> = graded.collect();
    let words = reader.written(at..word + 1).to_lowercase();
    let each = graded.iter().map(|(_, filter)| Filter { words: words.clone(), ..filter.clone() });
    let limits = vec![Filter::any_of(each.collect(), words.clone())];
    // What all of these state is asked of all of them.
    let is_common = graded.iter().any(|(property, _)| reader.share(property) >= SHARE_MIN);
    let meaning = if is_common { FoundMeaning::Limits(Rank::Stated, limits) } else { FoundMeaning::Wishes(limits) };
    (!graded.is_empty()).then(|| UnderstoodPart::new(at.max(floor)..word + 1, meaning))
}

/// What states little or much of a property, where its name begins like a word.
fn of_grade(property: &LearntProperty, asked: &str, is_much: bool) -> Option<Filter> {
    let StatedValues::Texts(values) = &property.stated.values else { return None };
    let name = folded(property.stated.path.rsplit('.').next().unwrap_or_default());
    let stem = compared(asked, "en");
    let is_long = stem.len() >= BEGIN_LETTERS;
    let begins = |part: &str| {
        let is_begun = part.starts_with(stem.as_str()) || (part.len() >= BEGIN_LETTERS && stem.starts_with(part));
        part == stem || (is_long && is_begun)
    };
    if !name.split(' ').any(begins) {
        return None;
    }
    let grades = if is_much { HIGH } else { LOW };
    let is_grade = |value: &&String| {
        let folded = folded(value);
        let bare = VERY.iter().find_map(|very| folded.strip_prefix(very)).unwrap_or(&folded).trim().to_owned();
        grades.contains(&bare.as_str())
    };
    let fits: Vec<String> = values.iter().filter(is_grade).cloned().collect();
    let fields = vec![property.stated.path.clone()];
    (!fits.is_empty()).then(|| Filter { fields, test: Test::OneOf(fits), words: String::new() })
}

#[cfg(test)]
mod tests {
    use forecourt_vocabulary::Vocabulary;

    use super::*;
    use crate::learnt::{LearntProperties, StatedProperty};
    use crate::tests::{FINDING, understood_with};

    #[test]
    fn words_are_listed_as_tokens_have_them() {
        let all = DEGREES.iter().flat_map(|(words, _)| words.iter()).chain(LOW).chain(HIGH).chain(VERY).chain(OF);
        all.for_each(|word| assert_eq!(forecourt_vocabulary::tokens(word)[0].word, *word));
    }

    #[test]
    fn little_and_much_are_the_grades_that_items_have() {
        let property = |name: &str, values: &[&str]| StatedProperty {
            path: format!("additionalProperty.{name}"),
            share: 0.3,
            values: StatedValues::Texts(values.iter().map(|value| (*value).to_owned()).collect()),
        };
        let stated = vec![
            property("Water needs", &["low", "high"]),
            property("Pflegeaufwand", &["gering", "sehr gering", "hoch"]),
            property("Entretien", &["faible", "élevé"]),
            property("Luz", &["poca", "mucha"]),
            property("Maintenance", &["low", "medium"]),
        ];
        let learnt = LearntProperties::of(stated, &Vocabulary::shipped());
        for (text, values) in [
            ("a fern that needs little water", &["low"][..]),
            ("Farn, der wenig Pflege braucht", &["gering", "sehr gering"]),
            ("Wand mit hohem Pflegeaufwand", &["hoch"]),
            ("un parquet avec peu d'entretien", &["faible"]),
            ("una planta que quiere mucha luz", &["mucha"]),
            ("low maintenance paving", &["low"]),
        ] {
            let found = understood_with(text, &FINDING, &learnt).filters;
            let is_it = |filter: &Filter| {
                filter.alternatives().iter().any(|one| match &one.test {
                    Test::OneOf(of) => of.iter().map(String::as_str).eq(values.iter().copied()),
                    Test::IsOneOf { values: of, .. } => of.iter().map(String::as_str).eq(values.iter().copied()),
                    _ => false,
                })
            };
            assert!(found.iter().any(is_it), "{text}: {found:?}");
        }
        for text in ["a little table", "much ado", "low prices", "wenig Platz"] {
            assert!(understood_with(text, &FINDING, &learnt).filters.is_empty(), "{text}");
        }
    }
}
