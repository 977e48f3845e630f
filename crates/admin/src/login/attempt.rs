//! A login on its way, kept in the store for one use: it may come back to any node.

use forecourt_host::Host;
use forecourt_oidc::{Flow, SignInStart};
use serde::{Deserialize, Serialize};

use super::until;
use crate::api_error::ApiError;
use crate::secret::hashed;
use crate::sessions::OWNER;

/// Characters of a state's hash that name its cookie.
const MARK_CHARS: usize = 12;

/// What is kept beside the way to the provider.
#[derive(Serialize, Deserialize)]
pub(super) struct LoginState {
    /// Where it leads.
    pub(super) next: String,
    /// The mark of the provider at which it was begun.
    pub(super) provider: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Begun { kept: LoginState, flow: Flow },
    Used,
}

/// Begins one.
pub(super) async fn begin(host: &Host, kept: LoginState) -> Result<SignInStart, ApiError> {
    let begun = Flow::begin(&**host.entropy());
    let body = serde_json::to_value(Entry::Begun { kept, flow: begun.flow.clone() }).unwrap_or_default();
    let until = until(host.clock().now());
    // `Some(0)`: only as the first entry of its stream.
    host.ledger(OWNER).append(&stream(&begun.state), body, Some(until), Some(0)).await?;
    Ok(begun)
}

/// Uses up the one that a state names: of all who try, one gets it.
pub(super) async fn take(host: &Host, state: &str) -> Result<Option<(LoginState, Flow)>, ApiError> {
    // What can't be a state asks nothing of the store.
    if !forecourt_core::ids::is_token(state) {
        return Ok(None);
    }
    let (ledger, stream) = (host.ledger(OWNER), stream(state));
    let Some((number, entry)) = ledger.last(&stream).await? else { return Ok(None) };
    let Ok(Entry::Begun { kept, flow }) = serde_json::from_value(entry.body) else { return Ok(None) };
    let used = serde_json::to_value(Entry::Used).unwrap_or_default();
    // Kept exactly as long as the entry before it: if it lapsed first, the login could be used once more.
    let is_ours = ledger.append(&stream, used, entry.expires_at, Some(number)).await?.is_some();
    Ok(is_ours.then_some((kept, flow)))
}

/// What the cookie of a state is called by: it says nothing of the state.
pub(super) fn mark(state: &str) -> String {
    hashed(state).chars().take(MARK_CHARS).collect()
}

fn stream(state: &str) -> String {
    format!("login:{}", hashed(state))
}
