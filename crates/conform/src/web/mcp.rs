//! This module asks hosts that speak MCP over streamable HTTP: the revisions that begin with `initialize`, and the newest
//! one, which has no sessions.
//!
//! | file | holds |
//! |---|---|
//! | `call.rs` | requests and their answers, whatever the revision |
//! | `session.rs` | checks of sessions: 2025-11-25 and before |
//! | `stateless.rs` | checks of requests without a session: 2026-07-28 |
//! | `tools.rs`, `resources.rs`, `prompts.rs` | checks of what both have |

mod call;
mod prompts;
mod resources;
mod session;
mod stateless;
mod tools;

pub(super) use session::SessionServer;
pub(super) use stateless::StatelessServer;
