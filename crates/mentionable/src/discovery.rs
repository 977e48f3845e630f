//! How agents are found: by address, by card, by the directory of their domain. Both sides of it.
//!
//! | part of the specification | file |
//! |---|---|
//! | identifiers, and the names that they had before | `names.rs` |
//! | WebFinger 2.1: addresses as others write them | `acct.rs` |
//! | WebFinger 2.2, 2.3 (RFC 7033) | `webfinger.rs` |
//! | agent card | `card.rs` |
//! | agent card, `validateAgentCard` | `validate.rs` |
//! | agent directory | `directory.rs` |
//! | the fields of all these, in their order | `wire.rs` |
//! | the paths | `surface.rs` |
//! | hosts of addresses | `https_host.rs` |
//! | WebFinger 2.4: finding agents elsewhere | `resolver/` |

mod acct;
mod card;
mod directory;
mod https_host;
pub mod limits;
pub mod names;
mod resolver;
mod surface;
mod validate;
mod webfinger;
mod wire;

pub use acct::Acct;
pub use directory::json_ld;
pub use resolver::{
    DirectoryAgent, DirectoryListing, Obstacle, ResolveError, ResolveSource, ResolvedAgent, Resolver,
    get_canonical_host,
};
pub use surface::{documents, key_directory, routes};
pub use validate::{CardError, CardProblem, ExpectedCard, validate_agent_card};
pub(crate) use webfinger::card_url;
