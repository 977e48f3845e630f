//! Where clients learn who gives out tokens for this host. RFC 9728.

use std::time::Duration;

use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::{Handle, PolicyPart};
use forecourt_host::{Host, Site};
use forecourt_identity::Verifier;
use forecourt_surface::document::{DocumentError, ServedDocument};
use forecourt_surface::endpoint;
use serde_json::json;

use crate::target::{PATH, path_of};

/// Where the metadata of the resource at a path is: this, then the path.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// How long others may keep it.
const FRESH: Duration = Duration::from_secs(300);

/// The metadata of an endpoint, when issuers of tokens are configured.
pub(crate) fn document(
    host: &Host,
    site: &Site,
    verifier: &Verifier,
    agent: Option<&Handle>,
) -> Result<ServedDocument, DocumentError> {
    let issuers: Vec<&str> = verifier.token_issuers().map(|issuer| issuer.issuer).collect();
    if issuers.is_empty() {
        return Err(DocumentError::Absent("nobody gives out tokens for this host; no token is needed"));
    }
    let mut metadata = json!({
        // To the letter what clients were told to connect to.
        "resource": site.url(&path_of(agent)),
        "resource_name": site.name,
        "authorization_servers": issuers,
        "bearer_methods_supported": ["header"],
    });
    // Endpoints with a contract are the host's; agents need no scopes.
    let scopes = if agent.is_none() { endpoint::scopes(host.contract()) } else { Vec::new() };
    if !scopes.is_empty() {
        metadata["scopes_supported"] = json!(scopes);
    }
    ServedDocument::json("application/json", FRESH, &metadata)
}

/// A refusal whose challenge leads to the metadata. RFC 9728 5.1.
pub(crate) fn challenging(part: PolicyPart, site: &Site, verifier: &Verifier, agent: Option<&Handle>) -> PolicyPart {
    let RefusalKind::Unauthorized { auth_challenges } = part.kind else { return part };
    let known = verifier.token_issuers().next().is_some();
    let url = site.url(&format!("{WELL_KNOWN}{}", path_of(agent)));
    let leading = |challenge: AuthChallenge| match known && challenge.scheme.eq_ignore_ascii_case("bearer") {
        true => challenge.with("resource_metadata", &url),
        false => challenge,
    };
    let auth_challenges = auth_challenges.into_iter().map(leading).collect();
    PolicyPart { kind: RefusalKind::Unauthorized { auth_challenges }, ..part }
}

/// The endpoint whose metadata is asked for: at the root that of the host.
pub(crate) fn of_path(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(WELL_KNOWN)?;
    Some(if matches!(rest, "" | "/") { PATH } else { rest })
}
