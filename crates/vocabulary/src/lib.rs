//! What words mean, as data: classes of things ("nuts"), ways to eat that leave some out, kinds of things, words
//! that mean the same, and their names in several languages. Files of one form, those that come with the program
//! and those of a deployment.
//!
//! Knows of no index and no question: who understands questions asks which class a phrase names, and who
//! judges items asks of which classes a phrase is.
//!
//! | file | holds |
//! |---|---|
//! | `class.rs` | what a class is, a diet, a kind, a property |
//! | `file.rs` | one file of vocabulary, strictly read |
//! | `build.rs`, `index.rs` | all files together, and how they are asked |
//! | `vocabulary.rs`, `shipped.rs` | what they answer, and where they come from |
//! | `words.rs`, `phrases.rs` | texts as words, and the phrases in them |
//! | `judge.rs`, `item.rs`, `roles.rs` | of which classes a text is, and an item by its properties |
//! | [`limits`] | every bound, with its unit |

mod build;
mod class;
mod class_set;
mod file;
mod fold;
mod index;
mod item;
mod judge;
pub mod limits;
mod phrases;
mod roles;
mod shipped;
mod vocabulary;
mod words;

pub use class::{Area, Class, Diet, ItemKind, ItemProperty};
pub use fold::folded;
pub use item::{ClassJudge, ItemClasses, PhraseClasses};
pub use roles::TextRole;
pub use vocabulary::Vocabulary;
pub use words::LANGUAGES;
