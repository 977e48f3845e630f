//! The host, driven as protocols drive it.

mod deliver;
mod invoke;
mod limits;
mod patient;
mod receive;
mod support;
mod tasks;
mod threads;
mod tracked;
