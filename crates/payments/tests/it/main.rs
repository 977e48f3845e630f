//! What the crate promises, from the outside.

mod carriers;
mod units;
