//! Limits of the values that items state, and of their yes and no: "diesel", "not automatic", "pets allowed", "for
//! children".

use forecourt_vocabulary::WordClass;

use crate::exclusion::Exclusion;
use crate::filter::Filter;
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::learnt::{LearntMeaning, LearntProperty};
use crate::paths::{AGES, SHARE_MIN};
use crate::phrase_limit::PhraseLimit;
use crate::reader::Reader;
use crate::{ages, quantity, stated_amount};

/// A value, a yes, an age or a colour that is negated: "not automatic", "no pets allowed".
pub(crate) fn read_not(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    // "Doesn't have a balcony".
    let denied = reader.class(at, WordClass::AuxiliaryNot).and_then(|end| reader.class(end, WordClass::Verb));
    let plain = [WordClass::Without, WordClass::Not].into_iter().filter_map(|class| reader.class(at, class)).max();
    let lead = denied.max(plain)?;
    // "Without prescription" is a value of its own.
    let is_whole = |meaning: &LearntMeaning| match meaning {
        LearntMeaning::Values(..) => true,
        LearntMeaning::Name(property) => reader.aids.learnt.get(*property).is_truth(),
        _ => false,
    };
    if reader.learnt(at).any(|(meaning, end)| end > lead && is_whole(meaning)) {
        return None;
    }
    let behind = behind_ones(reader, reader.skip(lead, &[WordClass::Article, WordClass::For]));
    let behind = behind_one(reader, behind);
    let mut said = PhraseLimit::read(reader, behind, true)?;
    let start = reader.absorb(at, WordClass::WithoutLead, floor);
    if let Some((words, end)) = narrowed(reader, &said, behind) {
        let exclusion = Exclusion { words: vec![words], ..Exclusion::default() };
        let filter = exclusion.filter(reader.aids.vocabulary, reader.aids.answer_in.as_str());
        return Some(UnderstoodPart::limit(start..end, Rank::Stated, filter));
    }
    // "Neither black nor blue": none of them.
    let ties = |at: usize| [WordClass::Or, WordClass::And].iter().find_map(|class| reader.class(at, *class));
    while let Some(next) =
        ties(said.end).and_then(|next| PhraseLimit::read(reader, reader.skip(next, &[WordClass::Article]), true))
    {
        if !said.join(next) {
            break;
        }
    }
    let filters = said.negated(reader)?;
    Some(UnderstoodPart::new(start..said.end, FoundMeaning::Limits(Rank::Stated, filters)))
}

/// A value and a word behind it that says which: who wants no "leche cruda" may have milk. Both, where some item has both,
/// and the token behind them.
fn narrowed(reader: &Reader<'_>, said: &PhraseLimit<'_>, start: usize) -> Option<(String, usize)> {
    let end = said.end;
    let says_more = reader.meanings(end).next().is_some();
    let is_describing = said.values.is_some() && reader.is_word(end) && !says_more && !reader.ends_clause(end);
    let words = reader.written(start..end + 1).to_lowercase();
    // "Child labour" is nothing that an item speaks of where none has the second word.
    let is_said = || (start..end + 1).all(|at| reader.aids.known.has_written(reader.written(at..at + 1)));
    (is_describing && is_said() && reader.aids.known.finds(&words, &[])).then_some((words, end + 1))
}

/// Words for the items themselves between a negation and what they must not be: "without the ones in leather".
const ONES: &[&str] = &[
    "ones", "those", "that", "are", "in", "made", "of", "die", "den", "aus", "celles", "ceux", "que", "los", "las",
    "be", "sea", "sean", "es", "son", "soit", "soient", "est", "sont", "ist", "sind", "sein",
];

/// Past the number one that is an article: "ohne eine Terrasse".
fn behind_one(reader: &Reader<'_>, at: usize) -> usize {
    reader.number(at).filter(|(_, end, is_article)| *is_article && *end == at + 1).map_or(at, |(_, end, _)| end)
}

pub(crate) fn behind_ones(reader: &Reader<'_>, mut at: usize) -> usize {
    while reader.says(at, ONES) {
        at += 1;
    }
    at
}

