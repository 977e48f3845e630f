//! Storage behind [`forecourt_core::Store`]: [`Sqlite`] for a host that must survive its process,
//! [`Memory`] for tests and for trying things out.
//!
//! | file | holds |
//! |---|---|
//! | `memory.rs` | everything in maps behind one lock |
//! | `slim.rs` | what is written is written once |
//! | `sqlite.rs` | opening, closing, and the trait: prepare, hand over, read |
//! | `sqlite/writer.rs` | the one thread that writes, and group commit |
//! | `sqlite/rows.rs` | where the row of a task is |
//! | `sqlite/readers.rs` | read-only connections on blocking threads |
//! | `sqlite/schema.rs` | numbered migrations, and what is refused at opening |
//! | `sqlite/seal.rs` | what makes a row unreadable without the key beside the database |
//! | `sqlite/files.rs` | private modes, and the key file |
//! | `sqlite/quota.rs` | whose bytes are kept, and the bounds on them |
//! | `sqlite/{tasks,events,artifacts,webhooks,threads,routes,claims,ledger,expiry}.rs` | the statements, a noun each |
//!
//! An operation is answered after its transaction is durable, never before. Both stores pass the
//! same suite, `forecourt_testkit::store_suite`.

pub mod limits;
mod memory;
mod slim;
mod sqlite;
mod turns;

pub use memory::Memory;
pub use sqlite::{Sqlite, SqliteOptions};
