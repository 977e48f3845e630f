//! What words mean, as data: classes of things ("nuts"), ways to eat that leave some out, and their names in
//! several languages. Files of one form, those that come with the program and those of a deployment.
//!
//! Knows of no index and no question: who understands questions asks which class a phrase names, and who
//! judges items asks of which classes a phrase is.
//!
//! | file | holds |
//! |---|---|
//! | `class.rs` | what a class is, and a diet |
//! | `file.rs` | one file of vocabulary |
//! | `vocabulary.rs` | all files together, and what they answer |
//! | `token.rs` | a question as words, numbers and marks |
//! | `language.rs` | words of questions, and wordings of limits, by language |
//! | `property.rs` | which properties of items say what a question asks for |

mod class;
mod file;
mod fold;
mod language;
mod property;
mod token;
mod vocabulary;

pub use class::{Class, Diet};
pub use fold::folded;
pub use language::{PhraseMeaning, QuestionLexicon, RelativeDate, Unit, WordClass};
pub use property::{PropertyTable, Quantity, TextProperties};
pub use token::{QuestionToken, TokenKind, tokens};
pub use vocabulary::Vocabulary;
