//! What must be absent: "no nuts", "without eggs or milk", "nut-free", "doesn't need yeast", "allergic to",
//! "vegan", "celiac". What can't be checked is told.

use forecourt_vocabulary::{LANGUAGES, PhraseMeaning, WordClass};

use crate::exclusion::Exclusion;
use crate::filter::{Filter, Test};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::learnt::LearntProperty;
use crate::paths::ABSENT;
use crate::reader::Reader;
use crate::things::{ListOf, Thing, ThingKind};
use crate::{date, quantity, stated_value, things, wanted};

/// Further words that a limit which is not understood may have.
const FURTHER_WORDS_MAX: usize = 2;

/// What a thing is made of, in a word or two: what it names there counts, whatever else is said of it.
const MATERIAL: &str = "material";

/// How a negation begins, which decides what it may be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    Without,
    Refuse,
    /// "Doesn't need".
    Never,
    /// "Not" alone: of what is known only.
    Not,
}

/// Things that are negated from here on.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    // `With or without nuts` limits nothing.
    if reader.is_behind(at, WordClass::Or) && reader.is_behind(at - 1, WordClass::With) {
        return None;
    }
    let (lead, behind) = lead(reader, at)?;
    // Two negations demand: `not without nuts`.
    if let Some(again) = reader.class(behind, WordClass::Without).filter(|_| lead != Lead::Refuse) {
        return wanted::demand(reader, at, again);
    }
    let behind = if reader.is_mark(behind, ':') { behind + 1 } else { behind };
    let behind = if lead == Lead::Without { behind_the_ones(reader, behind) } else { behind };
    let list = if lead == Lead::Refuse { ListOf::Refused } else { ListOf::Absent };
    let (things, _) = reader.things(behind, list, floor);
    if things.is_empty() && matches!(lead, Lead::Without | Lead::Not) {
        return negated_limit(reader, at, behind);
    }
    let known: Vec<&Thing> = things.iter().filter(|thing| thing.is_known()).collect();
    let start = reader.absorb(at, WordClass::WithoutLead, floor);
    let Some(last) = known.last() else {
        return unknown(reader, lead, at, things.first()?, floor);
    };
    limits(reader, &known, start..last.tokens.end, Rank::Without)
}

/// Where the things begin of "without the ones in leather".
fn behind_the_ones(reader: &Reader<'_>, at: usize) -> usize {
    let article = reader.skip(at, &[WordClass::Article]);
    let behind = stated_value::behind_ones(reader, article);
    if behind > article { behind } else { at }
}

/// "Not from the 80s": the opposite of another limit is none that can be asked for.
fn negated_limit(reader: &Reader<'_>, at: usize, behind: usize) -> Option<UnderstoodPart> {
    let starts = [reader.skip(behind, &[WordClass::Article]), at + 1];
    let read = |start: usize| date::read(reader, start, start).or_else(|| quantity::read(reader, start, start));
    let end = starts.into_iter().find_map(read)?.tokens.end;
    Some(UnderstoodPart::new(at..end, FoundMeaning::NotUnderstood))
}

