//! From text to settings: every problem names its file, its line and what would be right.
//!
//! A file is parsed once into a [`Section`] that remembers where each value stands. Whoever owns a
//! section (a protocol, a backend, the store) turns it into its own type with [`Section::read`];
//! nobody reaches into a global for a setting. Unknown keys are errors with the nearest valid key,
//! `${VAR}` comes from the environment.

mod docs;
mod error;
mod section;

pub use docs::{Documented, Reference, document};
pub use error::{Problem, Problems};
pub use section::{Environment, Section};
