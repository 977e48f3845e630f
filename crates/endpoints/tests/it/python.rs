//! Functions in Python, with a real interpreter. Section 12.2.
#![allow(missing_docs)]

mod calls;
mod edits;
mod faults;
mod log;
mod manual;
mod registration;
mod support;
