//! What a call does to the world, as far as a document tells. Section 7.1; a person confirms it.
//!
//! ```text
//! GET, and nothing says that it changes something ──────────► informational
//! POST: path and sentence ask, nothing says more ───────────► informational
//! money, credentials, access, messages, deletion ───────────► irreversible, REVIEW
//! what else is final by its verb or its thing ──────────────► irreversible
//! everything else ──────────────────────────────────────────► reversible
//! ```
//!
//! An agent calls again and again what is informational. So the one way to that word takes an [`Unchanging`], which is
//! made in one place only; what nobody thought of ends as something that changes.

mod asking;
mod changing;
mod grave_words;
mod unchanging;
mod weight;

use forecourt_contract::Catalog;

use super::lexicon::{is_final, is_final_thing};
use super::operation::Operation;
use super::verb::category;
use super::words::{singular, without_format, words};
use changing::{is_claimed, tells_repeats_differ};
use unchanging::Unchanging;
use weight::Weight;

/// Verbs of transactions that another call takes back.
const UNDONE: [&str; 6] = ["ALLOCATE", "ASSIGN", "DEALLOCATE", "GRANT", "PRICE", "QUOTE"];

/// What a call does, and what of it a person has to confirm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    impact: &'static str,
    is_idempotent: bool,
    doubt: Option<&'static str>,
}

impl Effect {
    /// `informational`, `reversible` or `irreversible`.
    pub(super) fn impact(&self) -> &'static str {
        self.impact
    }

    /// Whether nothing changes.
    pub(super) fn is_informational(&self) -> bool {
        self.impact == "informational"
    }

    /// Whether a second call of the same changes nothing more.
    pub(super) fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    /// What a person has to confirm, for all endpoints that it holds for.
    pub(super) fn doubt(&self) -> Option<&'static str> {
        self.doubt
    }

    fn informational(_: Unchanging) -> Effect {
        Effect { impact: "informational", is_idempotent: true, doubt: None }
    }

    fn changing(operation: &Operation<'_>, is_final: bool, doubt: Option<&'static str>) -> Effect {
        // PUT and DELETE are idempotent by definition (RFC 9110 9.2.2); documents have some that are not.
        let is_repeatable = matches!(operation.http.as_str(), "PUT" | "DELETE") && !tells_repeats_differ(operation);
        let impact = if is_final { "irreversible" } else { "reversible" };
        Effect { impact, is_idempotent: is_repeatable, doubt }
    }
}

/// What an operation that became `verb` does.
pub(super) fn effect(operation: &Operation<'_>, verb: &str, catalog: &Catalog) -> Effect {
    if let Some(proof) = Unchanging::of(operation, catalog) {
        return Effect::informational(proof);
    }
    if operation.reads_only() {
        const CLAIMED: &str = "a GET says that it changes something, so it counts as a change";
        return Effect::changing(operation, Weight::of(operation, verb, catalog).is_some(), Some(CLAIMED));
    }
    match Weight::of(operation, verb, catalog) {
        Some(_) if is_claimed(operation, &UNDOING) => Effect::changing(operation, false, None),
        Some(weight) => Effect::changing(operation, true, Some(weight.doubt())),
        None => Effect::changing(operation, is_bound(operation, verb, catalog), None),
    }
}

/// What documents say of what can be taken back, in lower case.
const UNDOING: [&str; 9] = [
    "can be undone",
    "can be restored",
    "can be reversed",
    "can be recovered",
    "can be reverted",
    "is reversible",
    "soft delete",
    "soft-delete",
    "to the trash",
];

/// Whether nothing takes back what a verb does, or what it makes.
fn is_bound(operation: &Operation<'_>, verb: &str, catalog: &Catalog) -> bool {
    let changes_one = matches!(operation.http.as_str(), "PUT" | "PATCH");
    let made = operation.path.trim_end_matches('/').rsplit('/').find(|segment| !segment.contains('{'));
    let made = made.and_then(|segment| words(without_format(segment)).pop());
    let makes_final_thing = verb == "CREATE" && made.is_some_and(|thing| is_final_thing(&singular(&thing)));
    let is_transaction = category(verb, catalog) == Some("transaction") && !UNDONE.contains(&verb);
    is_final(verb) || (!changes_one && (is_transaction || makes_final_thing))
}
