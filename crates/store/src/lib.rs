//! Storage behind [`forecourt_core::Store`]: [`Sqlite`] for a host that must survive its process, [`Postgres`] for
//! many hosts that are one deployment, [`Memory`] for tests and for trying things out.
//!
//! | file | holds |
//! |---|---|
//! | `memory.rs` | everything in maps behind one lock |
//! | `metered.rs` | how long operations take |
//! | `reads.rs` | what only the operator may ask |
//! | `clock.rs` | how far the machine's clock was set, and what is moved for it |
//! | `content.rs` | items that were pushed to agents, as rows that nodes follow |
//! | `trends.rs` | what nodes counted over time, coarser with age |
//! | `slim.rs` | what is written is written once |
//! | `seal.rs` | what makes a row unreadable without the key |
//! | `sealed/` | what of each thing is sealed, and under which label |
//! | `sqlite.rs` | opening, closing, and the trait: prepare, hand over, read |
//! | `sqlite/writer.rs` | the one thread that writes, and group commit |
//! | `sqlite/rows.rs` | where the row of a task is |
//! | `sqlite/readers.rs` | read-only connections on blocking threads |
//! | `sqlite/schema.rs` | numbered migrations, and what is refused at opening |
//! | `sqlite/copy.rs` | databases looked at and copied while others write |
//! | `sqlite/files.rs` | private modes, and the key file |
//! | `sqlite/quota.rs` | whose bytes are kept, and the bounds on them |
//! | `sqlite/{tasks,events,artifacts,webhooks,threads,routes,claims,clock,ledger,expiry}.rs` | the statements, a noun each |
//!
//! | `postgres.rs` | options, opening, reading |
//! | `postgres/schema.rs`, `postgres/schema/*.sql` | migrations under running nodes; the functions that change something |
//! | `postgres/writer.rs` | lanes: many calls in one transaction, in the order of what they lock |
//! | `postgres/{tasks,threads,deliveries}.rs` | what is asked and called, by noun |
//! | `postgres/content.rs` | items that were pushed |
//! | `postgres/database.rs` | tables that are somebody else's |
//! | `postgres/{connect,error}.rs` | TLS, the pool, deadlines; what a caller is told |
//!
//! An operation is answered after its transaction is durable, never before. All stores pass the
//! same suite, `forecourt_testkit::store_suite`.

mod clock;
pub mod content;
pub mod limits;
mod memory;
mod metered;
mod postgres;
mod reads;
mod seal;
mod sealed;
mod slim;
mod sqlite;
mod strangers;
mod time;
pub mod trends;
mod turns;

pub use clock::DOWNTIME_COUNTED_MAX;
pub use memory::Memory;
pub use metered::{MeteredStore, StoreMetrics};
pub use postgres::{Database, LeaseClock, Postgres, PostgresOptions, SqlParameter, StoreKey};
pub use reads::{
    ConversationPlace, ConversationSummary, DeliveryAttempts, PoolLoad, QueuedDelivery, StoreLoad, StoreOverview,
    StoreReads, TaskSummary, conversation_reference, reference,
};
pub use sqlite::{SCHEMA_VERSION, Sqlite, SqliteOptions, copy_database, schema_version};
