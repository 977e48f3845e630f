//! A person lets this host act at somebody else's resource: the client's side of OAuth 2.1, with discovery by the
//! resource (RFC 9728), PKCE (RFC 7636), tokens for that resource alone (RFC 8707) and nothing else.
//!
//! What is kept of it, and for whom, is the user's own.
//!
//! | file | holds |
//! |---|---|
//! | `resource.rs` | the resource, and the way to a token for it, whole |
//! | `metadata.rs` | what the resource and its authorization server say of themselves |
//! | `registration.rs` | who this host is there: configured, or registered by itself (RFC 7591) |
//! | `tokens.rs` | a code or a refresh token for tokens, and their end |

mod metadata;
mod registration;
mod resource;
mod tokens;

pub use metadata::AuthorizationServer;
pub use registration::Registration;
pub use resource::{DelegatedFlow, DelegatedResource, DelegationSettings, DelegationStart};
pub use tokens::{DelegatedTokens, TokenError};
