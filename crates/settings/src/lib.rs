//! From text to settings: every problem names its file, its line and what would be right.
//!
//! A file is parsed once into a [`Section`] that remembers where each value stands. Whoever owns a
//! section (a protocol, a backend, the store) turns it into its own type with [`Section::read`];
//! nobody reaches into a global for a setting. Unknown keys are errors with the nearest valid key,
//! `${VAR}` comes from the environment, `${file:PATH}` from a file and `${credential:NAME}` from systemd; what came
//! from there is never shown in an error. `FORECOURT__TABLE__KEY` in the environment goes before a file's key
//! ([`Section::override_from`]).
//!
//! A key that changes its name or its section is taken under the old one for one release
//! ([`Section::accept_moved`]); [`rewrite`] writes the new one into the file.

mod client_secret;
mod docs;
mod environment;
mod error;
pub mod files;
mod fix;
mod lines;
mod moved;
mod overrides;
mod place;
mod section;
mod source;
mod traced;
mod tree;
mod words;

pub use client_secret::client_secret;
pub use docs::{DocumentedSection, KeyReference, Reference, document};
pub use environment::{Environment, ProcessEnvironment, SECRET_FILE_BYTES_MAX};
pub use error::{PROBLEMS_MAX, Problem, Problems};
pub use fix::rewrite;
pub use moved::{KeyMove, MovedKey};
pub use overrides::{EnvironmentOverride, OVERRIDE_PREFIX, OVERRIDES_MAX};
pub use section::{JsonProblem, Section, from_json, nearest, schema_of_both};
