//! A sign-in on its way: what must be known again when the browser comes back. OpenID Connect Core 3.1.2, RFC 7636.
//!
//! The state in the URL names it, and a cookie that only this browser has opens it: so nobody can have somebody else's
//! browser end a sign-in that they began (RFC 9700 4.7). Whoever keeps it keeps it for one use.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::{Entropy, ids};
use serde::{Deserialize, Serialize};

/// What is kept of a sign-in on its way.
#[derive(Clone, Serialize, Deserialize)]
pub struct Flow {
    /// What the ID token must hold.
    pub(crate) nonce: String,
    /// What proves to the provider that whoever exchanges the code asked for it.
    pub(crate) verifier: String,
    /// The hash of what the browser's cookie holds.
    cookie: String,
}

/// A sign-in that has begun: what goes to the provider, what to the browser, and what is kept here.
pub struct SignInStart {
    /// What travels through the provider.
    pub state: String,
    /// What the browser's cookie holds.
    pub cookie: String,
    /// What the host keeps until the browser comes back.
    pub flow: Flow,
}

impl Flow {
    /// Begins one.
    pub fn begin(entropy: &dyn Entropy) -> SignInStart {
        let (state, cookie) = (ids::mint(entropy), ids::mint(entropy));
        let flow = Self { nonce: ids::mint(entropy), verifier: ids::mint(entropy), cookie: hashed(&cookie) };
        SignInStart { state, cookie, flow }
    }

    /// Whether a browser with this cookie began it.
    pub fn is_of(&self, cookie: &str) -> bool {
        verify_slices_are_equal(hashed(cookie).as_bytes(), self.cookie.as_bytes()).is_ok()
    }
}

/// Never prints its secrets.
impl std::fmt::Debug for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Flow")
    }
}

fn hashed(secret: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, secret.as_bytes()))
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::CountedEntropy;

    use super::*;

    #[test]
    fn rfc9700_4_7_only_the_browser_that_began_it_goes_on_with_it() {
        let entropy = CountedEntropy::default();
        let (one, other) = (Flow::begin(&entropy), Flow::begin(&entropy));
        assert!(one.flow.is_of(&one.cookie) && !one.flow.is_of(&other.cookie) && !one.flow.is_of(""));
        let all = [&one.state, &one.cookie, &one.flow.nonce, &one.flow.verifier, &other.state];
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        let kept = serde_json::to_string(&one.flow).unwrap();
        assert!(!kept.contains(&one.cookie) && !format!("{:?}", one.flow).contains(&one.flow.nonce));
    }
}
