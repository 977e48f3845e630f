//! "with Bill Murray", "starring Sandra Oh and Uma Thurman", "by Ursula K. Le Guin": names that the data has.
//!
//! A name has two words at least: "with salt" is about no Salt.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::draft::Draft;
use crate::filter::{Filter, Test};
use crate::pattern::pattern;
use crate::scope::QuestionScope;

/// Properties that name people who can be seen or heard in an item.
const SEEN: &[&str] = &[
    "actor.name",
    "performer.name",
    "byArtist.name",
    "organizer.name",
    "instructor.name",
    "agent.name",
    "hasCourseInstance.instructor.name",
    "hasCourseInstance.performer.name",
    "actor",
    "performer",
    "byArtist",
    "instructor",
    "hasCourseInstance.instructor",
];
/// Properties that name the people who made an item.
const MAKERS: &[&str] = &[
    "author.name",
    "director.name",
    "creator.name",
    "byArtist.name",
    "brand.name",
    "publisher.name",
    "manufacturer.name",
    "author",
    "director",
    "creator",
    "brand",
    "publisher",
];
/// Words of the longest name.
const NAME_WORDS_MAX: usize = 5;
/// People in one list.
const NAMES_MAX: usize = 8;

/// What leads to the names of makers, and to those of who can be seen.
static LEADS: LazyLock<[(Regex, &str, &[&str]); 2]> = LazyLock::new(|| {
    [
        // First: "by" leads to makers, and to those who can be seen where nobody of that name made it.
        (pattern(r"\b(?:(?:directed|written|made|published)\s+)?(?:by|von|par|por|de)\s+"), "by", MAKERS),
        (
            pattern(
                r"\b(?:starring|featuring|(?:with|mit|avec|con|bei|by|von|par|por)(?:\s+(?:the|der|dem|la|le|el|l')?\s*(?:trainer|coach|teacher|instructor|tutor|guide|actor|actress|singer|band|speaker|lehrer|lehrerin|trainerin|kursleiter|kursleiterin|leiter|leiterin|schauspieler|schauspielerin|sänger|sängerin|professeur|prof|formateur|formatrice|entraîneur|acteur|actrice|chanteur|chanteuse|profesor|profesora|entrenador|entrenadora|instructora?|actor|actriz|cantante))?)\s+",
            ),
            "with",
            SEEN,
        ),
    ]
});
static AND: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:\s*,\s*(?:and\s+)?|\s+(?:and|und|et|y|&)\s+)(?:with\s+|by\s+)?"));
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\S*[^\s,.?!;:]"));

/// Somebody who teaches, told by one name: "Wann unterrichtet Clara?", "courses that Clara teaches".
static TEACHES: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    [
        pattern(
            r"\b(?:(?:taught|led|given|run|held)\s+by|does|unterrichtet|gibt|leitet|hält|macht|enseigne|donne|anime|enseña|imparte|da)\s+(\p{L}[\p{L}'-]+)(?:\s+(?:teach|give|lead|run))?\b",
        ),
        pattern(
            r"\b(\p{L}[\p{L}'-]+)\s+(?:teaches|gives|leads|runs|unterrichtet|gibt|leitet|hält|enseigne|donne|anime|enseña|imparte)\b",
        ),
    ]
});

/// The limit of who teaches, and the bytes that say it.
fn teacher(draft: &Draft<'_>) -> Option<(Range<usize>, Filter)> {
    let text = draft.out.text.as_str();
    TEACHES.iter().flat_map(|lead| lead.captures_iter(text)).find_map(|found| {
        let name = found.get(1).filter(|name| name.as_str().starts_with(char::is_uppercase))?.as_str();
        let fields: Vec<String> =
            SEEN.iter().filter(|path| draft.known.has_word(path, name)).map(|path| (*path).to_owned()).collect();
        let words = draft.say("with", &[name]);
        let filter = Filter { fields, test: Test::Mentions(name.to_owned()), words };
        (!filter.fields.is_empty()).then(|| Some((found.get(0)?.range(), filter))).flatten()
    })
}

pub(crate) fn read(draft: &mut Draft<'_>) {
    for (lead, word, paths) in &*LEADS {
        // Room for a whole list: half of a list of names would be another question.
        while draft.has_room(NAMES_MAX)
            && let Some((range, filters)) = next(draft.known, &draft.out.text, lead, word, paths)
        {
            draft.take(range, filters);
        }
    }
    if let Some((range, filter)) = teacher(draft).filter(|_| draft.has_room(1)) {
        draft.take(range, vec![filter]);
    }
}

/// The first list of names, with the word in front of it, and the part of the text that they take.
fn next(
    known: &dyn QuestionScope,
    text: &str,
    lead: &Regex,
    word: &str,
    paths: &[&str],
) -> Option<(Range<usize>, Vec<Filter>)> {
    lead.find_iter(text).find_map(|lead| {
        let (filters, end) = names(known, &text[lead.end()..], word, paths);
        (!filters.is_empty()).then(|| (lead.start()..lead.end() + end, filters))
    })
}

/// The names that a text begins with, and where the last of them ends.
fn names(known: &dyn QuestionScope, text: &str, word: &str, paths: &[&str]) -> (Vec<Filter>, usize) {
    let (mut filters, mut end, mut from) = (Vec::new(), 0, 0);
    while filters.len() < NAMES_MAX {
        let Some((name, fields)) = name(known, &text[from..], paths) else { break };
        end = from + name.len();
        filters.push(Filter { fields, test: Test::Is(name.to_owned()), words: format!("{word} {name}") });
        match AND.find(&text[end..]) {
            Some(and) => from = end + and.end(),
            None => break,
        }
    }
    (filters, end)
}

/// The longest name that a text begins with, and the properties that have it.
fn name<'t>(known: &dyn QuestionScope, text: &'t str, paths: &[&str]) -> Option<(&'t str, Vec<String>)> {
    let ends: Vec<usize> = WORD.find_iter(text).take(NAME_WORDS_MAX).map(|word| word.end()).collect();
    // Two words at least, the longest first: `Ursula K. Le Guin` before `Ursula K.`
    ends.iter().skip(1).rev().find_map(|end| {
        let name = &text[..*end];
        let fields: Vec<String> =
            paths.iter().filter(|path| known.has_value(path, name)).map(|path| (*path).to_owned()).collect();
        (!fields.is_empty()).then_some((name, fields))
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::parts;

    #[test]
    fn names_that_the_data_has_are_constraints() {
        for (text, left, limits) in [
            ("ships with Bill Murray", "ships", &["with Bill Murray"][..]),
            (
                "ships starring bill murray and Sandra Oh, please",
                "ships, please",
                &["with bill murray", "with Sandra Oh"],
            ),
            ("a book by Ursula K. Le Guin?", "a book?", &["by Ursula K. Le Guin"]),
            ("Schiffe mit Bill Murray", "Schiffe", &["with Bill Murray"]),
            ("ships with the actor Bill Murray", "ships", &["with Bill Murray"]),
            ("Schiffe mit Schauspieler Bill Murray", "Schiffe", &["with Bill Murray"]),
            ("un livre de Ursula K. Le Guin", "un livre", &["by Ursula K. Le Guin"]),
        ] {
            let limits: Vec<String> = limits.iter().map(|limit| (*limit).to_owned()).collect();
            assert_eq!(parts(text), (left.to_owned(), limits), "{text}");
        }
        for text in ["ships with Murray", "ships with salt and pepper", "by", "with Nobody Known", "with "] {
            assert!(parts(text).1.is_empty(), "{text}");
        }
    }
}
