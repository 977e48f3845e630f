//! The proof that an operation changes nothing. It is made here and nowhere else.

use forecourt_contract::Catalog;

use super::asking::{is_asking, sentence_asks};
use super::changing::{changes_in_words, claims_change, coordinates_change};
use super::weight::gives_credentials;
use crate::import::operation::Operation;
use crate::import::words::{without_format, words};

/// Proof that an operation changes nothing.
///
/// Its method is safe (RFC 9110 9.2.1) and its document says nothing else; or its path asks for something, a sentence
/// does so too, and no verb of its id, its path and its sentences changes anything.
#[derive(Debug)]
pub(super) struct Unchanging(());

impl Unchanging {
    /// `None`: it may change something.
    pub(super) fn of(operation: &Operation<'_>, catalog: &Catalog) -> Option<Unchanging> {
        let is_unchanging = match operation.reads_only() {
            true => !claims_change(operation, catalog),
            false => operation.http == "POST" && asks(operation, catalog),
        };
        is_unchanging.then_some(Unchanging(()))
    }
}

/// Whether path and sentence ask for something, and nothing else is said.
fn asks(operation: &Operation<'_>, catalog: &Catalog) -> bool {
    path_asks(operation, catalog)
        && sentence_asks(operation)
        && !changes_in_words(&words(operation.text("operationId")), catalog)
        && !coordinates_change(operation, catalog)
        && !gives_credentials(operation)
}

/// Whether the last segment of a path asks, and nothing in the whole path changes.
fn path_asks(operation: &Operation<'_>, catalog: &Catalog) -> bool {
    let path = operation.path.trim_end_matches('/');
    let Some(last) = path.rsplit('/').next() else { return false };
    // `/orders/{id}:search` asks behind its parameter.
    let all = literal_words(last.rsplit('}').next().unwrap_or(last));
    let is_edge = |word: Option<&String>| word.is_some_and(|word| is_asking(word));
    let behind = all.iter().position(|word| !matches!(word.as_str(), "batch" | "bulk" | "multi"));
    let asks = is_edge(behind.and_then(|at| all.get(at))) || is_edge(all.last());
    let whole: Vec<String> = path.split('/').flat_map(literal_words).collect();
    asks && !changes_in_words(&whole, catalog)
}

/// The words of a segment that stand outside of its parameters.
fn literal_words(segment: &str) -> Vec<String> {
    let mut parts = segment.split('{');
    let before = parts.next().unwrap_or_default();
    let behind = parts.map(|part| part.split_once('}').map_or(part, |(_, literal)| literal));
    std::iter::once(before).chain(behind).flat_map(|literal| words(without_format(literal))).collect()
}
