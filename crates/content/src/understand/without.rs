//! "no nuts", "without eggs or milk", "nut-free", "doesn't eat pork", "vegetarian"; "ohne Nüsse", "sans noix",
//! "sin nueces".

use std::sync::LazyLock;

use regex::Regex;

use forecourt_core::Language;
use forecourt_vocabulary::Vocabulary;

use super::{Draft, Known, last_word, pattern};
use crate::search::{Exclusion, Filter, Test};

/// Properties with lists of what is in an item. A word that none of them has cannot be left out.
const LISTS: &[&str] = &[
    "recipeIngredient",
    "ingredients",
    "recipeCategory",
    "recipeCuisine",
    "keywords",
    "genre",
    "actor.name",
    "director.name",
    "author.name",
    "category",
    "material",
    "color",
    "brand.name",
    "about.name",
];
/// "No bake" and the like say how, not what.
const HOW: &[&str] = &[
    "bake",
    "baking",
    "cook",
    "cooking",
    "knead",
    "churn",
    "fuss",
    "stir",
    "fry",
    "boil",
    "more",
    "less",
    "longer",
    "matter",
    "idea",
    "problem",
    "one",
    "need",
    "other",
    "vegan",
    "vegetarian",
    "meatless",
];
/// Words in front of a diet that is not meant.
const NOT: &[&str] = &["not", "non", "no", "isn't", "nicht", "keine", "pas", "kein"];
/// Things that one question can leave out.
const THINGS_MAX: usize = 8;

static WITHOUT: LazyLock<Regex> = LazyLock::new(|| {
    let no = r"(?:(?:but|and|with)\s+)?(?:no|without|excluding|except|free\s+of|free\s+from|minus|hold\s+the|not(?:\s+(?:too|very|so))?|ohne|keinen?|sans|sin)";
    let never = r"(?:i\s+|we\s+|who\s+|they\s+|(?:s?he)\s+)?(?:(?:do(?:es)?\s+not|do(?:es)?n['’]t|can(?:not|['’]t|\s+not)|never)\s+(?:eat|have|like|want|drink)s?|avoid(?:s|ing)?|hates?|dislikes?)";
    let allergy = r"(?:i(?:['’]m|\s+am)\s+|is\s+)?(?:allergic\s+to|allerg(?:y|ies)\s*(?:to|:)|allergisch\s+(?:auf|gegen)|allergique\s+(?:aux?|à\s+la)|alérgic[oa]s?\s+a(?:l|\s+l[oa]s?)?)";
    let word =
        r"[\p{L}]+(?:\s+(?:nuts|sauce|products|butter|cheese|milk|oil|peppers?|à\s+coque|de\s+mer|laitiers|secos))?";
    let and = r"(?:and|or|nor|und|oder|et|ou|ni|y|o)";
    let again = r"(?:no\s+|any\s+|without\s+|ohne\s+|keine\s+|sans\s+|sin\s+)?";
    let list = format!(r"({word}(?:\s*(?:,\s*{and}|,|/|{and})\s+{again}{word})*)");
    pattern(&format!(r"\b(?:{no}|{never}|{allergy})\s+(?:any\s+|the\s+|les\s+|des\s+|la\s+|los\s+|las\s+)?{list}"))
});
static FREE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(\p{L}+)(?:[\s-](?:free|allergy|intolerant|intolerance)|freie?[mnrs]?)\b"));
static DIET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(vegetarians?|meatless|vegans?|pesc[ae]tarians?|vegetarische?[mnrs]?|vegetarier(?:in)?|vegane?[mnrs]?|végétarien(?:ne)?s?|végane?s?|vegetarian[oa]s?|vegan[oa]s?)\b",
    )
});
static SEPARATOR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\s*(?:,|/|\b(?:and|or|nor|und|oder|et|ou|ni|y|o)\b)\s*(?:(?:and|or|nor|no|any|without|und|oder|ohne|keine|et|sans|y|sin)\s+)*",
    )
});

pub(super) fn read(draft: &mut Draft<'_>) {
    let found = lists(draft);
    for (things, range) in found.into_iter().rev() {
        if !draft.has_room(THINGS_MAX) {
            break;
        }
        draft.cut(range);
        things.iter().for_each(|thing| lack(draft, thing));
    }
    let (known, vocabulary, answer_in) = (draft.known, draft.vocabulary, draft.answer_in);
    draft.each(&FREE, |found, _| {
        let thing = found.get(1)?.as_str().to_lowercase();
        let is_class = vocabulary.class_named(&thing).is_some();
        (is_class && is_known(known, vocabulary, &thing)).then(|| lacks(vocabulary, answer_in, &thing))
    });
    diets(draft);
    if draft.out.filters.iter().any(|filter| matches!(filter.test, Test::Without { .. })) {
        draft.note("What is left out is judged by the words of each item: with an allergy, look closely.");
    }
}

