//! People sign in: at an OpenID provider, with a browser, for the pages of this host. OpenID Connect Core 1.0,
//! PolicyPart 3.3.1, Mentionable REST 7.2.
//!
//! | file | holds |
//! |---|---|
//! | `surface.rs` | the routes; the only file that knows the web framework |
//! | `sign_in.rs` | to the provider and back: `/sign-in`, `/sign-in/callback` |
//! | `sign_out.rs` | `/sign-out` |
//! | `account.rs` | `/account`: what was agreed to and paid, and taking it back |
//! | `attempt.rs` | a sign-in on its way: kept for one use, and the cookie that binds it to a browser |
//! | `provider.rs` | where people sign in, and who they are there |
//! | `person.rs` | claims into somebody who may sign in |
//! | `return_to.rs` | where a person comes back to |
//! | `visit.rs` | one request of a browser |
//! | `answer.rs`, `error.rs` | pages and redirects; what can go wrong |
//!
//! What goes to the provider and back is in `forecourt_oidc`; what a session is, and on which requests its cookie
//! counts, is in `forecourt_identity::sessions`. The state that
//! the provider carries is our own and stands for one sign-in; a Mentionable `state` never leaves this host, since
//! where a person comes back to is kept here (PolicyPart 3.3.4, OIDC interop note).

mod account;
mod answer;
mod attempt;
mod error;
pub mod limits;
mod person;
mod provider;
mod return_to;
mod sign_in;
mod sign_out;
mod surface;
mod visit;

use std::sync::Arc;

use forecourt_host::Host;
use forecourt_identity::Verifier;
use forecourt_pages::Pages;
use forecourt_surface::{HttpRoutes, Mount};

use provider::PeopleProvider;

/// What these routes are called in metrics.
pub const NAME: &str = "sign-in";

/// Signing in, made once at start.
pub(crate) struct SignIn {
    host: Arc<Host>,
    verifier: Arc<Verifier>,
    /// How its pages look.
    pages: Arc<Pages>,
    /// `None` where nobody signs in.
    provider: Option<PeopleProvider>,
}

/// The routes on which people sign in and out, and see what they agreed to. Without `[identity.oidc]` only the last
/// one has a page, for browsers that keep consents.
pub fn routes(mount: &Mount) -> HttpRoutes {
    let settings = mount.verifier.sessions().and(mount.verifier.oidc());
    let provider = settings.map(|settings| PeopleProvider::new(settings.clone(), mount.egress.clone()));
    let (host, verifier, pages) = (mount.host.clone(), mount.verifier.clone(), mount.pages.clone());
    surface::routes(SignIn { host, verifier, pages, provider })
}
