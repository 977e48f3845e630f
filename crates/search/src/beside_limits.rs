//! What is found where nothing fits the words beside the limits. A limit that was understood and fits nothing is a
//! refusal, and so is a thing that nothing here is; words that only describe what the limits name are told as not
//! understood, and what keeps every limit is given without them.

use forecourt_index::{Error, Hit, Library, Query};
use forecourt_understanding::{Filter, OFFERED, OPENING_TIMES, PLACE_PATHS, PartRole, ReadPart, Test};
use forecourt_vocabulary::{ItemValue, LANGUAGES, compared, folded};

use super::boost;
use super::phrases::content_words;
use super::request::SearchRequest;

/// Properties whose values say what an item is.
const KINDS: &[&str] = &[
    "@type",
    "additionalType",
    "category",
    "genre",
    "recipeCategory",
    "articleSection",
    "eventType",
    "bodyType",
    "dosageForm",
    "accommodationCategory",
    "learningResourceType",
];
/// Words that ask for a thing of no kind.
pub(super) const ANYTHING: &[&str] = &[
    "food",
    "essen",
    "nourriture",
    "comida",
    "somewhere",
    "anywhere",
    "place",
    "places",
    "irgendwo",
    "sitio",
    "lugar",
    "endroit",
    "something",
    "anything",
    "everything",
    "things",
    "thing",
    "stuff",
    "what",
    "ideas",
    "etwas",
    "was",
    "irgendwas",
    "irgendetwas",
    "alles",
    "sachen",
    "dinge",
    "quelque",
    "quoi",
    "qu'est-ce",
    "choses",
    "que",
    "qué",
    "algo",
    "cosas",
];

/// Words that ask, and name nothing.
pub(super) const QUESTIONS: &[&str] = &[
    "when",
    "where",
    "which",
    "what",
    "who",
    "how",
    "wann",
    "wo",
    "wer",
    "wie",
    "was",
    "welche",
    "welcher",
    "welches",
    "welchen",
    "welchem",
    "quand",
    "où",
    "qui",
    "que",
    "comment",
    "quel",
    "quelle",
    "quels",
    "quelles",
    "lequel",
    "laquelle",
    "lesquels",
    "lesquelles",
    "cuándo",
    "dónde",
    "quién",
    "quiénes",
    "cuál",
    "cuáles",
    "qué",
    "cómo",
];
/// Words beside them that name nothing either.
pub(super) const BESIDE_QUESTIONS: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "do",
    "does",
    "did",
    "has",
    "have",
    "can",
    "will",
    "there",
    "be",
    "been",
    "ist",
    "sind",
    "war",
    "waren",
    "wird",
    "werden",
    "wurde",
    "wurden",
    "hat",
    "haben",
    "gibt",
    "es",
    "kann",
    "est",
    "sont",
    "était",
    "a",
    "ont",
    "s",
    "on",
    "you",
    "long",
    "much",
    "lange",
    "habt",
    "ihr",
    "los",
    "longtemps",
    "y",
    "il",
    "t",
    "été",
    "hay",
    "son",
    "está",
    "están",
    "fue",
    "fueron",
    "tiene",
    "tienen",
];

/// The best items for the limits of a query alone, where its words let go of. `None`: they say what is wanted.
pub(super) fn without_words(
    library: &Library,
    asked: &SearchRequest,
    query: &Query,
) -> Result<Option<Vec<Hit>>, Error> {
    let says_nothing = asked.text.trim().is_empty() || asked.filters.is_empty();
    if says_nothing || !only_describe(library, asked) {
        return Ok(None);
    }
    let wordless = Query { text: String::new(), ..query.clone() };
    Ok(Some(boost::search(library, &wordless, &asked.leanings, &asked.unwanted)?))
}

/// Whether the words describe what the limits name, and are not what is wanted itself.
fn only_describe(library: &Library, asked: &SearchRequest) -> bool {
    let text = asked.text.as_str();
    if begins_with_anything(text) || only_asks(text) || only_says_thing(text) || only_says_place(library, asked) {
        return true;
    }
    // A Japanese course is none of those here where nothing is Japanese; a word that nobody knows is told.
    let is_open = |word: &&str| library.knows_word(word) || !has_meaning(library, word);
    if asks_who(text) && content_words(text).all(|word| is_open(&word)) {
        return true;
    }
    // Nothing for toddlers is no e-book for whomever.
    if content_words(text).any(|word| is_of_age(library, word)) {
        return false;
    }
    is_named(asked) || (asked.filters.iter().any(says_what) && described(asked).iter().all(is_open))
}

/// Whether a word is of people of some age, in whichever form.
fn is_of_age(library: &Library, word: &str) -> bool {
    let is_named = |value: &ItemValue, code: &str| {
        let word = compared(word, code);
        value.names(code).iter().any(|name| compared(name, code) == word)
    };
    let mut aged = library.vocabulary().values().iter().filter(|value| value.ages.is_some());
    aged.any(|value| LANGUAGES.iter().any(|code| is_named(value, code)))
}

