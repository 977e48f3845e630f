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
//! | `provider.rs` | what the provider says of itself, and of a person |
//! | `exchange.rs` | the library's requests through the guarded way out |
//! | `claims.rs` | what the provider says of a person, read with care |
//! | `limits.rs`, `error.rs` | every bound, with its unit; what can go wrong |

mod claims;
mod client;
mod error;
mod exchange;
mod flow;
pub mod limits;
mod provider;

pub use claims::verified_address;
pub use client::{ClientSettings, check_issuer, usual_scopes, with_openid};
pub use error::OidcError;
pub use flow::{Begun, Flow};
pub use provider::{Identified, Provider, SignInPrompt};
