//! The table `sign_in` of a server.

use std::path::PathBuf;

use forecourt_agents::Context;
use forecourt_oidc::check_issuer;
use forecourt_settings::{Problems, Section, client_secret};
use http::header::AUTHORIZATION;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use super::client::ConfiguredClient;
use crate::limits::SCOPES_MAX;
use crate::upstream::target::Target;

const KEY: &str = "sign_in";

/// Each person signs in at the server once, on a page of this host, and the server is asked with that person's token
/// from then on. It needs `[identity.oidc]`, by which people are known here. `{}` is enough where the server's
/// authorization server registers clients by itself.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::servers) struct SignInSettings {
    /// Who this host is to the authorization server `issuer`, which has to be named with it. Default: it registers
    /// itself (RFC 7591).
    client_id: Option<String>,
    /// The secret that goes with `client_id`, such as `"${FAR_SECRET}"`. Left out, or `client_secret_file`, it is a
    /// public client.
    client_secret: Option<String>,
    /// A file with the secret, relative to the deployment folder.
    client_secret_file: Option<PathBuf>,
    /// The authorization server, of those that the server names (RFC 9728). Default: the first.
    issuer: Option<String>,
    /// The scopes to ask for, at most 50. Default: those that the server names.
    #[serde(default)]
    scopes: Vec<String>,
}

/// The same, checked.
#[derive(Clone)]
pub(in crate::servers) struct CheckedSignIn {
    pub(super) resource: Url,
    pub(super) issuer: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(in crate::servers) client: Option<ConfiguredClient>,
}

impl SignInSettings {
    /// Checks the table of a server at `target`. `None` where something is wrong, which is in `problems`.
    pub(in crate::servers) fn check(
        self,
        target: Option<&Target>,
        section: &Section,
        context: &Context,
        problems: &mut Problems,
    ) -> Option<CheckedSignIn> {
        let before = problems.len();
        let mut wrong = |words: String| problems.push(section.problem(Some(KEY), words));
        let resource = resource(target, &mut wrong);
        let given = client_secret(self.client_secret, self.client_secret_file.as_deref(), &context.folder);
        let secret = given.unwrap_or_else(|(_, reason)| {
            wrong(format!("{reason} in `sign_in`"));
            None
        });
        if secret.is_some() && self.client_id.is_none() {
            wrong("a secret in `sign_in` needs the `client_id` that it goes with".to_owned());
        }
        if self.client_id.as_deref() == Some("") {
            wrong("`client_id` in `sign_in` must not be empty".to_owned());
        }
        // The server says where people sign in: one that was taken over would name a place that collects secrets.
        if self.client_id.is_some() && self.issuer.is_none() {
            wrong(
                "`client_id` in `sign_in` needs the `issuer` where it is registered, so that no other issuer learns it"
                    .to_owned(),
            );
        }
        if let Some(Err(why)) = self.issuer.as_deref().map(check_issuer) {
            wrong(format!("`issuer` in `sign_in` {why}"));
        }
        if self.scopes.len() > SCOPES_MAX {
            wrong(format!("`scopes` in `sign_in` has at most {SCOPES_MAX}"));
        }
        let resource = resource.filter(|_| problems.len() == before)?;
        let known_at = self.client_id.zip(self.issuer.clone());
        let client = known_at.map(|(id, issuer)| ConfiguredClient::new(issuer, id, secret));
        Some(CheckedSignIn { resource, issuer: self.issuer, scopes: self.scopes, client })
    }
}

/// The address of the server that people sign in for.
fn resource(target: Option<&Target>, wrong: &mut impl FnMut(String)) -> Option<Url> {
    match target? {
        Target::Url { url, headers } => {
            if headers.contains_key(AUTHORIZATION) {
                wrong("`Authorization` in `headers` and `sign_in` exclude each other".to_owned());
            }
            Url::parse(url).ok()
        }
        Target::Program(_) => {
            wrong("`sign_in` needs `url`: a program is shown no token".to_owned());
            None
        }
    }
}
