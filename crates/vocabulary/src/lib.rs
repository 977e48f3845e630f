//! What words mean, as data: classes of things ("nuts"), ways to eat that leave some out, and their names in
//! several languages. Files of one form, those that come with the program and those of a deployment.
//!
//! Knows of no index and no question: who understands questions asks which class a phrase names, and who
//! judges items asks of which classes a phrase is.
//!
//! | file | holds |
//! |---|---|
//! | `conversation.rs` | words around what is asked for: "more", "instead", "the second one" |
//! | `class.rs` | what a class is, and a diet |
//! | `file.rs` | one file of vocabulary |
//! | `vocabulary.rs` | all files together, and what they answer |

mod class;
mod conversation;
mod file;
mod fold;
mod vocabulary;

pub use class::{Class, Diet};
pub use conversation::{ConversationPhrases, ItemPosition, ItemReference, OffTopic, Replacement};
pub use fold::folded;
pub use vocabulary::Vocabulary;
