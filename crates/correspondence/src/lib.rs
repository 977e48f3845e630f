//! Protocols that answer later and elsewhere: mail, the Fediverse, chats. A message comes in, is acknowledged once its
//! task is durable, and the answer is a delivery of that task which a [`LetterCourier`] carries, through crashes.
//!
//! | file | holds |
//! |---|---|
//! | `letter.rs` | what must be known of a message to answer it: it travels with the delivery |
//! | `desk.rs` | a message asked, a refusal told, a question asked again |
//! | `courier.rs` | what is due, handed to the protocol; refusals whose conditions are looked at until they are met |
//! | `threads.rs` | which conversation a foreign id goes on with; messages that were taken |
//! | `quota.rs` | messages of one sender within an hour |
//! | `file_links.rs` | links that open one file of an answer, for whoever has them |
//! | `words.rs` | an answer in words |
//!
//! A protocol has an [`Address`] (what of its own an answer needs), a [`Carrier`] (one attempt to send it), and calls
//! [`Desk::ask`]. When a refusal asked for consent or payment and a person did it on the host's page, the question is
//! asked again by itself, and its answer sent (PolicyPart 5.3, pattern 2).

mod courier;
mod desk;
mod file_links;
mod letter;
pub mod limits;
mod quota;
mod threads;
mod words;

pub use courier::{Carrier, Content, LetterCourier, OpenDesk, Outgoing};
pub use desk::{Acceptance, Desk};
pub use file_links::{FileLinks, LinkedFile};
pub use letter::{Address, Letter};
pub use quota::SenderQuota;
pub use threads::Threads;
pub use words::{answer_in_words, part_in_words};
