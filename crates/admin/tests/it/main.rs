//! The operator's surface in memory, with a clock that is set by hand, and a provider that says what it should not. The
//! whole program, a certified provider and a browser are in the tests of the command line.

mod alerts;
mod desk;
mod editor;
mod login;
mod roles;
mod search;
mod sessions;
