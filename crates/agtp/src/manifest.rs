//! The manifest: what this server is, what can be called on it, and by which rules. AGTP-API 8.
//!
//! | file | holds |
//! |---|---|
//! | `document.rs` | the document, field by field |
//! | `methods.rs` | what it says of the eighteen methods of the floor |
//! | `revision.rs` | which edition it is, counted and kept |
//! | `edition.rs` | the bytes that callers get, signed and tagged |
//! | `publisher.rs` | the edition in force, made anew when something changed |

mod document;
mod edition;
mod methods;
mod publisher;
mod revision;

pub(crate) use edition::View;
pub(crate) use methods::metric_label;
pub(crate) use publisher::Publisher;
