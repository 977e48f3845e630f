//! A sign-in at a server behind this host that is done once for a person and kept: the host asks the server with that
//! person's token from then on.
//!
//! | what | module |
//! |---|---|
//! | the table `sign_in` of a file | `settings` |
//! | who this host is at an authorization server, as configured | `client` |
//! | tokens of people: shown, refreshed, forgotten | `broker`, `refresh` |
//! | what is kept of them, sealed | `kept` |
//! | what callers and people are told | `refusals`, `failure` |
//! | where its pages are, which [`crate::sign_in_pages`] has | `paths` |
//!
//! A token belongs to one person, one server and one address of that server. Only the person's own browser can begin
//! and end a sign-in: the link to it holds no secret, and whoever opens it signs in for themselves.

mod broker;
mod client;
mod failure;
mod kept;
mod paths;
mod refresh;
mod refusals;
mod settings;

pub(crate) use broker::Broker;
pub(crate) use failure::SignInFailure;
pub(crate) use paths::{CALLBACK, FORGET, PAGE, forget_path, page_path};
pub(super) use settings::{CheckedSignIn, SignInSettings};
