//! Discovery, from both sides: what this host publishes, and what it believes of others.

mod card;
mod directory;
mod elsewhere;
mod keys;
mod publish;
mod resolver;
mod support;
mod validate;
mod webfinger;
