//! An OpenID provider, and a person who is sent there and comes back: the relying party's side of OpenID Connect Core
//! 1.0, with the authorization code flow, PKCE and nothing else.
//!
//! Who may do what by it, what a session is and where a person comes back to is each user's own: people who sign in to
//! talk to agents, and operators who log in to the console. Neither is named here.
//!
//! | file | holds |
//! |---|---|
//! | `client.rs` | who we are at the provider, and which issuers can be one |
//! | `flow.rs` | a sign-in on its way: what must be known again when the browser comes back |
//! | `provider.rs` | the way there and back, whole |
//! | `discovery.rs` | what the provider says of itself, and its keys |
//! | `tokens.rs` | a code for tokens |
//! | `token_request.rs` | a request to a token endpoint, in which we prove who we are |
//! | `id_token.rs` | what of a token of the provider's must hold |
//! | `user_info.rs` | what the provider says of a person beside the ID token |
//! | `exchange.rs` | requests to the provider, through the guarded way out |
//! | `claims.rs` | what the provider says of a person, read with care |
//! | [`delegated`] | somebody else's resource, at which a person lets this host act |
//! | `limits.rs`, `error.rs`, `report.rs` | every bound, with its unit; what can go wrong, and how that is logged |

mod claims;
mod client;
pub mod delegated;
mod discovery;
mod error;
mod exchange;
mod flow;
mod id_token;
pub mod limits;
mod provider;
mod report;
mod token_request;
mod tokens;
mod user_info;

pub use claims::verified_address;
pub use client::{ClientSettings, check_issuer, usual_scopes, with_openid};
pub use error::OidcError;
pub use flow::{Flow, SignInStart};
pub use provider::{IdentifiedPerson, Provider, SignInPrompt};
