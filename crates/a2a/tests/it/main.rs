//! A2A, from both sides: what this host serves, and what it hears of others.

mod attach;
mod backend;
mod card;
mod discovery;
mod follow;
mod fronted;
mod hub;
mod peer;
mod receiver;
