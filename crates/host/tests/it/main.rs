//! The host, driven as protocols drive it.

mod conversations;
mod deliver;
mod invoke;
mod limits;
mod once;
mod patient;
mod queue;
mod receive;
mod standing;
mod stored;
mod support;
mod tasks;
mod tracked;
