//! The backends: what they are told, and what comes of it.

mod command;
mod concurrent;
mod echo;
mod going_on;
mod http;
mod model;
mod noting;
mod production;
mod real_llm;
mod reference;
mod schema;
mod script;
mod siblings;
mod support;
