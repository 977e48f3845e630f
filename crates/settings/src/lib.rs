//! From text to settings: every problem names its file, its line and what would be right.
//!
//! A file is parsed once into a [`Section`] that remembers where each value stands. Whoever owns a
//! section (a protocol, a backend, the store) turns it into its own type with [`Section::read`];
//! nobody reaches into a global for a setting. Unknown keys are errors with the nearest valid key,
//! `${VAR}` comes from the environment, and what came from there is never shown in an error.

mod docs;
mod error;
pub mod files;
mod read;
mod section;
mod source;
mod tree;

pub use docs::{Documented, KeyReference, Reference, document};
pub use error::{PROBLEMS_MAX, Problem, Problems};
pub use section::{Environment, ProcessEnvironment, Section};
