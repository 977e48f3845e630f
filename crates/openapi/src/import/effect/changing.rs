//! What a document says of changes, in whatever words.

use forecourt_contract::Catalog;

use super::asking::{is_asking, sentence_asks};
use crate::import::headline::headline;
use crate::import::lexicon::{is_noun_too, is_reading, is_taking, is_verb, meant, of_gerund, participle, to_base};
use crate::import::operation::Operation;
use crate::import::prose::{every_sentence, sentences, verb_of};
use crate::import::verb::category;
use crate::import::words::{without_format, words};

/// Verbs that change something and that no catalog has, or has among those that read.
const CHANGES: [&str; 27] = [
    "acknowledge",
    "bump",
    "capture",
    "consume",
    "deauthorize",
    "decrement",
    "dequeue",
    "disallow",
    "empty",
    "enqueue",
    "increment",
    "indicate",
    "invalidate",
    "kick",
    "mark",
    "prune",
    "pop",
    "reconcile",
    "refresh",
    "regenerate",
    "sync",
    "test",
    "toggle",
    "track",
    "unsubscribe",
    "verify",
    "wipe",
];

/// Verbs that are said of answers as well: they tell nothing of a change.
const HARMLESS: [&str; 36] = [
    "allow",
    "apply",
    "compose",
    "connect",
    "define",
    "describe",
    "determine",
    "display",
    "echo",
    "follow",
    "give",
    "handle",
    "include",
    "issue",
    "join",
    "load",
    "look",
    "make",
    "manage",
    "note",
    "open",
    "order",
    "perform",
    "post",
    "process",
    "prompt",
    "provide",
    "render",
    "report",
    "request",
    "respond",
    "return",
    "show",
    "sort",
    "split",
    "try",
];

/// Words behind which a verb stands that says what a call does besides.
const JOINING: [&str; 18] = [
    "and",
    "or",
    "then",
    "also",
    "will",
    "to",
    "automatically",
    "immediately",
    "which",
    "that",
    "additionally",
    "it",
    "this",
    "endpoint",
    "method",
    "call",
    "request",
    "operation",
];

/// Words behind which a participle says what becomes of something.
const BECOMING: [&str; 6] = ["is", "are", "be", "gets", "get", "being"];

/// Whether a word, in lower case and its base form, is a verb that changes something. Of verbs that this project
/// knows, all do that are not known to read.
fn changes(word: &str, catalog: &Catalog) -> bool {
    if CHANGES.contains(&word) {
        return true;
    }
    if HARMLESS.contains(&word) || !is_verb(word) {
        return false;
    }
    let Some(verb) = meant(word, catalog) else { return true };
    let reads = matches!(category(&verb, catalog), Some("discovery" | "retrieval" | "analysis"));
    !is_reading(&verb) && (!reads || is_taking(&verb))
}

/// Whether a word that stands first in its sentence or its name is a verb that changes something.
fn begins_change(word: &str, catalog: &Catalog) -> bool {
    changes(word, catalog) || to_base(word).is_some_and(|base| changes(&base, catalog))
}

/// Whether one of the words of a name says that something changes. Words that are nouns as often count where they
/// stand first and no other word says what is done: `transferSweepList` lists.
pub(super) fn changes_in_words(all: &[String], catalog: &Catalog) -> bool {
    let asks = all.iter().any(|word| is_asking(word)) && !all.iter().any(|word| word == "and" || word == "or");
    let is_noun = |at: usize, word: &str| is_noun_too(word) && (at > 0 || asks);
    all.iter().enumerate().any(|(at, word)| changes(word, catalog) && !is_noun(at, word))
}

/// Whether what is said of a GET says that it changes something: the start of its sentence, of its id or of the last
/// segment of its path, or a later sentence about what it does.
pub(super) fn claims_change(operation: &Operation<'_>, catalog: &Catalog) -> bool {
    let is_told = |sentence: &str| {
        let mut all = sentence.split(' ');
        let first = all.next().unwrap_or_default().to_lowercase();
        let is_command = !is_noun_too(&first) || all.next().is_some_and(|next| matches!(next, "a" | "an" | "the"));
        is_command && begins_change(&first, catalog)
    };
    let id = words(operation.id);
    let is_named = |all: &[String]| {
        all.first().is_some_and(|first| changes(first, catalog) && !is_noun_too(first) && all.len() < 4)
    };
    let last = operation.path.trim_end_matches('/').rsplit('/').next().filter(|last| !last.contains('{'));
    // A name counts where no sentence says that something is asked for: `deploy-keys` are listed.
    let names_change = || is_named(&id) || last.is_some_and(|last| is_named(&words(without_format(last))));
    headline(operation).is_some_and(|said| is_told(&said))
        || (!sentence_asks(operation) && !id.first().is_some_and(|first| is_asking(first)) && names_change())
        || sentences(operation.text("description")).iter().any(|sentence| does_besides(sentence, catalog))
        || is_claimed(operation, &CONSUMED)
}

/// What documents say of reading that takes what it reads, in lower case.
const CONSUMED: [&str; 9] = [
    "marks the",
    "marks all",
    "marked as read",
    "side effect",
    "is invalidated",
    "will be invalidated",
    "only be retrieved once",
    "only be read once",
    "only be used once",
];

