//! The backends that come with the crate: what they are told, and what comes of it.

mod command;
mod echo;
mod http;
mod script;
mod support;
