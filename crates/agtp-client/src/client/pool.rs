//! Connections that are kept for the next request.

use std::collections::HashMap;

use forecourt_egress::Connection;
use futures::FutureExt;
use parking_lot::Mutex;
use tokio::io::AsyncReadExt;
use tokio::task::unconstrained;
use tokio::time::Instant;

use super::Server;
use crate::limits::{KEPT_MAX, KEPT_PER_SERVER_MAX, KEPT_TIME_MAX};

/// Connections without a request under way, by server. The newest is used first, so that the others
/// grow old and go.
#[derive(Default)]
pub(super) struct Pool {
    kept: Mutex<HashMap<Server, Vec<IdleConnection>>>,
}

struct IdleConnection {
    connection: Connection,
    since: Instant,
}

impl Pool {
    /// A connection to `server` on which nothing has come since it was kept.
    pub(super) fn take(&self, server: &Server) -> Option<Connection> {
        let mut kept = self.kept.lock();
        let here = kept.get_mut(server)?;
        // From the newest on: those that are no good are dropped, and closed by that.
        let found = std::iter::from_fn(|| here.pop()).find_map(|kept| kept.still_good());
        if here.is_empty() {
            kept.remove(server);
        }
        found
    }

    /// Keeps a connection, unless too many are kept already.
    pub(super) fn keep(&self, server: &Server, mut connection: Connection) {
        // It gives its turn at the egress back: connections that are kept keep nobody waiting.
        connection.rest();
        let mut kept = self.kept.lock();
        // Old ones are closed here, since nothing else looks at servers that are not called again.
        kept.retain(|_, here| {
            here.retain(|kept| !kept.is_old());
            !here.is_empty()
        });
        if kept.values().map(Vec::len).sum::<usize>() >= KEPT_MAX {
            return;
        }
        let here = kept.entry(server.clone()).or_default();
        if here.len() < KEPT_PER_SERVER_MAX {
            here.push(IdleConnection { connection, since: Instant::now() });
        }
    }

    /// How many are kept.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.kept.lock().values().map(Vec::len).sum()
    }
}

impl IdleConnection {
    fn is_old(&self) -> bool {
        self.since.elapsed() >= KEPT_TIME_MAX
    }

    /// The connection, if it is young and silent. A server that closed it is heard of here, and one
    /// that speaks without being asked is not listened to.
    fn still_good(mut self) -> Option<Connection> {
        let mut byte = [0; 1];
        // The runtime tells a task that has done much at once that nothing is there, whatever is.
        let is_silent = unconstrained(self.connection.read(&mut byte)).now_or_never().is_none();
        (!self.is_old() && is_silent).then_some(self.connection)
    }
}
