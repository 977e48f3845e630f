//! One file per chapter of the specification, one test per rule.
#![allow(missing_docs)]

mod hostile;
mod s13_schema;
mod s5_paths;
mod s6_scopes;
