//! What the crate promises, from the outside.

mod carriers;
mod facilitator;
mod quote;
mod scheme;
mod units;
