//! What the parameters of a query are called that pages send: links and forms write them, and whoever answers reads
//! them.

/// The name of a query parameter that chooses a value of a property.
pub const FILTER_PREFIX: &str = "filter.";
/// The name of a query parameter that answers a question: what follows is the question.
pub const ANSWER_PREFIX: &str = "answer.";
/// The query parameter with a question that was asked before, the oldest first.
pub const EARLIER: &str = "prev";
/// The query parameter that says how many results to show.
pub const RESULTS: &str = "results";
/// The query parameter that says in which order: a name of [`forecourt_core::findings::ItemOrder`].
pub const ORDER: &str = "sort";
/// The query parameter, with its value, that says that the question is being typed: what it may become is wanted.
pub const COMPLETES: (&str, &str) = ("complete", "yes");
/// The query parameter, with its value, that wants no question back.
pub const DECIDED: (&str, &str) = ("ask", "no");
