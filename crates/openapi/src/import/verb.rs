//! Which verb of the catalog an operation becomes. Section 14.1: one of the catalog, never an invented
//! one.
//!
//! The operationId, the end of the path and the summary are heard together: a word that says more than
//! create, read, change and delete goes before those that do not, in that order.

use std::collections::BTreeSet;

use forecourt_contract::Catalog;

use super::lexicon::{is_noun_too, is_plain, is_reading, is_taking, meant};
use super::prose::verb_of;
use super::words::without_format;
use super::words::{singular, words};

/// The categories whose verbs a GET may become.
const READ: [&str; 3] = ["discovery", "retrieval", "analysis"];

/// Nouns of collections to which something is added by doing it, in the singular, and what is done.
const DEEDS: [(&str, &str); 13] = [
    ("booking", "BOOK"),
    ("invitation", "INVITE"),
    ("order", "ORDER"),
    ("payment", "PAY"),
    ("purchase", "PURCHASE"),
    ("quote", "QUOTE"),
    ("refund", "REFUND"),
    ("registration", "REGISTER"),
    ("reservation", "RESERVE"),
    ("subscription", "SUBSCRIBE"),
    ("transfer", "TRANSFER"),
    ("validation", "VALIDATE"),
    ("verification", "VERIFY"),
];

/// What is sent, in the singular, and the verb for that.
const SENDING: [(&str, &str); 12] = [
    ("alert", "ALERT"),
    ("email", "MESSAGE"),
    ("fax", "MESSAGE"),
    ("invitation", "INVITE"),
    ("invite", "INVITE"),
    ("mail", "MESSAGE"),
    ("message", "MESSAGE"),
    ("notification", "NOTIFY"),
    ("reminder", "REMIND"),
    ("reply", "REPLY"),
    ("sms", "MESSAGE"),
    ("text", "MESSAGE"),
];

/// What is known of an operation when its verb is chosen.
pub(super) struct Evidence<'a> {
    /// `GET` and so on.
    pub(super) http: &'a str,
    /// Its id, empty when it has none.
    pub(super) id: &'a str,
    /// A sentence about it in the imperative, empty when the document has none.
    pub(super) summary: String,
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
    /// Whether the document has the very word, or one that means the same everywhere.
    pub(super) is_literal: bool,
}

/// A word that may be the verb.
struct VerbCandidate {
    word: String,
    verb: String,
    place: &'static str,
}

/// Chooses. Every verb that comes back is in the catalog.
pub(super) fn choose(evidence: &Evidence<'_>, catalog: &Catalog) -> Choice {
    let spoken = spoken(evidence, catalog);
    let telling = spoken.iter().find(|spoken| !is_plain(&spoken.verb));
    match telling.or_else(|| spoken.first()) {
        Some(found) => {
            let verb = refined(found, &spoken, evidence);
            let is_literal = verb.eq_ignore_ascii_case(&found.word) || is_plain(&found.verb);
            Choice { verb, seen: Some(format!("`{}` in {}", found.word, found.place)), is_literal }
        }
        None => deed(evidence, catalog).unwrap_or_else(|| by_default(evidence)),
    }
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
    let spoken = spoken(evidence, catalog).into_iter().map(|spoken| spoken.verb);
    let mut seen = BTreeSet::from([chosen.to_owned()]);
    let known = |verb: &String| catalog.verb(verb).is_some();
    spoken
        .chain(usual.iter().map(ToString::to_string))
        .filter(|verb| known(verb) && seen.insert(verb.clone()))
        .collect()
}

/// The main category of a verb.
pub(super) fn category<'a>(verb: &str, catalog: &'a Catalog) -> Option<&'a str> {
    catalog.verb(verb)?.categories.first().map(String::as_str)
}

