//! The other side of AGTP: requests to servers anywhere, and the commands of the command line that speak it.
//!
//! | module | holds | serves |
//! |---|---|---|
//! | `commands.rs`, `commands/` | `forecourt agtp`, `manifest` and `genesis` | |
//! | `client.rs`, `client/` | requests to servers elsewhere, over connections that are kept | base 1, 2 |
//! | [`manifest`] | whether a manifest, of anybody's server, keeps the rules | AGTP-API 8, A.3 |
//! | `limits.rs` | every bound of it, with its unit | |

mod client;
mod commands;
mod limits;
pub mod manifest;

pub use commands::COMMANDS;
