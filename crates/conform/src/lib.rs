//! This crate asks a server whether it keeps the rules of what it speaks, from the outside and whoever made it:
//! AGTP (AGTP-API 13.1 and what it leans on), Mentionable REST and its discovery, hubs of A2A, NLWeb and MCP.
//!
//! It knows the wires as a stranger does. Nothing of the servers in this workspace is used, so that a mistake they
//! make is not made here too; `tidy.rs` checks that no protocol's crate is imported.
//!
//! | module | holds |
//! |---|---|
//! | [`check`] | what a check is, and what may come of one |
//! | `evidence.rs` | what shows whether a rule is kept |
//! | [`agtp`] | the checks of AGTP, by section, and a client that also sends what no other would |
//! | [`web`] | those of the protocols over HTTP |
//! | [`offer`] | what it is to have found a protocol, without which it is not judged |
//! | [`suite`] | each protocol looked for, and the checks of those that are there |
//! | [`run`] | one check after the other, within bounds of time |
//! | [`report`] | what was found, in each form of a report |
//! | [`target`] | the way to the server that somebody named |
//! | [`tls`] | versions of TLS, and certificates |
//! | [`tester`] | a whole run |
//! | [`shown`] | what of an exchange may be shown |
//! | [`limits`] | every bound, with its unit |

pub mod agtp;
pub mod check;
mod document;
mod evidence;
pub mod limits;
pub mod offer;
pub mod report;
pub mod run;
pub mod shown;
pub mod suite;
pub mod target;
pub mod tester;
pub mod tls;
pub mod web;

pub use agtp::Caller;