/// Words that ask for somebody or for a place, and for no thing.
const WHO: &[&str] = &["who", "wer", "qui", "quién", "quiénes", "quien", "where", "wo", "où", "dónde", "donde"];

/// Whether a text asks who or where: of the words behind that, none has to be what an item is.
fn asks_who(text: &str) -> bool {
    text.split_whitespace().map(bare).next().is_some_and(|first| WHO.contains(&first.to_lowercase().as_str()))
}

/// Whether limits say all of what is asked for, up to the first word that leads on: the "paperbacks" of "paperbacks that I
/// can borrow". What stands behind describes it, and decides nothing where items don't speak of it.
pub(super) fn is_named(asked: &SearchRequest) -> bool {
    let reading = &asked.reading;
    let says = |part: &ReadPart| reading.words(part).is_some_and(|words| content_words(words).next().is_some());
    let parts = reading.parts().skip_while(|part| match part.role {
        PartRole::Filler | PartRole::Count(_) | PartRole::Order(_) => true,
        PartRole::Subject => !says(part),
        _ => false,
    });
    let mut end: Option<usize> = None;
    let named = parts.take_while(|part| {
        let is_behind_mark = end.is_some_and(|end| has_mark(reading.text(), end..part.bytes.start));
        end = Some(part.bytes.end);
        !is_behind_mark && !ends_name(asked, part)
    });
    let named: Vec<&ReadPart> = named.collect();
    let is_limit = |part: &&ReadPart| match part.role {
        PartRole::Subject => !says(part),
        _ => true,
    };
    let says_thing =
        |part: &&ReadPart| asked.filters.iter().any(|filter| part.role.says(&filter.words) && is_value(filter));
    named.iter().all(is_limit) && named.iter().any(says_thing)
}

/// Marks at which what is asked for ends.
const MARKS: [char; 5] = [',', ';', ':', '(', '–'];

fn has_mark(text: &str, between: std::ops::Range<usize>) -> bool {
    text.get(between).is_some_and(|gap| gap.contains(MARKS))
}

/// Whether a limit is one of a value that things have, and not of whether, where, when or for how much.
fn is_value(filter: &Filter) -> bool {
    let is_text = |one: &Filter| match &one.test {
        Test::Is(value) => value != "false",
        Test::OneOf(_) | Test::IsOneOf { .. } => true,
        _ => false,
    };
    let is_of_thing =
        |field: &String| !PLACE_PATHS.contains(&field.as_str()) && field != OFFERED && !field.contains("availability");
    filter.alternatives().iter().all(|one| is_text(one) && one.fields.iter().all(is_of_thing))
}

/// Words for whatever the limits name, in lower case: the set of "a set by Kronos".
const THING_WORDS: &[&str] = &[
    "set",
    "sets",
    "kit",
    "kits",
    "model",
    "models",
    "item",
    "items",
    "product",
    "products",
    "one",
    "ones",
    "type",
    "kind",
    "version",
    "modell",
    "modelle",
    "artikel",
    "produkt",
    "produkte",
    "stück",
    "exemplar",
    "modèle",
    "modèles",
    "article",
    "articles",
    "produit",
    "produits",
    "modelo",
    "modelos",
    "artículo",
    "artículos",
    "producto",
    "productos",
];

/// Words for whatever is open at some times, in lower case.
const PLACE_WORDS: &[&str] = &[
    "shop",
    "shops",
    "store",
    "stores",
    "branch",
    "branches",
    "location",
    "locations",
    "filiale",
    "filialen",
    "laden",
    "läden",
    "geschäft",
    "geschäfte",
    "standort",
    "standorte",
    "station",
    "boutique",
    "boutiques",
    "magasin",
    "magasins",
    "agence",
    "succursale",
    "tienda",
    "tiendas",
    "sucursal",
    "local",
];

/// Words that ask for a place.
const WHERE: &[&str] = &["where", "wo", "où", "dónde", "donde"];

/// Whether who asks when something is open names no more than that it is a place: "which branch is open on Mondays".
fn only_says_place(library: &Library, asked: &SearchRequest) -> bool {
    let is_opening = |filter: &Filter| filter.fields.first().is_some_and(|field| field.starts_with(OPENING_TIMES));
    let mut words = content_words(&asked.text).map(str::to_lowercase).peekable();
    // "Where can we eat": what is done there, and no item says.
    let asks_where =
        asked.text.split_whitespace().next().is_some_and(|first| WHERE.contains(&first.to_lowercase().as_str()));
    let says_no_more = |word: String| {
        [PLACE_WORDS, THING_WORDS, QUESTIONS, BESIDE_QUESTIONS].iter().any(|list| list.contains(&word.as_str()))
            || (asks_where && !library.knows_word(&word))
    };
    asked.filters.iter().any(is_opening) && words.peek().is_some() && words.all(says_no_more)
}

/// Whether the words stand for whatever the limits name.
fn only_says_thing(text: &str) -> bool {
    let mut words = content_words(text).map(str::to_lowercase).peekable();
    words.peek().is_some() && words.all(|word| THING_WORDS.contains(&word.as_str()))
}

