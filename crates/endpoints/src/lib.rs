//! What answers endpoints: compositions, functions and services elsewhere. Draft-hood-agtp-api-01
//! section 12.

pub mod function;

pub use function::{FunctionFault, FunctionSource, Functions};