/// Whether a later sentence says in the third person what a call does: `Resets the counter.`
fn does_besides(sentence: &str, catalog: &Catalog) -> bool {
    let mut all = sentence.split(' ').map(str::to_lowercase);
    let first = all.next().unwrap_or_default();
    let is_third = |word: &str| to_base(word).is_some_and(|base| changes(&base, catalog) && !is_noun_too(&base));
    if is_third(&first) {
        return true;
    }
    // `Returns the token and invalidates it.`
    let mut was_joined = false;
    to_base(&first).is_some()
        && all.any(|word| {
            let is_change = was_joined && is_third(word.trim_end_matches([',', '.']));
            was_joined = matches!(word.as_str(), "and" | "then" | "also");
            is_change
        })
}

/// Whether any sentence about an operation has a verb that changes something, wherever verbs stand. So it is taken where
/// there is more than is read.
pub(super) fn coordinates_change(operation: &Operation<'_>, catalog: &Catalog) -> bool {
    let all = [operation.text("summary"), operation.text("description")];
    let is_told = |sentence: &String| has_change(sentence, catalog);
    let plain = all.into_iter().flat_map(sentences).any(|sentence| is_told(&sentence));
    let in_any = |text| every_sentence(text).is_none_or(|every| every.iter().any(is_told));
    plain || all.into_iter().any(in_any) || is_claimed(operation, &CONSUMED)
}

fn has_change(sentence: &str, catalog: &Catalog) -> bool {
    // What stands behind a comma begins anew: `Finds stale jobs, deletes them.`
    sentence.split([',', ';', ':']).any(|clause| clause_has_change(clause, catalog))
}

fn clause_has_change(clause: &str, catalog: &Catalog) -> bool {
    let plain = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let all: Vec<String> = clause.split(' ').map(plain).filter(|word| !word.is_empty()).collect();
    // `The system sends an invitation.` A plural that is a noun as well is taken for one.
    let is_third = |word: &str| to_base(word).is_some_and(|base| changes(&base, catalog) && !is_noun_too(&base));
    all.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| all.get(at)).map(String::as_str);
        let is_verb_here = before.is_none_or(|before| JOINING.contains(&before));
        let is_becoming = before.is_some_and(|before| BECOMING.contains(&before));
        (is_verb_here && begins_change(word, catalog))
            || is_third(word)
            || (is_becoming && is_participle(word, catalog))
            || (before == Some("by") && of_gerund(word).is_some_and(|base| changes(&base, catalog)))
    })
}

/// Whether a word is the participle of a verb that changes something.
fn is_participle(word: &str, catalog: &Catalog) -> bool {
    if !word.ends_with(['d', 't', 'n', 'e']) {
        return false;
    }
    let stems = [word.strip_suffix("ed"), word.strip_suffix('d'), word.strip_suffix("en"), Some(word)];
    let doubled = word.strip_suffix("ed").and_then(|stem| {
        let mut all = stem.chars();
        all.next_back().map(|_| all.as_str())
    });
    let ied = word.strip_suffix("ied").map(|stem| format!("{stem}y"));
    let bases = stems.into_iter().flatten().chain(doubled).map(str::to_owned).chain(ied);
    let special = [("sent", "send"), ("paid", "pay"), ("made", "make"), ("put", "put")];
    let irregular = special.iter().find(|(past, _)| *past == word).map(|(_, base)| (*base).to_owned());
    bases.chain(irregular).any(|base| participle(&base) == word && changes(&base, catalog))
}

/// Whether the sentences about an operation have one of some phrases, in lower case.
pub(super) fn is_claimed(operation: &Operation<'_>, phrases: &[&str]) -> bool {
    let said = [operation.text("summary"), operation.text("description")].map(str::to_lowercase);
    said.iter().any(|said| phrases.iter().any(|phrase| said.contains(phrase)))
}

/// Whether an operation says that it does something more each time, whatever its method promises.
pub(super) fn tells_repeats_differ(operation: &Operation<'_>) -> bool {
    const AGAIN: [&str; 24] = [
        "append",
        "bump",
        "decrement",
        "dequeue",
        "enqueue",
        "execute",
        "generate",
        "increment",
        "invoke",
        "next",
        "ping",
        "pop",
        "regenerate",
        "rerun",
        "resend",
        "restart",
        "retry",
        "rotate",
        "run",
        "send",
        "test",
        "toggle",
        "trigger",
        "reboot",
    ];
    let said = headline(operation).unwrap_or_default();
    let last = operation.path.trim_end_matches('/').rsplit('/').find(|segment| !segment.contains('{'));
    let begins = |text: &str| words(text).first().is_some_and(|word| AGAIN.contains(&word.as_str()));
    // What is made at a place that many share is made once more.
    let makes =
        verb_of(&said).is_some_and(|(verb, _)| matches!(verb.as_str(), "create" | "add" | "register" | "issue"));
    let is_shared = !operation.path.trim_end_matches('/').ends_with('}');
    (operation.http == "PUT" && makes && is_shared)
        || begins(&said)
        || begins(operation.id)
        || last.is_some_and(begins)
        || said.to_lowercase().contains(" again")
}
