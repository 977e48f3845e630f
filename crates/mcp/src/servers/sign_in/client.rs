//! Who this host is at an authorization server, as the operator has registered it there.

use forecourt_identity::sessions::hash;
use forecourt_oidc::delegated::Registration;

/// A client that is registered at one authorization server, and is nobody at any other.
#[derive(Clone)]
pub(in crate::servers) struct ConfiguredClient {
    issuer: String,
    registration: Registration,
}

impl ConfiguredClient {
    /// The client of this name at `issuer`. Without a secret it is a public one.
    pub(super) fn new(issuer: String, id: String, secret: Option<String>) -> Self {
        Self { issuer, registration: Registration::configured(id, secret) }
    }

    /// Who this host is at `issuer`. `None` for any server but its own, which is told neither name nor secret.
    pub(super) fn at(&self, issuer: &str) -> Option<&Registration> {
        (self.issuer == issuer).then_some(&self.registration)
    }

    /// A hash of its secret, by which it is known that another one was configured, wherever it stands.
    pub(in crate::servers) fn secret_hash(&self) -> Option<String> {
        self.registration.client_secret.as_deref().map(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_shown_to_its_own_server_alone() {
        let client = ConfiguredClient::new("https://id.example".to_owned(), "us".to_owned(), Some("hush".to_owned()));
        assert_eq!(client.at("https://id.example").map(|own| own.client_id.as_str()), Some("us"));
        for other in ["https://evil.example", "https://id.example/", "https://id.example.evil.example", ""] {
            assert!(client.at(other).is_none(), "{other}");
        }
    }
}
