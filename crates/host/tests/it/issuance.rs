//! What callers are asked to do first: issued once, done once, used once. PolicyPart 3.3.3, 3.3.4, 5.

mod consent;
mod payment;
mod support;
