//! What the host says to people in its own words, in the language of the caller: [`Sentences`].
//!
//! The words are data, a file of Fluent messages for each language in `data/`; every file has every sentence,
//! with the same values. Values are put in as they are: they are markdown that is ready to be shown. Items and
//! what callers wrote are never translated.
//!
//! | file | holds |
//! |---|---|
//! | `spoken.rs` | the languages, and which of them a caller is answered in |
//! | `say.rs` | a message of a language, with its values |
//! | `sentences.rs` | every sentence of answers with the values that it takes |
//! | `pages.rs` | the same of pages, from `data/pages/` |
//! | `decisions.rs` | the same of consents, payments, refusals and signing in, from `data/decisions/` |
//! | `payments.rs` | the same of the page on which people pay, from `data/payments/` |
//! | `servers.rs` | the same of signing in at servers behind the host, from `data/servers/` |
//! | `named.rs` | sentences that other data names: properties, availability, questions back |

mod decisions;
mod named;
mod pages;
mod payments;
mod say;
mod sentences;
mod servers;
mod spoken;

pub use sentences::Sentences;
pub use spoken::SpokenLanguage;
