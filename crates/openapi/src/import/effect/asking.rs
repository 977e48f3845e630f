//! Words by which something is asked for.

use crate::import::headline::headline;
use crate::import::operation::Operation;
use crate::import::prose::verb_of;

/// Words of a path that ask for something. Not among them: words that are said of changes as well, such as `check`,
/// `return`, `read` and `validate`.
const ASKING: [&str; 20] = [
    "autocomplete",
    "browse",
    "calculate",
    "compare",
    "compute",
    "count",
    "describe",
    "estimate",
    "explain",
    "fetch",
    "find",
    "get",
    "inspect",
    "list",
    "lookup",
    "preview",
    "query",
    "retrieve",
    "search",
    "suggest",
];

/// Verbs of sentences that ask for something, beside those of paths.
const TELLING: [&str; 7] = ["look", "obtain", "provide", "read", "return", "show", "view"];

/// Whether a word of a name asks for something.
pub(super) fn is_asking(word: &str) -> bool {
    ASKING.contains(&word)
}

/// Whether the sentence about an operation is one that asks.
pub(super) fn sentence_asks(operation: &Operation<'_>) -> bool {
    let said = headline(operation);
    let verb = said.as_deref().and_then(verb_of).map(|(verb, _)| verb);
    verb.is_some_and(|verb| is_asking(&verb) || TELLING.contains(&verb.as_str()))
}