/// Whether the vocabulary knows what a word means: then it is known that no item is it.
fn has_meaning(library: &Library, word: &str) -> bool {
    let (vocabulary, lower) = (library.vocabulary(), folded(word));
    let is_named =
        |value: &ItemValue| LANGUAGES.iter().any(|code| value.names(code).iter().any(|name| folded(name) == lower));
    !vocabulary.subjects_in(&[lower.as_str()]).is_empty()
        || vocabulary.class_named(&lower).is_some()
        || vocabulary.values().iter().any(is_named)
}

/// Whether a text begins with a word that asks for a thing of no kind.
fn begins_with_anything(text: &str) -> bool {
    let mut words = text.split_whitespace().map(bare).filter(|word| !word.is_empty()).map(str::to_lowercase);
    // "Is anything open", "gibt es etwas für".
    let is_anything = |word: &String| ANYTHING.contains(&word.as_str());
    let first = words.find(|word| is_anything(word) || !BESIDE_QUESTIONS.contains(&word.as_str()));
    first.is_some_and(|word| is_anything(&word))
}

/// Whether a text is a question word, with nothing behind it that names a thing: "Welche wurden", "when does".
fn only_asks(text: &str) -> bool {
    // "What's" and "quels sont-ils" are two words each.
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words = parts.map(str::to_lowercase);
    let is = |words: &[&str], word: &String| words.contains(&word.as_str());
    let names_nothing = |word: String| is(QUESTIONS, &word) || is(BESIDE_QUESTIONS, &word);
    words.next().is_some_and(|word| is(QUESTIONS, &word)) && words.all(names_nothing)
}

fn says_what(filter: &Filter) -> bool {
    filter.fields.iter().any(|field| KINDS.contains(&field.as_str()))
}

/// Words between a thing and what it is of, in languages in which that comes behind it.
const JOINS: &[&str] = &["of", "de", "d", "du", "des", "del"];

/// The words of the newest turn that stand at what a limit names, before any word that only joins: "jazz" of "jazz
/// concerts for two".
fn described(asked: &SearchRequest) -> Vec<&str> {
    let reading = &asked.reading;
    let parts = reading.parts().skip_while(|part| part.role == PartRole::Filler);
    let before = parts.take_while(|part| !ends_name(asked, part));
    let parts = before.filter(|part| part.role == PartRole::Subject);
    parts.filter_map(|part| reading.words(part)).flat_map(content_words).collect()
}

/// Whether the name of what is asked for ends at a part of the newest turn: a word that leads on, and joins nothing to it.
fn ends_name(asked: &SearchRequest, part: &ReadPart) -> bool {
    let joins = || asked.reading.words(part).is_some_and(|word| JOINS.contains(&word));
    match part.role {
        PartRole::NotUnderstood => true,
        PartRole::Filler => !joins(),
        _ => false,
    }
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::super::request::TurnReading;
    use super::*;

    #[test]
    fn a_question_word_and_its_verbs_name_nothing() {
        for text in
            ["Wann?", "Welche wurden", "Welches hat", "which are there", "¿Cuáles son?", "lesquelles sont", "what's on"]
        {
            assert!(only_asks(text), "{text}");
        }
        for text in ["hat", "which hat stand", "Welche Suppe", "", "is it"] {
            assert!(!only_asks(text), "{text}");
        }
    }

    #[test]
    fn who_asks_for_anything_names_no_thing() {
        for (text, is) in [
            ("something creative for my", true),
            ("Was ist los und", true),
            ("things to do outdoors", true),
            ("is anything to bring back my skis", true),
            ("gibt es etwas für Gäste", true),
            ("is there a canoe", false),
            ("jazz", false),
            ("a canoe", false),
            ("", false),
        ] {
            assert_eq!(begins_with_anything(text), is, "{text}");
        }
    }

    #[test]
    fn a_word_for_any_thing_says_nothing_beside_the_limits() {
        for (text, is) in [("set", true), ("die Modelle", true), ("a train set", false), ("", false)] {
            assert_eq!(only_says_thing(text), is, "{text}");
        }
    }

    #[test]
    fn what_stands_at_a_limit_describes_it() {
        let part = |bytes: std::ops::Range<usize>, role: PartRole| forecourt_understanding::ReadPart { bytes, role };
        let limit = || PartRole::Limit(vec!["MusicEvent".to_owned()]);
        let asked =
            |text: &str, parts| SearchRequest { reading: TurnReading::new(text, parts), ..SearchRequest::default() };
        let jazz = asked(
            "jazz concerts for two",
            vec![
                part(0..4, PartRole::Subject),
                part(5..13, limit()),
                part(14..17, PartRole::Filler),
                part(18..21, PartRole::Subject),
            ],
        );
        assert_eq!(described(&jazz), ["jazz"]);
        let rent = asked(
            "concerts to rent",
            vec![part(0..8, limit()), part(9..11, PartRole::Filler), part(12..16, PartRole::Subject)],
        );
        assert!(described(&rent).is_empty());
    }
}