/// The things of each "without" list that can be left out, and the part of the text they take. A
/// list ends at the first thing that is unknown: `no nuts and crispy` leaves out nuts only.
fn lists(draft: &Draft<'_>) -> Vec<(Vec<String>, std::ops::Range<usize>)> {
    let mut out = Vec::new();
    for found in WITHOUT.captures_iter(&draft.out.text) {
        let (Some(all), Some(list)) = (found.get(0), found.get(1)) else { continue };
        let mut things = Vec::new();
        let mut end = all.start();
        let mut at = 0;
        while things.len() < THINGS_MAX {
            let rest = &list.as_str()[at..];
            let separator = SEPARATOR.find(rest);
            let stop = separator.map_or(rest.len(), |separator| separator.start());
            let Some(thing) = known_thing(draft, &rest[..stop]) else { break };
            end = list.start() + at + thing.len();
            let is_whole = thing.len() == stop;
            things.push(thing.to_lowercase());
            match separator {
                Some(separator) if is_whole => at += separator.end(),
                _ => break,
            }
        }
        if !things.is_empty() {
            out.push((things, all.start()..end));
        }
    }
    out
}

/// The longest beginning of a text that can be left out: two words, else one.
fn known_thing<'t>(draft: &Draft<'_>, text: &'t str) -> Option<&'t str> {
    let first = text.split_whitespace().next()?;
    [text, first].into_iter().find(|thing| {
        let thing = thing.to_lowercase();
        !HOW.contains(&thing.as_str()) && is_known(draft.known, draft.vocabulary, &thing)
    })
}

/// What a thing stands for in the languages that items are in: the members of its class, or itself. Words of
/// other languages are left out, since they mean other things here: Spanish bread is an English pan.
fn members(known: &dyn Known, vocabulary: &Vocabulary, thing: &str) -> Vec<String> {
    let Some(class) = vocabulary.class_named(thing) else { return vec![thing.to_owned()] };
    let spoken = ["en", "de", "fr", "es"].into_iter().filter(|code| known.speaks(code));
    spoken.flat_map(|code| class.members(code)).cloned().collect()
}

fn is_known(known: &dyn Known, vocabulary: &Vocabulary, thing: &str) -> bool {
    members(known, vocabulary, thing).iter().any(|word| LISTS.iter().any(|path| known.has_word(path, word)))
}

fn lack(draft: &mut Draft<'_>, thing: &str) {
    let filter = lacks(draft.vocabulary, draft.answer_in, thing);
    draft.out.filters.push(filter);
}

/// What has no such thing: none of its class, or not the word.
fn lacks(vocabulary: &Vocabulary, answer_in: &Language, thing: &str) -> Filter {
    Exclusion::of(thing, vocabulary).filter(vocabulary, answer_in.as_str())
}

/// A diet leaves things out. Its name leaves the text: what is curry without meat is as good an
/// answer to "vegetarian curry" as what calls itself vegetarian, and better than other such dishes.
fn diets(draft: &mut Draft<'_>) {
    let (known, vocabulary, answer_in) = (draft.known, draft.vocabulary, draft.answer_in);
    draft.each(&DIET, |found, before| {
        let is_meant = !NOT.contains(&last_word(before).trim_end_matches('-'));
        let diet = vocabulary.diet_named(found.get(1)?.as_str()).filter(|_| is_meant)?;
        let exclusion = Exclusion { diets: vec![diet.id.clone()], ..Exclusion::default() };
        diet.without
            .iter()
            .any(|class| is_known(known, vocabulary, class))
            .then(|| exclusion.filter(vocabulary, answer_in.as_str()))
    });
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Everything, parts};
    use super::super::{Test, tests::understood};
    use crate::search::ClassLimit;

    #[test]
    fn things_can_be_left_out_in_many_forms() {
        for (text, left, limits) in [
            ("cake, no nuts", "cake", &["no nuts"][..]),
            ("cake without any nuts or eggs", "cake", &["no nuts", "no eggs"]),
            ("cake with no nuts, no milk and no eggs please", "cake please", &["no nuts", "no milk", "no eggs"]),
            ("nut-free cake", "cake", &["no nut"]),
            ("dairy free cake", "cake", &["no dairy"]),
            ("salad without cilantro", "salad", &["no cilantro"]),
            ("chicken, not too bake", "chicken, not too bake", &[]),
            ("cake, not chicken", "cake", &["no chicken"]),
            ("no nuts and crispy", "and crispy", &["no nuts"]),
            ("I'm allergic to nuts: cake", ": cake", &["no nuts"]),
            ("cake, I don't eat eggs or milk", "cake", &["no eggs", "no milk"]),
            ("allergies: nuts, milk", "", &["no nuts", "no milk"]),
            ("has a nut allergy", "has a", &["no nut"]),
            ("lactose intolerant, hates cilantro", "", &["no cilantro", "no lactose"]),
            ("Kuchen ohne Nüsse und Eier", "Kuchen", &["no nüsse", "no eier"]),
            ("glutenfreier Kuchen", "Kuchen", &["no gluten"]),
            ("gâteau sans noix ni œufs", "gâteau", &["no noix", "no œufs"]),
            ("pastel sin nueces y huevos", "pastel", &["no nueces", "no huevos"]),
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
}
