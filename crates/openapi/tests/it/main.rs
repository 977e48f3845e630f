//! The crate from outside: documents in, files out, and back.

mod access;
mod again;
mod calls;
mod choices;
mod exported;
mod found;
mod hostile;
mod judged;
mod older_and_newer;
mod schemas;
mod styles;
mod support;
mod tools;
mod verbs;
mod workshop;