/// A value, a yes or an age.
pub(crate) fn read_value(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let led = [WordClass::With, WordClass::MustHave, WordClass::For]
        .into_iter()
        .filter_map(|class| reader.class(at, class))
        .max();
    let behind = reader.skip(led.unwrap_or(at), &[WordClass::Article]);
    let behind = if led.is_some() { behind_one(reader, behind) } else { behind };
    let is_led = led.is_some() || reader.is_behind(at, WordClass::And) || reader.is_behind(at, WordClass::Or);
    // "With my dog" is a name of its own.
    let (inner, whole) = (PhraseLimit::read(reader, behind, is_led), PhraseLimit::read(reader, at, is_led));
    let inner_end = inner.as_ref().map_or(behind, |inner| inner.end);
    let is_truth = |limit: &PhraseLimit<'_>| limit.truth.is_some();
    // What gets on with cats is no cat.
    let is_named = |whole: &PhraseLimit<'_>| is_truth(whole) && !inner.as_ref().is_some_and(is_truth);
    let is_longer =
        |whole: &PhraseLimit<'_>| whole.end > inner_end || (led.is_some() && whole.end == inner_end && is_named(whole));
    let whole = whole.filter(is_longer);
    let mut said = match whole.or(inner) {
        Some(said) => said,
        None => return with_property(reader, at, behind, floor),
    };
    let start = said.take_name(reader, at, floor);
    // "With bindings included".
    said.end += usize::from(said.truth.is_some() && reader.says(said.end, INCLUDED));
    // "A book about a girl" is for anybody, and "a bike for three kids" for whoever rides it.
    if is_about(reader, at, behind) || is_counted(reader, behind) {
        said.ages = None;
        if said.filters(reader).is_empty() {
            return None;
        }
    }
    let either = either(reader, &mut said);
    // "Pets not needed": what somebody can do without is no limit.
    if let Some(end) = reader.class(said.end, WordClass::NotNeeded) {
        return Some(UnderstoodPart::new(at..end, FoundMeaning::Filler));
    }
    // "My daughter, 5 years": how old she is counts, and not that she is a child.
    let is_age_alone = said.ages.is_some() && said.values.is_none() && said.truth.is_none() && ages::says_age(reader);
    if is_age_alone {
        return Some(UnderstoodPart::new(at..said.end, FoundMeaning::Filler));
    }
    let filters = either.unwrap_or_else(|| said.filters(reader));
    // "For my son": where few items say for whom they are, it is a wish.
    let is_rare = said.ages.is_some() && reader.aids.known.share(AGES[0]) < SHARE_MIN;
    let is_age_wished = is_rare && said.values.is_none() && said.truth.is_none();
    if (said.is_bare && said.values.is_none()) || is_age_wished {
        return Some(UnderstoodPart::new(at..said.end, FoundMeaning::Wishes(filters)));
    }
    let start = reader.absorb(start, WordClass::LimitLead, floor);
    let (end, agrees) = (said.end, said.agrees);
    let limits =
        (!filters.is_empty()).then(|| UnderstoodPart::new(start..end, FoundMeaning::Limits(Rank::Stated, filters)));
    // "Frostfeste Töpfe": the words find what is called so first.
    if agrees { limits.map(UnderstoodPart::keeping_words) } else { limits }
}

/// Words behind a thing that say once more that it is there, without accents.
const INCLUDED: &[&str] = &[
    "included",
    "inklusive",
    "enthalten",
    "dabei",
    "inclus",
    "incluse",
    "inclues",
    "incluido",
    "incluida",
    "incluidos",
];

/// "With SPF": of a number that is named without an amount, what states that there is any. A wish, since the words may
/// mean something else.
fn with_property(reader: &Reader<'_>, at: usize, behind: usize, floor: usize) -> Option<UnderstoodPart> {
    reader.class(at, WordClass::With)?;
    let named = stated_amount::names(reader, behind, stated_amount::is_numeric);
    let end = named.first().map(|(_, end)| *end)?;
    // Everything has a weight: what is measured is asked for by its amount.
    let properties = named.iter().map(|(at, _)| reader.aids.learnt.get(*at));
    let properties: Vec<&LearntProperty> = properties.filter(|property| property.dimension.is_none()).collect();
    // "With a spin speed of 1800" is a limit of it.
    let amount = reader.skip(end, &[WordClass::Article, WordClass::LimitLead]);
    let is_amount = reader.number(amount).is_some() || reader.span(amount).is_some();
    let ends = reader.ends_clause(end) && reader.number(end).is_none() && !is_amount;
    let (from, _) = quantity::beyond(Some(0.0), None);
    let words = reader.say("with", &[reader.written(behind..end)]);
    let each = properties.iter().map(|property| quantity::within(&property.stated.path, from, None, words.clone()));
    let filter = Filter::any_of(each.collect(), words.clone());
    let start = reader.absorb(at, WordClass::LimitLead, floor);
    (ends && !properties.is_empty() && !reader.is_name())
        .then(|| UnderstoodPart::new(start..end, FoundMeaning::Wishes(vec![filter])).keeping_words())
}

