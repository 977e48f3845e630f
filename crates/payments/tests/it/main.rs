//! What the crate promises, from the outside.

mod ap2;
mod card;
mod carriers;
mod crawl;
mod facilitator;
mod quote;
mod scheme;
mod units;
