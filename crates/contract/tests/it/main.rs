//! One file per chapter of the specification, one test per rule.
#![allow(missing_docs)]

mod hostile;
mod s11_refusals;
mod s12_handlers;
mod s12_recipes;
mod s13_dispatch;
mod s13_schema;
mod s5_input;
mod s5_paths;
mod s5_registry;
mod s6_endpoints;
mod s6_files;
mod s6_scopes;
mod s7_semantic;
mod s9_policy;
mod support;
