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
//! | [`scope`] | 6.4 | what a caller may do, from the core |
//! | [`schema`] | 6.4, 13.3 | Draft 2020-12 with bounds |
//! | [`semantic`] | 7 | what an endpoint means |
//! | [`endpoint`] | 6, 8.9, 12, 13.2 | definitions, the rules of registration, files, the projection |
//! | [`reserved`] | 5.9, 6.1 | what the host answers itself |
//! | [`policy`] | 3.3, 3.6, 9 | which methods are let in, and under which name |
//! | [`meaning`] | | corrections of what members mean |
//! | [`recipe`] | 10.5, 12.1 | calls made of calls, as data and as a value that is stepped |
//! | [`negotiation`] | 6.1, 10.1 | the seam for contracts that are made while serving |
//! | [`registry`] | 5.4 | which endpoint a call is for |
//! | [`input`] | 5.3, 5.5 | one input out of query, path and body |
//! | [`call`], [`refusal`] | 6.1, 11 | what is asked, and why it is not answered |
//! | [`dispatch`] | 6.1, 13.2 | the order of checks, in one function |
//! | [`handler`] | 12 | the trait of what answers |
//! | [`host`] | | the way back to the host for what lies inside it |
//! | [`limits`] | | every bound, with its unit |

mod agreement;
pub mod call;
pub mod catalog;
mod definition_problem;
pub mod deprecation;
pub mod dispatch;
pub mod endpoint;
pub mod handler;
pub mod input;
pub mod limits;
pub mod meaning;
pub mod method;
pub mod negotiation;
pub mod path;
pub mod policy;
pub mod recipe;
pub mod refusal;
pub mod registry;
pub mod reserved;
pub mod schema;
pub mod semantic;

pub use call::{Call, CallAnswer, CallOutcome, Caller, Tier};
pub use catalog::Catalog;
pub use dispatch::host;
pub use dispatch::{CallTarget, DispatchedCall, Dispatcher, Native, RoutedCall, Rules};
pub use endpoint::{Endpoint, PublishedEndpoint};
pub use forecourt_core::scope::{self, Scope, ScopeSet};
pub use handler::{Failure, Handler, Invocation};
pub use host::{Current, HostApi, HostHandle, HostServices};
pub use meaning::Meanings;
pub use method::Method;
pub use negotiation::{ContractRefusal, Negotiation};
pub use path::{RequestPath, Template};
pub use policy::MethodPolicy;
pub use recipe::{Recipe, RecipeBook};
pub use refusal::Refusal;
pub use registry::Registry;
pub use schema::{Schema, Violation};
pub use semantic::Semantic;
