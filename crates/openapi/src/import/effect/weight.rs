//! What is grave whatever a document calls it: money, credentials, access, messages to people, deletion.

use std::collections::BTreeSet;

use forecourt_contract::Catalog;

use super::grave_words::{ACCESS, ADMITTING, CREDENTIALS, DELETING, MESSAGES, MONEY, PAYING, SENDING};
use crate::import::headline::{headline, object};
use crate::import::lexicon::meant;
use crate::import::operation::Operation;
use crate::import::prose::verb_of;
use crate::import::words::{singular, without_format, words};

/// What makes a call grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Deletion,
    Money,
    Credentials,
    Access,
    Messages,
}

/// Verbs that change what is there and make nothing.
const UPDATING: [&str; 12] = [
    "UPDATE",
    "MODIFY",
    "EDIT",
    "CHANGE",
    "SET",
    "REPLACE",
    "RENAME",
    "ANNOTATE",
    "AMEND",
    "CONFIGURE",
    "REORDER",
    "FLAG",
];

impl Weight {
    /// What makes an operation grave. `None`: nothing that is known.
    pub(super) fn of(operation: &Operation<'_>, verb: &str, catalog: &Catalog) -> Option<Weight> {
        let deeds = deeds(operation, verb);
        let things = things(operation);
        let does = |known: &[&str]| deeds.iter().any(|deed| known.contains(&deed.as_str()));
        let is_about = |known: &[&str]| things.iter().any(|thing| known.contains(&thing.as_str()));
        let meant = deeds.first().and_then(|deed| meant(deed, catalog));
        let updates = matches!(operation.http.as_str(), "PUT" | "PATCH")
            || UPDATING.contains(&verb)
            || meant.is_some_and(|verb| UPDATING.contains(&verb.as_str()));
        match () {
            () if operation.http == "DELETE" || does(&DELETING) => Some(Weight::Deletion),
            () if does(&PAYING) || (!updates && is_about(&MONEY)) => Some(Weight::Money),
            () if is_about(&CREDENTIALS) || has_key(&things) => Some(Weight::Credentials),
            () if does(&ADMITTING)
                || is_about(&ACCESS)
                || (does(&["add", "assign"]) && is_about(&["user", "people"])) =>
            {
                Some(Weight::Access)
            }
            () if does(&SENDING) || (!updates && is_about(&MESSAGES)) => Some(Weight::Messages),
            () => None,
        }
    }

    /// What a person has to confirm.
    pub(super) fn doubt(self) -> &'static str {
        match self {
            Weight::Deletion => "it deletes, so it counts as irreversible: say so where it can be undone",
            Weight::Money => "it is about money, so it counts as irreversible: say so where it can be undone",
            Weight::Credentials => {
                "it is about credentials, so it counts as irreversible: say so where it can be undone"
            }
            Weight::Access => "it changes who has access, so it counts as irreversible: say so where it can be undone",
            Weight::Messages => "people get a message, so it counts as irreversible: say so where nobody does",
        }
    }
}

/// Whether what is asked for is itself a credential, which a service makes when it is asked.
pub(super) fn gives_credentials(operation: &Operation<'_>) -> bool {
    let said = headline(operation).unwrap_or_default();
    let is_of_many =
        verb_of(&said).is_some_and(|(verb, _)| matches!(verb.as_str(), "list" | "search" | "find" | "query"));
    let things = things(operation);
    !is_of_many && (things.iter().any(|thing| CREDENTIALS.contains(&thing.as_str())) || has_key(&things))
}

fn has_key(things: &BTreeSet<String>) -> bool {
    let has = |word: &str| things.contains(word);
    has("key")
        && ["api", "client", "access", "ssh", "gpg", "signing", "encryption", "deploy", "private", "public"]
            .iter()
            .any(|kind| has(kind))
}

/// What is done: the verb, the one of the sentence, the first words of the id and of the last segments of the path.
fn deeds(operation: &Operation<'_>, verb: &str) -> Vec<String> {
    let said = headline(operation);
    let spoken = said.as_deref().and_then(verb_of).map(|(word, _)| word);
    let id = words(operation.id).into_iter().find(|word| !matches!(word.as_str(), "post" | "put" | "patch"));
    let all = spoken.into_iter().chain([verb.to_lowercase()]).chain(id);
    let places = ending(operation).into_iter().filter_map(|segment| words(segment).into_iter().next());
    // `captures` of a payment is what is done to it.
    all.chain(places.map(|word| singular(&word))).collect()
}

/// What it is done to: the words of the id, of the last segments of the path and of the object of its sentence, in the
/// singular.
fn things(operation: &Operation<'_>) -> BTreeSet<String> {
    let said = headline(operation).unwrap_or_default();
    let object = verb_of(&said).and_then(|(_, at)| object(said.get(at..)?)).unwrap_or_default();
    const BEHIND: [&str; 9] = [" for ", " of ", " from ", " to ", " in ", " on ", " with ", " by ", " at "];
    let end = BEHIND.iter().filter_map(|word| object.find(word)).min().unwrap_or(object.len());
    // `Store details and submit a payout` is about both.
    let besides = said.split_once(" and ").map(|(_, besides)| words(besides)).unwrap_or_default();
    let named = ending(operation).into_iter().flat_map(words);
    words(&object[..end]).into_iter().chain(named).chain(besides).map(|word| singular(&word)).collect()
}

/// The last literal segments of a path that stand together: `payments` and `details` of `/payments/details`.
fn ending<'a>(operation: &Operation<'a>) -> Vec<&'a str> {
    let mut all =
        operation.path.trim_end_matches('/').rsplit('/').map(without_format).filter(|s| !s.is_empty()).peekable();
    while all.next_if(|segment| segment.contains('{')).is_some() {}
    all.take_while(|segment| !segment.contains('{')).take(2).collect()
}
