//! What the crate promises, from the outside.

mod carriers;
mod facilitator;
mod scheme;
mod units;
