//! The keys of agents that sign their requests. REST 7.2 leaves open how a key is found: by the
//! address or the card URL in `keyid`.

use forecourt_core::{Domain, Timestamp};
use forecourt_identity::{FoundKeys, KeyDirectory, KeyId, ProofError};
use futures::future::BoxFuture;
use url::Url;

use super::super::acct::Acct;
use super::super::names::CARDS_PATH;
use super::{HTTPS_PORT, Resolver};

impl KeyDirectory for Resolver {
    fn find<'a>(&'a self, id: &'a KeyId, now: Timestamp) -> BoxFuture<'a, Result<FoundKeys, ProofError>> {
        Box::pin(self.keys_of(id, now))
    }
}

impl Resolver {
    async fn keys_of(&self, id: &KeyId, now: Timestamp) -> Result<FoundKeys, ProofError> {
        let (acct, port) = match id {
            KeyId::Agent(address) => (Acct::from(address), HTTPS_PORT),
            KeyId::Card(url) => owner_of_card(url).ok_or(ProofError::UnknownKey)?,
        };
        let agent = self.resolve_at(&acct, port).await.map_err(|error| {
            tracing::debug!(%error, "the keys of an agent can't be found");
            if error.is_transient() { ProofError::KeysUnavailable } else { ProofError::UnknownKey }
        })?;
        // Whoever claims a card must be led to that card by the domain of its address.
        if matches!(id, KeyId::Card(url) if !is_same(url, &agent.card_url)) {
            return Err(ProofError::UnknownKey);
        }
        let address = acct.to_address().ok_or(ProofError::UnknownKey)?;
        Ok(FoundKeys { address, keys: agent.keys(now).ok_or(ProofError::UnknownKey)? })
    }
}

/// Whose card is at a URL, and the port at which the domain is asked. Agent card 3.
///
/// Another port than 443 counts on this machine only: elsewhere, whoever may listen on some port of
/// a domain does not yet speak for it.
fn owner_of_card(url: &str) -> Option<(Acct, u16)> {
    let url = Url::parse(url).ok()?;
    let domain = Domain::parse(url.host_str()?).ok()?;
    let port = url.port_or_known_default().filter(|_| domain.is_local()).unwrap_or(HTTPS_PORT);
    let acct = Acct::new(url.path().strip_prefix(CARDS_PATH)?, domain).ok()?;
    Some((acct, port))
}

fn is_same(one: &str, other: &str) -> bool {
    Url::parse(one).is_ok_and(|one| Url::parse(other).is_ok_and(|other| one == other))
}
