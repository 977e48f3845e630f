//! Which verb of the catalog an operation becomes. Section 14.1: one of the catalog, never an invented
//! one.

use std::collections::BTreeSet;

use forecourt_contract::Catalog;

use super::words::{singular, words};

/// The categories whose verbs change nothing.
const READING: [&str; 3] = ["discovery", "retrieval", "analysis"];

/// What other APIs call what the catalog has another word for. `get`, `post`, `put` and `patch` say
/// no more than the HTTP method does.
const SYNONYMS: [(&str, &str); 26] = [
    ("add", "CREATE"),
    ("all", "LIST"),
    ("copy", "DUPLICATE"),
    ("delete", "REMOVE"),
    ("destroy", "REMOVE"),
    ("drop", "REMOVE"),
    ("index", "LIST"),
    ("login", "AUTHENTICATE"),
    ("make", "CREATE"),
    ("move", "TRANSFER"),
    ("new", "CREATE"),
    ("run", "EXECUTE"),
    ("save", "REPLACE"),
    ("send", "DISPATCH"),
    ("share", "GRANT"),
    ("show", "FETCH"),
    ("signin", "AUTHENTICATE"),
    ("signup", "REGISTER"),
    ("booking", "BOOK"),
    ("payment", "PAY"),
    ("registration", "REGISTER"),
    ("reservation", "RESERVE"),
    ("subscription", "SUBSCRIBE"),
    ("upload", "INGEST"),
    ("validation", "VALIDATE"),
    ("verification", "VERIFY"),
];

/// Nouns of collections to which something is added by doing it, in the singular.
const DEEDS: [&str; 13] = [
    "booking",
    "order",
    "payment",
    "purchase",
    "quote",
    "refund",
    "registration",
    "reservation",
    "subscription",
    "transfer",
    "invitation",
    "validation",
    "verification",
];

/// What is known of an operation when its verb is chosen.
pub(super) struct Evidence<'a> {
    /// `GET` and so on.
    pub(super) http: &'a str,
    /// Its id, empty when it has none.
    pub(super) id: &'a str,
    /// Its summary, empty when it has none.
    pub(super) summary: &'a str,
    /// Its tags.
    pub(super) tags: Vec<&'a str>,
    /// The literal segments of its path, in order.
    pub(super) literals: Vec<&'a str>,
    /// Whether its path ends in a literal segment.
    pub(super) ends_literal: bool,
    /// Whether it answers with a list.
    pub(super) gives_list: bool,
    /// Whether it asks for words to look for.
    pub(super) searches: bool,
}

/// The verb and what speaks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) verb: String,
    /// What the verb was seen in. `None`: it follows from the HTTP method alone.
    pub(super) seen: Option<String>,
    /// Whether the document has the very word.
    pub(super) is_literal: bool,
}

/// Chooses. Every verb that comes back is in the catalog.
pub(super) fn choose(evidence: &Evidence<'_>, catalog: &Catalog) -> Choice {
    let fitting = |word: &str| fitting(word, evidence.http, catalog);
    let seen = spoken(evidence).into_iter().find_map(|(word, place)| {
        let verb = fitting(&word)?;
        let is_literal = verb.eq_ignore_ascii_case(&word);
        Some(Choice { verb, seen: Some(format!("`{word}` in {place}")), is_literal })
    });
    seen.unwrap_or_else(|| by_default(evidence))
}

