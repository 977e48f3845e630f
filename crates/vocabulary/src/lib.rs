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
//! | `own_names.rs` | names of a deployment, which go before those of the program |
//! | `vocabulary.rs` | what they answer |
//! | `shipped.rs` | what comes with the program, written down as it was read, and the files of a deployment |
//! | `synonym.rs`, `synonym_table.rs`, `stem.rs` | words that mean the same, and what those of a question name |
//! | `words.rs`, `phrases.rs` | texts as words, and the phrases in them |
//! | `judge.rs`, `item.rs`, `roles.rs` | of which classes a text is, and an item by its properties |
//! | `denial.rs`, `absent.rs` | whether a text says that something is not there, and what |
//! | `proposal.rs` | entries that a vocabulary lacks, as a file to edit |
//! | [`limits`] | every bound, with its unit |
//! | `token.rs` | a question as words, numbers and marks |
//! | `language.rs`, `word_class.rs` | words of questions, and wordings of limits, by language |
//! | `time_word.rs` | times of day, parts of months, and days that come back every week |
//! | `holiday.rs` | days and seasons that come back every year |
//! | `property.rs` | which properties of items say what a question asks for |
//! | `conversation.rs` | words around what is asked for: "more", "instead", "the second one" |
//! | `pattern.rs` | patterns that are compiled when a text comes that they may match |

mod absent;
mod build;
mod class;
mod class_set;
mod conversation;
mod denial;
mod file;
mod fold;
mod holiday;
mod index;
mod item;
mod judge;
mod language;
pub mod limits;
mod own_names;
mod pattern;
mod phrases;
mod place;
mod property;
mod proposal;
mod roles;
mod shipped;
mod stem;
mod synonym;
mod synonym_table;
mod time_word;
mod token;
mod vocabulary;
mod word_class;
mod words;

pub use absent::thing_key;
pub use class::{Area, Class, Diet, ItemKind, ItemProperty, ItemValue, ValueArea};
pub use conversation::{ConversationPhrases, ItemPosition, ItemReference, OffTopic, Replacement};
pub use fold::{folded, folded_letters, folded_word};
pub use holiday::{YearDay, YearlyDays};
pub use item::{ClassJudge, ItemClasses, PhraseClasses};
pub use language::{PhraseMeaning, QuestionLexicon};
pub use place::place_names;
pub use property::{PropertyTable, Quantity, TextProperties};
pub use proposal::{ProposedEntry, WordProposal};
pub use roles::TextRole;
pub use stem::ends_in_plural_s;
pub use synonym::{NamedSubject, Synonym};
pub use time_word::{DateWord, DayPart, TimeWord};
pub use token::{QuestionToken, TokenKind, tokens};
pub use vocabulary::Vocabulary;
pub use word_class::{RelativeDate, Unit, WordClass};
pub use words::{LANGUAGES, compared};
