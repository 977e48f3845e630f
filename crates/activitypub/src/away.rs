//! Servers that can't be reached: left alone for a while, so that what is due there does not keep others waiting.

use forecourt_core::Timestamp;
use moka::sync::Cache;

use crate::limits::{AWAY_AFTER, AWAY_FOR, SERVERS_MAX};

/// The servers that could not be reached lately.
pub(crate) struct AwayServers(Cache<String, AwayServer>);

#[derive(Clone, Copy)]
struct AwayServer {
    /// Attempts that failed, one after the other.
    failures: u32,
    last_at: Timestamp,
}

impl Default for AwayServers {
    fn default() -> Self {
        Self(Cache::new(SERVERS_MAX as u64))
    }
}

impl AwayServers {
    /// Whether a server is left alone at `now`.
    pub(crate) fn has(&self, server: &str, now: Timestamp) -> bool {
        self.0.get(server).is_some_and(|away| {
            let until = away.last_at.checked_add(AWAY_FOR).unwrap_or(now);
            // A clock that was set back begins anew.
            away.failures >= AWAY_AFTER && (away.last_at..until).contains(&now)
        })
    }

    /// A server could not be reached.
    pub(crate) fn failed(&self, server: &str, now: Timestamp) {
        let failures = self.0.get(server).map_or(0, |away| away.failures).saturating_add(1);
        self.0.insert(server.to_owned(), AwayServer { failures, last_at: now });
    }

    /// It answered.
    pub(crate) fn answered(&self, server: &str) {
        self.0.invalidate(server);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_left_alone_after_a_few_failures_in_a_row_and_only_for_a_while() {
        let (servers, now) = (AwayServers::default(), Timestamp::from_second(1_000_000).unwrap());
        let end = now.checked_add(AWAY_FOR).unwrap();
        (1..AWAY_AFTER).for_each(|_| servers.failed("a.example", now));
        assert!(!servers.has("a.example", now));
        servers.failed("a.example", now);
        assert!(servers.has("a.example", now) && !servers.has("b.example", now));
        assert!(!servers.has("a.example", end));
        // It is tried, and is away still.
        servers.failed("a.example", end);
        assert!(servers.has("a.example", end));
        servers.answered("a.example");
        servers.failed("a.example", end);
        assert!(!servers.has("a.example", end), "it begins anew");
    }
}