fn lead(reader: &Reader<'_>, at: usize) -> Option<(Lead, usize)> {
    let class = |class| reader.class(at, class);
    let never = class(WordClass::AuxiliaryNot).and_then(|end| {
        let verb = reader.class(end, WordClass::Verb).map(|end| (Lead::Never, end));
        let refused = || reader.class(end, WordClass::Without).map(|_| (Lead::Never, end));
        verb.or_else(refused)
    });
    let without = class(WordClass::Without).map(|end| (Lead::Without, end));
    let refuse = class(WordClass::Refuse).map(|end| (Lead::Refuse, end));
    // "Not sold out" is what can be had.
    let is_there = |end: &usize| reader.class(end - 1, WordClass::Available).is_some();
    let not = class(WordClass::Not).filter(|end| !is_there(end)).map(|end| (Lead::Not, end));
    let leads = [never, without, refuse, not].into_iter().flatten();
    leads.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// The limits of things that must be absent. When items can't be judged by one of them, the whole is not understood.
fn limits(
    reader: &Reader<'_>,
    things: &[&Thing],
    tokens: std::ops::Range<usize>,
    rank: Rank,
) -> Option<UnderstoodPart> {
    let filters: Vec<Filter> = things.iter().filter_map(|thing| lacks(reader, thing)).collect();
    if filters.len() < things.len() {
        // An allergy of which a part can't be checked is not understood as a whole.
        return Some(UnderstoodPart::new(tokens, FoundMeaning::NotUnderstood));
    }
    Some(UnderstoodPart::new(tokens, FoundMeaning::Limits(rank, filters)))
}

/// What has no such thing. `None` when items don't state what it asks for.
pub(crate) fn lacks(reader: &Reader<'_>, thing: &Thing) -> Option<Filter> {
    match &thing.kind {
        ThingKind::Class(id) => {
            let named = reader.class_name(id, &reader.written(thing.tokens.clone()).to_lowercase());
            let language = reader.aids.answer_in.as_str();
            let words = reader.aids.vocabulary.said_without(&named, language);
            let judged = reader.without_class(id).map(|filter| Filter { words: words.clone(), ..filter });
            // Where nothing says what is in it, what says that it is without it.
            judged.or_else(|| {
                let written = reader.written(thing.tokens.clone());
                without_said(&things::said_absent(reader.aids, written), words)
            })
        }
        ThingKind::Words(words) if reader.aids.known.has_word(MATERIAL, words) => {
            let vocabulary = reader.aids.vocabulary;
            let synonyms = vocabulary.synonyms_of(words).into_iter().map(str::to_owned);
            let test = Test::NoneOf(std::iter::once(words.clone()).chain(synonyms).collect());
            let said = vocabulary.said_without(words, reader.aids.answer_in.as_str());
            Some(Filter { fields: vec![MATERIAL.to_owned()], test, words: said })
        }
        ThingKind::Words(words) => {
            let exclusion = Exclusion { words: vec![words.clone()], ..Exclusion::default() };
            Some(exclusion.filter(reader.aids.vocabulary, reader.aids.answer_in.as_str()))
        }
        ThingKind::FreeOf(at) => {
            let written = reader.written(thing.tokens.clone()).to_lowercase();
            let class = reader.aids.vocabulary.class_named(&written);
            let named = class.map_or_else(|| written.clone(), |class| reader.class_name(&class.id, &written));
            let words = reader.aids.vocabulary.said_without(&named, reader.aids.answer_in.as_str());
            let path = &reader.aids.learnt.get(*at).stated.path;
            let said = without_said(&things::said_absent(reader.aids, &written), words.clone());
            let stated = Filter { words: words.clone(), ..Filter::is(path, "true") };
            Some(Filter::any_of(std::iter::once(stated).chain(said).collect(), words))
        }
        ThingKind::SaidAbsent(said) => {
            let written = reader.written(thing.tokens.clone()).to_lowercase();
            let words = reader.aids.vocabulary.said_without(&written, reader.aids.answer_in.as_str());
            without_said(said, words)
        }
        ThingKind::Unknown => None,
    }
}

/// What says that one of these is not in it.
fn without_said(things: &[String], words: String) -> Option<Filter> {
    let each = things.iter().map(|thing| Filter { words: words.clone(), ..Filter::is(ABSENT, thing) });
    (!things.is_empty()).then(|| Filter::any_of(each.collect(), words.clone()))
}

/// A negation of something unknown: a limit that was not understood, where limits can be meant at all.
fn unknown(reader: &Reader<'_>, lead: Lead, at: usize, thing: &Thing, floor: usize) -> Option<UnderstoodPart> {
    let begins_clause = at == 0 || !reader.is_word(at - 1) || reader.is_behind(at, WordClass::WithoutLead);
    let is_question = reader.class(0, WordClass::Question).is_some();
    let is_limit = match lead {
        Lead::Without | Lead::Refuse | Lead::Never => true,
        Lead::Not => begins_clause,
    };
    // `Why no ...?` asks for a reason, and a title such as `No Country for Old Men` for an item.
    if !is_limit || is_question || !reader.states_facts() || reader.is_name() {
        return None;
    }
    let further = if floor == 0 && at == 0 { 0 } else { FURTHER_WORDS_MAX };
    let stop = |at: usize| reader.ends_clause(at) || reader.is_single(at, WordClass::For);
    let first = thing.tokens.end;
    let words = (first..first + further).take_while(|at| !stop(*at)).count();
    // A long rest is what is asked for, not what is negated.
    let end = if stop(first + words) { first + words } else { first };
    let unwanted = reader.written(thing.tokens.start..end).to_lowercase();
    Some(UnderstoodPart::new(at..end, FoundMeaning::Unwanted(unwanted)))
}

/// "Nut- and gluten-free", "peanut allergy", "lactose intolerant".
pub(crate) fn read_behind(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let marks = [WordClass::Free, WordClass::Intolerant];
    let mut things: Vec<Thing> = Vec::new();
    let mut next = at;
    while things.len() < crate::things::THINGS_MAX {
        let class = reader.named_thing(next).filter(|_| reader.class(next, WordClass::How).is_none());
        let is_free = |end: usize| marks.iter().find_map(|mark| reader.class(end, *mark));
        let thing = match class {
            Some(thing) => thing,
            None => {
                let is_joined = reader.token(next + 1).is_some_and(|token| token.is_joined);
                let stands_so = reader.is_word(next) && is_joined && reader.class(next + 1, WordClass::Free).is_some();
                let kind = || {
                    let words = reader.written(next..next + 1).to_lowercase();
                    match things::said_absent(reader.aids, &words) {
                        _ if reader.is_listed(&words) => ThingKind::Words(words),
                        said if said.is_empty() => ThingKind::Unknown,
                        said => ThingKind::SaidAbsent(said),
                    }
                };
                stands_so.then(|| Thing { kind: kind(), tokens: next..next + 1 })?
            }
        };
        let end = thing.tokens.end;
        things.push(thing);
        if let Some(behind) = is_free(end) {
            let start = reader.absorb(at, WordClass::WithoutLead, floor);
            return free_of(reader, &things, start.max(floor)..behind);
        }
        // "Nut- and gluten-free", "egg, nut and dairy free".
        let behind = (end..end + 2).take_while(|at| reader.is_mark(*at, '-') || reader.is_mark(*at, ',')).count() + end;
        let tied = [WordClass::And, WordClass::Or].iter().find_map(|class| reader.class(behind, *class));
        next = tied.or((behind > end).then_some(behind))?;
    }
    None
}

fn free_of(reader: &Reader<'_>, things: &[Thing], tokens: std::ops::Range<usize>) -> Option<UnderstoodPart> {
    if things.iter().any(|thing| !thing.is_known()) {
        let is_limit = reader.states_facts() && !reader.is_name();
        return is_limit.then(|| UnderstoodPart::new(tokens, FoundMeaning::NotUnderstood).keeping_words());
    }
    limits(reader, &things.iter().collect::<Vec<_>>(), tokens, Rank::Free)
}

/// "Glutenfrei", "eggless", "celiac", "vegan", "keto": single words that leave things out.
pub(crate) fn read_word(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let start = || reader.absorb(at, WordClass::WithoutLead, floor);
    if let Some(((id, is_condition), end)) = reader.longest(at, leaves_out) {
        let filter = if is_condition { reader.without_class(id) } else { diet(reader, id, at)? };
        let tokens = start()..end;
        return Some(match filter {
            Some(filter) => {
                UnderstoodPart::limit(tokens, if is_condition { Rank::Without } else { Rank::Diet }, filter)
            }
            None => UnderstoodPart::new(tokens, FoundMeaning::NotUnderstood).keeping_words(),
        });
    }
    if let Some(end) = reader.class(at, WordClass::DietLike) {
        return diet_like(reader, at, end);
    }
    let word = reader.token(at).filter(|token| token.is_word())?.word.as_str();
    // "Dairy-less" is "dairyless".
    let joined = reader.token(at + 1).filter(|next| next.is_joined && next.is_word());
    let (word, end) = match joined {
        Some(next) => (format!("{word}{}", next.word), at + 2),
        None => (word.to_owned(), at + 1),
    };
    let mut stems = reader.aids.lexicon.free_of(&word);
    stems.find_map(|(stem, by_name)| {
        let kind = match reader.aids.vocabulary.class_named(stem) {
            Some(class) => ThingKind::Class(class.id.clone()),
            // Of what only looks like a word without something, the stem has to be listed: `timeless` is not without
            // `time`.
            None if !by_name && stem.len() > 3 && reader.is_listed(stem) => ThingKind::Words(stem.to_owned()),
            None => match things::said_absent(reader.aids, stem) {
                said if said.is_empty() => return None,
                said => ThingKind::SaidAbsent(said),
            },
        };
        let thing = Thing { kind, tokens: at..at + 1 };
        limits(reader, &[&thing], start()..end, Rank::Free)
    })
}

/// The id of the class that a condition rules out (`true`), or of a diet.
fn leaves_out(meaning: &PhraseMeaning) -> Option<(&str, bool)> {
    match meaning {
        PhraseMeaning::Condition(class) => Some((class, true)),
        PhraseMeaning::Diet(diet) => Some((diet, false)),
        _ => None,
    }
}

/// A diet leaves things out. `None`: it is not meant. `Some(None)`: items can't be judged by it.
///
/// Its name leaves the text: what is curry without meat is as good an answer to "vegetarian curry" as what calls
/// itself vegetarian, and better than other such dishes.
fn diet(reader: &Reader<'_>, id: &str, at: usize) -> Option<Option<Filter>> {
    let vocabulary = reader.aids.vocabulary;
    let is_negated = [WordClass::Not, WordClass::Without].iter().any(|class| reader.is_behind(at, *class));
    let diet = vocabulary.diet(id).filter(|_| !is_negated)?;
    let is_stated = diet.without.iter().filter_map(|id| vocabulary.class(id)).any(|class| reader.can_lack(class));
    let exclusion = Exclusion { diets: vec![diet.id.clone()], ..Exclusion::default() };
    let judged = is_stated.then(|| exclusion.filter(vocabulary, reader.aids.answer_in.as_str()));
    Some(judged.or_else(|| stated_diet(reader, &diet.id)))
}

/// What says that it suits a diet, in a property that is called like it in any language.
fn stated_diet(reader: &Reader<'_>, id: &str) -> Option<Filter> {
    let is_diet = |name: &str| reader.aids.vocabulary.diet_named(name).is_some_and(|diet| diet.id == id);
    let says = reader.aids.learnt.all().map(|(_, property)| property).filter(|property| property.is_truth());
    let says: Vec<&LearntProperty> =
        says.filter(|property| LANGUAGES.iter().any(|code| is_diet(property.name(code)))).collect();
    let words = says.first()?.name(reader.aids.answer_in.as_str()).to_owned();
    let each = says.iter().map(|property| Filter { words: words.clone(), ..Filter::is(&property.stated.path, "true") });
    Some(Filter::any_of(each.collect(), words.clone()))
}

/// A way to eat of which no class is known: what says that it is for it.
fn diet_like(reader: &Reader<'_>, at: usize, end: usize) -> Option<UnderstoodPart> {
    let words = reader.written(at..end).to_lowercase();
    let has = |path: &&String| reader.aids.known.has_word(path, &words);
    let fields: Vec<String> = reader.table.texts.diets.iter().filter(has).cloned().collect();
    let found = match fields.is_empty() {
        false => {
            let filter = Filter { fields, test: Test::Mentions(words.clone()), words };
            UnderstoodPart::limit(at..end, Rank::Diet, filter)
        }
        true if reader.states_facts() && !reader.is_name() => UnderstoodPart::new(at..end, FoundMeaning::NotUnderstood),
        true => return None,
    };
    Some(found.keeping_words())
}

#[cfg(test)]
mod tests {
    use crate::filter::{ClassLimit, Test};
    use crate::tests::understood;
    use crate::tests::{Everything, parts};

    #[test]
    fn things_can_be_left_out_in_many_forms() {
        for (text, left, limits) in [
            ("cake, no nuts", "cake", &["no nuts"][..]),
            ("cake without any nuts or eggs", "cake", &["no nuts", "no eggs"]),
            ("cake with no nuts, no milk and no eggs please", "cake please", &["no nuts", "no milk", "no eggs"]),
            ("nut-free cake", "cake", &["no nuts"]),
            ("dairy free cake", "cake", &["no dairy"]),
            ("salad without cilantro", "salad", &["no cilantro"]),
            ("chicken, not too bake", "chicken, not too bake", &[]),
            ("cake, not chicken", "cake", &["no chicken"]),
            ("no nuts and crispy", "and crispy", &["no nuts"]),
            ("I'm allergic to nuts: cake", ": cake", &["no nuts"]),
            ("cake, I don't eat eggs or milk", "cake", &["no eggs", "no milk"]),
            ("allergies: nuts, milk", "", &["no nuts", "no milk"]),
            ("has a nut allergy", "has a", &["no nuts"]),
            ("dairy-less cake", "cake", &["no dairy"]),
            ("lactose intolerant, hates cilantro", "", &["no cilantro", "no lactose"]),
            ("Kuchen ohne Nüsse und Eier", "Kuchen", &["no nuts", "no eggs"]),
            ("glutenfreier Kuchen", "Kuchen", &["no gluten"]),
            ("gâteau sans noix ni œufs", "gâteau", &["no nuts", "no eggs"]),
            ("pastel sin nueces y huevos", "pastel", &["no nuts", "no eggs"]),
        ] {
            let limits: Vec<String> = limits.iter().map(|limit| (*limit).to_owned()).collect();
            assert_eq!(parts(text), (left.to_owned(), limits), "{text}");
        }
    }

    #[test]
    fn a_class_is_judged_by_what_items_state() {
        let understood = understood("cake without nuts, no cilantro", &Everything);
        let limit = |at: usize| understood.filters[at].test.clone();
        let nuts = ClassLimit { class: "nuts".into(), area: "food".into() };
        assert_eq!(limit(0), Test::Without { classes: vec![nuts], words: Vec::new() });
    }

    #[test]
    fn diets_leave_out() {
        for text in ["vegetarian curry", "vegetarisches curry", "curry végétarien", "curry vegetariano"] {
            assert_eq!(parts(text), ("curry".to_owned(), vec!["vegetarian".to_owned()]), "{text}");
        }
        assert_eq!(parts("not vegetarian").1, [] as [String; 0]);
    }

    #[test]
    fn unknown_things_and_ways_of_doing_stay() {
        for text in ["no bake cookies", "flow without shear", "no one", "free jazz", "carefree", "without"] {
            assert!(parts(text).1.is_empty(), "{text}");
        }
    }

    #[test]
    fn every_wording_of_a_limit_is_understood() {
        for text in [
            "cake w/o nuts",
            "cake excluding nuts",
            "cake that doesn’t need nuts",
            "cake that doesnt contain nuts",
            "cake not containing nuts",
            "cake, skip the nuts",
            "cake but hold the nuts",
            "cake, leave out the nuts",
            "cake lacking nuts",
            "cake minus nuts",
            "cake, anything other than nuts",
            "cake, I can't have nuts",
            "I hate nuts, cake please",
            "cake, I don't like nuts",
            "cake, nut allergy",
        ] {
            assert!(parts(text).1.iter().any(|words| words.starts_with("no n")), "{text}: {:?}", parts(text));
        }
        for text in ["cake, I am celiac", "Kuchen, ich habe Zöliakie", "gâteau, je suis cœliaque"] {
            assert!(parts(text).1.iter().any(|words| words == "no gluten"), "{text}: {:?}", parts(text));
        }
    }

    #[test]
    fn what_cannot_be_checked_is_told_and_not_searched_for() {
        for (text, left, told) in [
            ("cake without kryptonite", "cake", &["without kryptonite"][..]),
            ("cake, doesn't need a mixer", "cake", &["doesn't need a mixer"]),
            ("paleo cake", "paleo cake", &["paleo"]),
            ("soup for 30 people", "soup", &["for 30 people"]),
            ("fewer than six ingredients, soup", "soup", &["fewer than six ingredients"]),
            ("cake with or without nuts", "cake with or without nuts", &[]),
        ] {
            let found = understood(text, &Everything);
            assert_eq!(
                (found.text.as_str(), found.not_understood),
                (left, told.iter().map(|told| (*told).to_owned()).collect()),
                "{text}"
            );
        }
    }

    #[test]
    fn a_list_ends_where_something_else_is_asked_for() {
        for (text, count) in
            [("no nuts, chocolate cake", 1), ("without nuts, eggs or milk", 3), ("no nuts and with rice", 1)]
        {
            assert_eq!(parts(text).1.len(), count, "{text}: {:?}", parts(text));
        }
    }
}
