//! Operations ranked by a question in plain words: tools of a model, methods of an endpoint. The index is in memory and
//! made once; a search over thousands takes about a millisecond.
//!
//! Words are brought to their stems and compared by BM25 over fields (names count most, the words of schemas least),
//! with a list of words that people use for the same. What is to be done counts too: who asks to get rid of something
//! is not offered what creates it.
//!
//! It knows of no protocol, no agent and no file.
//!
//! | file | holds |
//! |---|---|
//! | `description.rs` | [`Description`]: an operation in words |
//! | `ranking.rs` | [`Ranking`]: descriptions, indexed and searched |
//! | `operation.rs` | what an operation does |
//! | `question.rs` | a question as what is looked for |
//! | `asking.rs` | how something is asked |
//! | `synonyms.rs` | words that mean the same, and kinds of actions |
//! | `names.rs` | names that are spelled alike |
//! | `schema.rs` | names and words of the members of JSON schemas |
//! | `words.rs` | texts and names as stems |
//! | [`limits`] | every bound, with its unit |

mod asking;
mod description;
pub mod limits;
mod names;
mod operation;
mod question;
mod ranking;
mod schema;
mod synonyms;
mod words;

pub use description::Description;
pub use ranking::{Match, Ranking};
