//! The seam for platforms that agents are mentioned on and that have no wire of ours, such as chats. A platform is a
//! crate that implements [`Platform`]; what they share is here, and none knows another.
//!
//! | file | holds |
//! |---|---|
//! | `platform.rs` | what a platform does: read its events, send, edit and delete messages |
//! | `chat.rs`, `address.rs` | a message of a chat, and where its answer goes |
//! | `settings.rs` | what every file of `connectors/` has |
//! | `connector.rs` | one connector: its platform, its agents |
//! | `wire.rs`, `surface.rs` | the protocol of a kind, and its path |
//! | `events.rs` | what an event asks for |
//! | `listen.rs`, `lease.rs` | events over a connection that is opened from here, by one node of several |
//! | `intake.rs`, `intake/`, `sender.rs`, `in_hand.rs` | a message to its agent: first mention wins, a thread stays with its agent |
//! | `records.rs` | what was sent for a question, so that nothing is sent twice and edits find it |
//! | `carrier.rs`, `answer.rs` | an answer or a refusal that is due, in messages of the platform |
//! | `live.rs`, `pause.rs` | an answer shown while it is written; how long a platform wants to be left alone |
//! | `refusal_log.rs` | refused events in the log, a line a minute |
//! | `message_style.rs`, `split.rs` | words as messages of a platform, long answers in several |
//! | `left_out.rs`, `files.rs` | files that go by links, or not at all, in words; the path of such links |
//! | `form.rs` | forms with a file, for platforms that need them |
//!
//! An event is acknowledged once its task is durable (`correspondence`), so an event that is sent again, and a process
//! that is killed in between, are answered once.

mod address;
mod answer;
mod carrier;
mod chat;
mod connector;
mod events;
mod files;
mod form;
mod in_hand;
mod intake;
mod lease;
mod left_out;
pub mod limits;
mod listen;
mod live;
mod message_style;
mod pause;
mod platform;
mod records;
mod refusal_log;
mod sender;
mod settings;
mod split;
mod surface;
mod wire;

#[cfg(test)]
mod tests;

pub use chat::{ChatFile, ChatMessage, Place, ReplyTicket};
pub use form::Form;
pub use platform::{
    EventAnswer, EventError, EventRequest, Incoming, Listening, Outcome, Platform, PlatformError, Post, PostButton,
    Reception,
};
pub use settings::ConnectorSettings;
pub use split::{CodeMarks, split};
pub use wire::ConnectorWire;
