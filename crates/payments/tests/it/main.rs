//! What the crate promises, from the outside.

mod carriers;
mod crawl;
mod facilitator;
mod quote;
mod scheme;
mod units;
