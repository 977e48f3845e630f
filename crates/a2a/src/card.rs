//! The hub card, and the cards of single agents, in every form that clients read. Hub card 2, 7.
//!
//! One document serves both versions: it holds the fields of 0.3 and of 1.0, which share no name
//! with another meaning, and Mentionable's beside them. Who asks for 1.0 gets the fields of 1.0 only.
//!
//! | what | file |
//! |---|---|
//! | what a card says, whatever its form | `facts.rs` |
//! | the forms | `write.rs` |
//! | signatures, and what they cover | `sign.rs`, `shape.rs` |
//! | our cards, rendered once | `cards.rs` |
//! | cards of others, read | `read.rs`, `binding.rs` |
//! | what the operator decides | `settings.rs` |
//! | what is wrong with a card | `validate.rs` |

mod binding;
mod cards;
mod facts;
pub mod limits;
pub mod names;
mod read;
mod settings;
mod shape;
mod sign;
mod validate;
mod write;

pub use binding::Binding;
pub use cards::Cards;
pub(crate) use read::contradiction;
pub use read::{AgentRef, CardSignature, Extension, Interface, RemoteCard, Scheme, read};
pub use settings::CardSettings;
pub use shape::SignatureScope;
pub use sign::{SignatureError, verify_signature};
pub use validate::{Problem, validate, validate_agent};
