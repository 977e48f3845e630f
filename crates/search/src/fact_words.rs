//! Words of short questions about what was shown: what they ask with, and what things have without a property of a site's
//! own.

use forecourt_vocabulary::folded;

use super::beside_limits::{BESIDE_QUESTIONS, QUESTIONS};

/// What most things have, in lower case.
const FACT_NAMES: &[&str] = &[
    "age",
    "price",
    "cost",
    "duration",
    "date",
    "address",
    "phone",
    "weight",
    "size",
    "colour",
    "color",
    "author",
    "alter",
    "mindestalter",
    "preis",
    "dauer",
    "datum",
    "termin",
    "adresse",
    "telefonnummer",
    "gewicht",
    "größe",
    "farbe",
    "autor",
    "âge",
    "prix",
    "durée",
    "téléphone",
    "poids",
    "taille",
    "couleur",
    "auteur",
    "edad",
    "precio",
    "duración",
    "fecha",
    "dirección",
    "teléfono",
    "peso",
    "tamaño",
];
/// Words that say how much of a thing is asked for.
const DEGREES: &[&str] = &[
    "many", "much", "minimum", "maximum", "groß", "hoch", "breit", "schwer", "lang", "viele", "viel", "alt", "combien",
    "quel", "quelle", "fait", "cuánto", "cuánta", "cuántos", "cuántas", "big", "wide", "tall", "heavy", "deep", "high",
];
/// Articles of things that are known.
const DEFINITE: &[&str] = &["the", "der", "die", "das", "den", "le", "la", "les", "el", "los", "las"];

/// Words for whatever there is, and for another thing than the one that was shown, folded.
const ANY: &[&str] = &[
    "something",
    "anything",
    "somewhere",
    "anywhere",
    "other",
    "others",
    "another",
    "else",
    "etwas",
    "irgendwas",
    "anderes",
    "andere",
    "anderen",
    "quelque",
    "autre",
    "autres",
    "algo",
    "otro",
    "otra",
    "otros",
    "otras",
];

/// Words that ask which things there are, in front of what they are called, folded.
const WHICH: &[&str] = &[
    "which", "what", "welche", "welcher", "welches", "welchen", "quel", "quelle", "quels", "quelles", "que", "cual",
    "cuales",
];

/// Whether a text begins with a word that asks which things there are.
pub(super) fn asks_for_which(text: &str) -> bool {
    let first = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|first| WHICH.contains(&folded(first).as_str()))
}

/// Words at the beginning of a question for how much there is of something, folded.
const HOW: &[&str] = &["how", "wie", "combien", "cuanto", "cuanta", "cuantos", "cuantas"];

/// Whether a text begins with a word that asks how much there is of something.
pub(super) fn asks_how(text: &str) -> bool {
    let first = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|first| HOW.contains(&folded(first).as_str()))
}

/// Words that ask behind two others, folded: "à partir de quel âge".
const ASKING_LATER: &[&str] =
    &["what", "which", "when", "welchem", "welchen", "welcher", "wann", "quel", "quelle", "quand", "cual", "cuando"];

/// Whether a text asks behind its first word: "from what age", "bis wann", "à partir de quel âge".
pub(super) fn asks_behind_first(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).skip(1).map(folded);
    let asks = |second: &str| WHICH.contains(&second) || QUESTIONS.iter().any(|asks| folded(asks) == second);
    words.next().is_some_and(|second| asks(&second)) || words.take(2).any(|word| ASKING_LATER.contains(&word.as_str()))
}

/// How a Spanish clause begins that says what is looked for, and asks nothing: "que no pidan carné".
const THAT: &str = "que ";

/// Whether a text is a clause that says what is looked for.
pub(super) fn is_clause(text: &str) -> bool {
    text.trim_start().starts_with(THAT) && !text.contains('?')
}

/// Those of them that choose among things, where no property stands behind them: "which wines", and not "what time".
const CHOOSING: &[&str] = &["which", "welche", "welcher", "welches", "welchen", "quels", "quelles", "cuales"];

/// The word behind one that chooses among things, at the beginning of a text.
pub(super) fn chosen_among(text: &str) -> Option<&str> {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let chooses = words.next().is_some_and(|first| CHOOSING.contains(&folded(first).as_str()));
    words.next().filter(|_| chooses)
}

/// Whether a turn asks for whatever there is: "is there anything with parking?".
pub(super) fn asks_for_any(text: &str) -> bool {
    folded(text).split(|c: char| !c.is_alphanumeric()).any(|word| ANY.contains(&word))
}

/// Whether a word is what most things have.
pub(super) fn is_fact_name(word: &str) -> bool {
    FACT_NAMES.contains(&word)
}

/// Whether a word only asks, and names nothing.
pub(super) fn asks_nothing(word: &str) -> bool {
    [QUESTIONS, BESIDE_QUESTIONS, DEGREES, DEFINITE].iter().any(|list| list.contains(&word))
}

/// Whether a word is the article of a thing that is known.
pub(super) fn is_definite(word: &str) -> bool {
    DEFINITE.contains(&word)
}
