//! Crawlers: those that prove who they are by Web Bot Auth, and those that say so.
//!
//! | file | holds |
//! |---|---|
//! | `verify.rs` | the signature of a request by a signature agent |
//! | `directory.rs` | the document with a signature agent's keys, as it is signed |
//! | `agents.rs` | such documents, fetched and kept within bounds |
//! | `known.rs` | crawlers that are known by name |
//! | `settings.rs` | the section `[identity.bots]` |

mod agents;
mod directory;
mod known;
mod settings;
mod verify;

pub use agents::{DirectoryFetcher, SignatureAgents};
pub use directory::{DIRECTORY_PATH, DIRECTORY_TYPE};
pub use known::KnownBots;
pub use settings::{BotSettings, KnownBotSettings};
pub(crate) use verify::verify;
pub use verify::{METHOD, VerifiedBot};

/// What the subject of a verified crawler begins with; the host of its signature agent follows.
pub const SUBJECT_PREFIX: &str = "bot:";