/// What else will do, behind "or": another value of the same property, which joins what was said, or something else that
/// items say, "a sauna or a hot tub", which makes one limit of both.
fn either<'a>(reader: &Reader<'a>, said: &mut PhraseLimit<'a>) -> Option<Vec<Filter>> {
    let mut others: Vec<Filter> = Vec::new();
    let behind_or = |at: usize| {
        let next = reader.skip(reader.class(at, WordClass::Or)?, &[WordClass::With, WordClass::Article]);
        PhraseLimit::read(reader, behind_one(reader, next), true)
    };
    while let Some(next) = behind_or(said.end) {
        let (end, filters) = (next.end, next.filters(reader));
        if !said.join(next) {
            let [only] = filters.as_slice() else { break };
            others.push(only.clone());
            said.end = end;
        }
    }
    let [own] = said.filters(reader).try_into().ok()?;
    let all: Vec<Filter> = std::iter::once(own).chain(others).collect();
    let words = all.iter().map(|filter| filter.words.clone()).reduce(|all, next| reader.say("or", &[&all, &next]))?;
    (all.len() > 1).then(|| vec![Filter::any_of(all, words)])
}

/// Words behind which people are those whom something is about, or by, without accents.
const ABOUT: &[&str] = &["about", "of", "by", "on", "uber", "von", "sur", "sobre", "acerca"];

/// Whether the word at `behind` is what something is about. `at` is where its articles begin, and "of" is one of them.
fn is_about(reader: &Reader<'_>, at: usize, behind: usize) -> bool {
    (at.saturating_sub(1)..behind).any(|at| reader.says(at, ABOUT))
}

/// Whether people are counted: "three kids".
fn is_counted(reader: &Reader<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| reader.number(before));
    before.is_some_and(|(_, end, is_article)| end == at && !is_article)
}

#[cfg(test)]
mod tests {
    use forecourt_vocabulary::{Vocabulary, tokens};

    use crate::filter::{Filter, Test};
    use crate::learnt::{LearntProperties, StatedProperty, StatedValues};
    use crate::scope::QuestionScope;
    use crate::tests::understood_with;

    /// Food without ingredients, of which some suits a diet. The answer: whether some of that states an allergen of which
    /// the diet is free.
    struct Diets(bool);

    impl QuestionScope for Diets {
        fn has_number(&self, _: &str) -> bool {
            false
        }
        fn has_word(&self, _: &str, _: &str) -> bool {
            false
        }
        fn has_value(&self, _: &str, _: &str) -> bool {
            false
        }
        fn share(&self, _: &str) -> f64 {
            0.5
        }
        fn quantile(&self, _: &str, _: f64) -> Option<f64> {
            None
        }
        fn finds(&self, text: &str, _: &[Filter]) -> bool {
            text.is_empty() && self.0
        }
        fn is_name(&self, _: &str) -> bool {
            false
        }
        fn states(&self, _: &str) -> bool {
            false
        }
        fn promises(&self, _: &str) -> bool {
            true
        }
    }

    #[test]
    fn words_are_listed_as_tokens_have_them() {
        for word in super::ABOUT.iter().chain(super::ONES) {
            assert_eq!(tokens(word)[0].word, *word);
        }
    }

    #[test]
    fn a_diet_stands_in_for_allergens_only_where_nothing_states_both() {
        let values = StatedValues::Texts(vec!["gluten".to_owned(), "milk".to_owned()]);
        let allergens = StatedProperty { path: "additionalProperty.Allergens".to_owned(), share: 0.5, values };
        let learnt = LearntProperties::of(vec![allergens], &Vocabulary::shipped());
        for is_stated in [false, true] {
            let found = understood_with("bread without gluten", &Diets(is_stated), &learnt);
            let all: Vec<&Test> = found.filters.iter().flat_map(Filter::alternatives).map(|one| &one.test).collect();
            assert!(all.iter().any(|test| matches!(test, Test::NoneOf(_))), "{found:?}");
            assert_eq!(all.iter().any(|test| matches!(test, Test::Without { .. })), !is_stated, "{found:?}");
        }
    }
}