/// What of a segment is left when its first word is the verb: nothing of `cancel` for CANCEL, `challenge`
/// of `approveChallenge` for APPROVE. `None`: it begins with another word.
pub(super) fn behind_verb(segment: &str, verb: &str, catalog: &Catalog) -> Option<String> {
    let segment = without_format(segment);
    if catalog.verb_in(segment).is_some_and(|spelled| spelled == verb) {
        return Some(String::new());
    }
    let all = words(segment);
    let first = all.first().filter(|first| !is_noun_too(first) || all.len() == 1)?;
    let means = meant(first, catalog).is_some_and(|meant| meant == verb)
        || (first == "send" && SENDING.iter().any(|(_, sending)| *sending == verb));
    // `create` alone says what CREATE says, and `new` may be a thing.
    let rest = segment.get(first.len()..).unwrap_or_default().trim_start_matches(['-', '_', '.']);
    (means && segment.to_lowercase().starts_with(first.as_str())).then(|| rest.to_owned())
}

/// The words that may be the verb: of the id, of the end of the path, of the summary.
fn spoken(evidence: &Evidence<'_>, catalog: &Catalog) -> Vec<VerbCandidate> {
    let id = words(evidence.id);
    let own_words = |text: &&str| words(text).iter().map(|word| singular(word)).collect::<Vec<_>>();
    let nouns: BTreeSet<String> = evidence
        .literals
        .iter()
        .chain(&evidence.tags)
        .flat_map(|text| own_words(text).into_iter().chain([singular(&words(text).concat())]))
        .collect();
    // `ReplicaSet` is one of `/replicasets`, and sets nothing: its words together are a noun.
    let is_noun = |word: &str| nouns.contains(&singular(word));
    let mut found: Vec<(String, &'static str)> = Vec::new();
    let first =
        id.first().filter(|word| id.len() == 1 || !(is_thing(word, &id, &nouns) || is_noun(word) && is_noun_too(word)));
    let fits = |word: &str| meant(word, catalog).is_some_and(|verb| fits(&verb, evidence.http, catalog));
    match first.filter(|word| fits(word)) {
        Some(first) => found.push((first.clone(), "the operationId")),
        None => {
            // `rooms_create` and `adminListUsers`: the verb may stand behind the thing or a group.
            let behind = || id.windows(2).filter(|two| !is_noun(&two.concat())).map(|two| &two[1]);
            let later = behind().find(|word| fits(word) && !is_noun_too(word) && !is_noun(word));
            let last = behind().next_back().filter(|word| Some(*word) == id.last() && fits(word) && !is_noun(word));
            found.extend(later.or(last).map(|word| (word.clone(), "the operationId")));
        }
    }
    if evidence.ends_literal && evidence.literals.len() > 1 {
        found.extend(
            evidence.literals.last().and_then(|segment| ending(segment, evidence.http)).map(|word| (word, "the path")),
        );
    }
    let said = verb_of(&evidence.summary).map(|(word, _)| word);
    // What id and summary say of the same thing is done to it, whatever the path calls after that.
    let object = words(&evidence.summary).into_iter().nth(1);
    let is_said_twice = |word: &String| id.windows(2).any(|two| two[0] == *word && Some(&two[1]) == object.as_ref());
    let is_deed = |word: &String| !(is_noun(word) && is_noun_too(word)) || is_said_twice(word);
    found.extend(said.filter(is_deed).map(|word| (word, "the summary")));
    let known = found.into_iter().filter_map(|(word, place)| {
        let verb = meant(&word, catalog).filter(|verb| self::fits(verb, evidence.http, catalog))?;
        Some(VerbCandidate { word, verb, place })
    });
    known.collect()
}

/// Whether the first word of an id is the thing that the operation is about: `rooms_create`.
fn is_thing(word: &str, id: &[String], nouns: &BTreeSet<String>) -> bool {
    id.len() > 1 && word.ends_with('s') && nouns.contains(&singular(word))
}

/// The verb that the last segment of a path may be or begin with.
fn ending(segment: &str, http: &str) -> Option<String> {
    let all = words(without_format(segment));
    let first = all.first()?;
    match all.len() {
        1 => (http == "POST" || !is_noun_too(first)).then(|| first.clone()),
        // Words that are joined otherwise, such as `check-in`, are looked up as one first.
        _ => Some(all.concat())
            .filter(|whole| super::lexicon::is_verb(whole))
            .or_else(|| (http != "GET" && !is_noun_too(first)).then(|| first.clone())),
    }
}

/// Whether an HTTP method may mean a verb.
fn fits(verb: &str, http: &str, catalog: &Catalog) -> bool {
    let category = category(verb, catalog).unwrap_or_default();
    match http {
        "GET" | "HEAD" => READ.contains(&category) && !is_taking(verb),
        "PUT" | "PATCH" => !is_reading(verb) && verb != "REMOVE",
        "DELETE" => !is_reading(verb) && category != "creation" && !matches!(verb, "UPDATE" | "MODIFY" | "REPLACE"),
        _ => true,
    }
}

/// The verb of a word, by what else is known.
fn refined(found: &VerbCandidate, all: &[VerbCandidate], evidence: &Evidence<'_>) -> String {
    let says_list = |text: &str| {
        let text = text.to_lowercase();
        ["a list of", "the list of", "list of", "all ", "a collection of", "multiple ", "every "]
            .iter()
            .any(|many| text.split_once(' ').is_some_and(|(_, rest)| rest.trim_start_matches("the ").starts_with(many)))
    };
    match (found.verb.as_str(), evidence.http) {
        ("FETCH", "GET") if evidence.searches && evidence.ends_literal => "SEARCH".to_owned(),
        ("FETCH", "GET") if all.iter().any(|other| other.verb == "LIST") => "LIST".to_owned(),
        ("FETCH", "GET") if evidence.ends_literal && evidence.gives_list && !says_one(&evidence.summary) => {
            "LIST".to_owned()
        }
        ("FETCH", "GET" | "POST") if evidence.ends_literal && says_list(&evidence.summary) => "LIST".to_owned(),
        // What is put at a name that it has already is joined to it.
        ("CREATE", "PUT") if found.word == "add" => "ATTACH".to_owned(),
        ("DISPATCH", _) if found.word == "send" => sent(evidence).to_owned(),
        (verb, _) => verb.to_owned(),
    }
}

/// Whether a sentence is about one thing: "Get a user's identity", "Retrieve information about a conversation".
fn says_one(text: &str) -> bool {
    let all = words(text);
    let object = all.iter().skip(1).find(|word| !matches!(word.as_str(), "information" | "details" | "about" | "of"));
    object.is_some_and(|word| matches!(word.as_str(), "a" | "an" | "one"))
}

/// The verb for sending what is sent.
fn sent(evidence: &Evidence<'_>) -> &'static str {
    let said = words(&evidence.summary).into_iter().chain(words(evidence.id));
    let all = said.chain(evidence.literals.iter().flat_map(|literal| words(literal)));
    let known = |word: String| SENDING.iter().find(|(noun, _)| *noun == singular(&word)).map(|(_, verb)| *verb);
    all.filter_map(known).next().unwrap_or("DISPATCH")
}

/// What is done by adding to a collection that is called after it.
fn deed(evidence: &Evidence<'_>, catalog: &Catalog) -> Option<Choice> {
    if evidence.http != "POST" || !evidence.ends_literal {
        return None;
    }
    let nouns = evidence.literals.last().into_iter().chain(&evidence.tags);
    let mut nouns = nouns.map(|noun| singular(&words(without_format(noun)).concat()));
    nouns.find_map(|noun| {
        let (_, verb) = DEEDS.iter().find(|(deed, _)| *deed == noun)?;
        catalog.verb(verb)?;
        let seen = Some(format!("`{noun}` in the path or the tags"));
        Some(Choice { verb: (*verb).to_owned(), seen, is_literal: verb.eq_ignore_ascii_case(&noun) })
    })
}

fn by_default(evidence: &Evidence<'_>) -> Choice {
    let verb = match evidence.http {
        "GET" if evidence.searches && evidence.ends_literal => "SEARCH",
        "GET" if evidence.gives_list && evidence.ends_literal => "LIST",
        "GET" => "FETCH",
        // A POST at one thing changes it.
        "POST" if !evidence.ends_literal && !evidence.literals.is_empty() => "UPDATE",
        "POST" => "CREATE",
        "PUT" => "REPLACE",
        "PATCH" => "MODIFY",
        "DELETE" => "REMOVE",
        _ => "DESCRIBE",
    };
    Choice { verb: verb.to_owned(), seen: None, is_literal: false }
}
