//! What words mean, as data: classes of things ("nuts"), ways to eat that leave some out, kinds of things, words
//! that mean the same, and their names in several languages. Files of one form, those that come with the program
//! and those of a deployment.
//!
//! Knows of no index and no question: who understands questions asks which class a phrase names, and who
//! judges items asks of which classes a phrase is.
//!
//! | file | holds |
//! |---|---|
//! | `conversation.rs` | words around what is asked for: "more", "instead", "the second one" |
//! | `class.rs` | what a class is, a diet, a kind, a property |
//! | `file.rs` | one file of vocabulary, strictly read |
//! | `build.rs`, `index.rs` | all files together, and how they are asked |
//! | `vocabulary.rs` | what they answer |
//! | `words.rs`, `phrases.rs` | texts as words, and the phrases in them |
//! | `judge.rs`, `item.rs` | of which classes a text is, and an item |
//! | [`limits`] | every bound, with its unit |

mod build;
mod class;
mod class_set;
mod conversation;
mod file;
mod fold;
mod index;
mod item;
mod judge;
pub mod limits;
mod phrases;
mod shipped;
mod vocabulary;
mod words;

pub use class::{Area, Class, Diet, ItemKind, ItemProperty};
pub use conversation::{ConversationPhrases, ItemPosition, ItemReference, OffTopic, Replacement};
pub use fold::folded;
pub use item::{ClassJudge, ItemClasses, PhraseClasses, TextRole};
pub use vocabulary::Vocabulary;
pub use words::LANGUAGES;
