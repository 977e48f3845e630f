//! Sessions of older clients: how many there may be, and whose each is. A session's id opens nothing by
//! itself, so it is bound to the caller that began it. Security sheet, section 11.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};

use crate::limits::{SESSION_IDLE, SESSIONS_MAX, SESSIONS_PER_ADDRESS_MAX};

/// Sessions that are open, by the SDK and by us.
pub(crate) struct Sessions {
    pub(crate) manager: Arc<LocalSessionManager>,
    bound: Mutex<HashMap<String, Bound>>,
}

/// Whose a session is.
struct Bound {
    owner: Option<String>,
    address: Option<IpAddr>,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(SESSION_IDLE);
        let mut manager = LocalSessionManager::default();
        manager.session_config = config;
        Self { manager: Arc::new(manager), bound: Mutex::default() }
    }

    /// Whether one more session may begin for `address`.
    pub(crate) async fn has_room(&self, address: Option<IpAddr>) -> bool {
        let open = self.manager.sessions.read().await;
        let mut bound = self.bound.lock();
        bound.retain(|id, _| open.contains_key(id.as_str()));
        let of_address = bound.values().filter(|bound| address.is_some() && bound.address == address).count();
        open.len() < SESSIONS_MAX && of_address < SESSIONS_PER_ADDRESS_MAX
    }

    /// Remembers who began a session.
    pub(crate) fn bind(&self, id: &str, owner: Option<&str>, address: Option<IpAddr>) {
        let bound = Bound { owner: owner.map(str::to_owned), address };
        self.bound.lock().insert(id.to_owned(), bound);
    }

    /// Whether a session is this owner's. One that was begun by nobody in particular may be gone on
    /// with by whoever has its id, and belongs to the first who shows who it is.
    pub(crate) fn is_of(&self, id: &str, owner: Option<&str>) -> bool {
        let mut bound = self.bound.lock();
        let Some(found) = bound.get_mut(id) else { return true };
        match (&found.owner, owner) {
            (None, Some(owner)) => {
                found.owner = Some(owner.to_owned());
                true
            }
            (known, owner) => known.as_deref() == owner,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_its_owners_alone() {
        let sessions = Sessions::new();
        sessions.bind("a", Some("oauth:ann"), None);
        assert!(sessions.is_of("a", Some("oauth:ann")));
        assert!(!sessions.is_of("a", Some("oauth:bob")) && !sessions.is_of("a", None));
    }

    #[test]
    fn nobodys_session_goes_to_the_first_who_signs_in() {
        let sessions = Sessions::new();
        sessions.bind("a", None, None);
        assert!(sessions.is_of("a", None));
        assert!(sessions.is_of("a", Some("oauth:ann")));
        assert!(!sessions.is_of("a", None) && !sessions.is_of("a", Some("oauth:bob")));
    }
}
