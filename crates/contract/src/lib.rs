//! The contract layer of AGTP-API: endpoints, their rules, and the one function that holds every
//! call to them. It knows no socket and no status number; the wire spells what is decided here.
//!
//! Written against draft-hood-agtp-api-01; sections in the docs are that document's.
//!
//! | module | sections | holds |
//! |---|---|---|
//! | [`catalog`] | 3.1, 4, 14 | the vocabulary of verbs; suggestions; what a newer one would break |
//! | [`method`] | 3.2 | one capital word |
//! | [`path`] | 5.1 to 5.4 | the grammar of paths, and templates |
//! | [`scope`] | 6.4 | what a caller may do |
//! | [`schema`] | 6.4, 13.3 | Draft 2020-12 with bounds |
//! | [`limits`] | | every bound, with its unit |

pub mod catalog;
pub mod deprecation;
pub mod limits;
pub mod method;
pub mod path;
pub mod schema;
pub mod scope;

pub use catalog::Catalog;
pub use method::Method;
pub use path::{RequestPath, Template};
pub use schema::{Schema, Violation};
pub use scope::{Scope, ScopeSet};
