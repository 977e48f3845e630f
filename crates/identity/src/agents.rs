//! Who agents are: those that live here, and those of elsewhere that the operator knows.
//!
//! An agent is named by the hash of its [`Genesis`](crate::genesis::Genesis) and described by an
//! [`AgentDocument`]. Both are files of the deployment; for an agent that has neither, a genesis document is made
//! at its first start and kept in the data folder. AGTP base 6.1 to 6.5; AGTP-API 5.8.1, 5.8.2.
//!
//! | file | holds |
//! |---|---|
//! | `load.rs` | from a deployment's folders to [`KnownAgents`], with notices of what was left out |
//! | `made.rs` | genesis documents made for those who have none |
//! | `resident.rs` | who an agent is that lives here |
//! | `home.rs` | where those files are |
//! | `identity.rs` | one agent: name, documents, standing, what it may do |
//! | `document.rs` | the identity document: read, checked, written and signed |
//! | `describe.rs` | what the document of an agent that lives here says |
//! | `settings.rs` | what an agent's own file says about its identity |
//! | `agreed.rs` | genesis documents that several nodes must have in common |
//! | `files.rs` | identity files, read with bounds |
//! | `packed.rs` | documents as they are held |
//! | `known.rs` | all agents that are known, by name |

mod agreed;
mod describe;
mod document;
mod files;
mod home;
mod identity;
mod known;
mod load;
mod made;
mod packed;
mod resident;
mod settings;

pub use agreed::{adopt_genesis, kept_genesis};
pub use describe::Current;
pub use document::{AgentDocument, AgentDocumentError, Issuer};
pub use files::{IdentityNotice, Severity};
pub use home::AgentHome;
pub use identity::AgentIdentity;
pub use known::KnownAgents;
pub use load::load;
pub use packed::{PackedDocument, PackedGenesis};
pub use settings::AgentIdentitySettings;

#[cfg(test)]
mod tests;