/// Verbs that would do as well, without the chosen one, the likeliest first.
pub(super) fn alternatives(evidence: &Evidence<'_>, chosen: &str, catalog: &Catalog) -> Vec<String> {
    let usual: &[&str] = match evidence.http {
        "GET" | "HEAD" => &["FETCH", "LIST", "SEARCH", "RETRIEVE", "READ"],
        "POST" => &["CREATE", "SUBMIT", "REQUEST", "PROCESS", "REGISTER"],
        "PUT" => &["REPLACE", "UPDATE", "SET", "OVERWRITE"],
        "PATCH" => &["MODIFY", "UPDATE", "EDIT", "AMEND"],
        "DELETE" => &["REMOVE", "CANCEL", "REVOKE", "PURGE"],
        _ => &["DESCRIBE"],
    };
    let spoken = spoken(evidence).into_iter().filter_map(|(word, _)| fitting(&word, evidence.http, catalog));
    let mut seen = BTreeSet::from([chosen.to_owned()]);
    let known = |verb: &String| catalog.verb(verb).is_some();
    spoken
        .chain(usual.iter().map(ToString::to_string))
        .filter(|verb| known(verb) && seen.insert(verb.clone()))
        .collect()
}

/// Whether a verb changes nothing.
pub(super) fn is_reading(verb: &str, catalog: &Catalog) -> bool {
    category(verb, catalog).is_some_and(|category| READING.contains(&category))
}

/// The main category of a verb.
pub(super) fn category<'a>(verb: &str, catalog: &'a Catalog) -> Option<&'a str> {
    catalog.verb(verb)?.categories.first().map(String::as_str)
}

/// The words that may be the verb, the likeliest first, and where they stand.
fn spoken(evidence: &Evidence<'_>) -> Vec<(String, String)> {
    let id = words(evidence.id);
    let nouns: BTreeSet<String> = evidence.literals.iter().map(|literal| singular(&words(literal).concat())).collect();
    let is_noun = |word: &&String| nouns.contains(&singular(word)) && id.len() > 1;
    let place = |word: &String, place: &str| (word.clone(), place.to_owned());
    let mut found: Vec<_> =
        id.first().filter(|word| !is_noun(word)).map(|word| place(word, "the operationId")).into_iter().collect();
    let last =
        id.last().filter(|word| id.len() > 1 && id.first().is_some_and(|first| is_noun(&first)) && !is_noun(word));
    found.extend(last.map(|word| place(word, "the operationId")));
    if evidence.ends_literal && evidence.literals.len() > 1 {
        found.extend(evidence.literals.last().map(|segment| place(&words(segment).concat(), "the path")));
    }
    found.extend(words(evidence.summary).first().map(|word| place(&bare(word), "the summary")));
    if evidence.http == "POST" && evidence.ends_literal {
        let nouns =
            evidence.literals.last().into_iter().chain(&evidence.tags).map(|noun| singular(&words(noun).concat()));
        found.extend(
            nouns.filter(|noun| DEEDS.contains(&noun.as_str())).map(|noun| place(&noun, "the path or the tags")),
        );
    }
    found
}

/// The first form of a verb in the third person: `lists` is `list`.
fn bare(word: &str) -> String {
    match word {
        "lists" | "adds" | "sends" => word[..word.len() - 1].to_owned(),
        _ => singular(word),
    }
}

/// The verb of the catalog that a word stands for, if the HTTP method may mean it.
fn fitting(word: &str, http: &str, catalog: &Catalog) -> Option<String> {
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == word).map(|(_, verb)| (*verb).to_owned());
    let verb = synonym.or_else(|| Some(word.to_ascii_uppercase()))?;
    catalog.verb(&verb)?;
    let fits = match http {
        "GET" | "HEAD" => is_reading(&verb, catalog),
        "PUT" | "PATCH" | "DELETE" => !is_reading(&verb, catalog),
        _ => true,
    };
    fits.then_some(verb)
}

fn by_default(evidence: &Evidence<'_>) -> Choice {
    let verb = match evidence.http {
        "GET" if evidence.searches && evidence.ends_literal => "SEARCH",
        "GET" if evidence.gives_list && evidence.ends_literal => "LIST",
        "GET" => "FETCH",
        "POST" => "CREATE",
        "PUT" => "REPLACE",
        "PATCH" => "MODIFY",
        "DELETE" => "REMOVE",
        _ => "DESCRIBE",
    };
    Choice { verb: verb.to_owned(), seen: None, is_literal: false }
}
