//! The seam to a search engine outside: what it is given to keep, what it is asked, and what it answers.
//!
//! An engine keeps documents that are analysed already: terms, numbers and the item as a text. It gives candidates, with
//! the items themselves; which of them fit, in which order and what is said of them is decided elsewhere, from the items.
//! So engines need no analysis, no language and no vocabulary, and two of them that keep the same documents give the same
//! answers.
//!
//! Every call blocks, within a deadline of the engine's own, and belongs on a thread where that is allowed.
//!
//! | file | holds |
//! |---|---|
//! | `predicate.rs` | what an item has to keep, in terms and numbers |
//! | `document.rs` | an item as an engine keeps it, and changes of many |
//! | `candidates.rs` | what is asked, and what comes back |
//! | `retriever.rs` | the trait |
//! | [`limits`] | every bound, with its unit |

mod candidates;
mod document;
mod error;
pub mod limits;
mod predicate;
mod retriever;

pub use candidates::{Candidate, CandidateQuery, Candidates, QuantityOrder, ScoredTerm};
pub use document::{Change, EngineDocument, StoredEntry, last_changes};
pub use error::RetrievalError;
pub use predicate::{Numbers, Predicate, TermField};
pub use retriever::{EngineState, Retriever};
