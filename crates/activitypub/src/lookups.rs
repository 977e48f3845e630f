//! How much is fetched of other servers since strangers named it.

use std::collections::HashMap;

use forecourt_core::Timestamp;
use parking_lot::Mutex;

use crate::limits::SERVERS_MAX;

/// Counts lookups within the minute, of each server and in all.
pub(crate) struct Lookups {
    per_server: u32,
    in_all: u32,
    counted: Mutex<Minute>,
}

#[derive(Default)]
struct Minute {
    /// Minutes since 1970.
    number: i64,
    servers: HashMap<String, u32>,
    in_all: u32,
}

impl Lookups {
    pub(crate) fn new(per_server: u32, in_all: u32) -> Self {
        Self { per_server, in_all, counted: Mutex::default() }
    }

    /// Counts one more lookup; whether it is within the bounds. Nothing is counted that is not.
    pub(crate) fn admit(&self, server: &str, now: Timestamp) -> bool {
        let number = now.as_second().div_euclid(60);
        let mut counted = self.counted.lock();
        if counted.number != number {
            *counted = Minute { number, ..Minute::default() };
        }
        let of_server = counted.servers.get(server).copied().unwrap_or_default();
        let is_full = counted.servers.len() >= SERVERS_MAX && of_server == 0;
        if is_full || of_server >= self.per_server || counted.in_all >= self.in_all {
            return false;
        }
        counted.in_all += 1;
        counted.servers.insert(server.to_owned(), of_server + 1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_and_all_of_them_have_a_bound_that_ends_with_the_minute() {
        let lookups = Lookups::new(2, 3);
        let at = |seconds: i64| Timestamp::from_second(60_000 + seconds).unwrap();
        assert!(lookups.admit("a", at(0)) && lookups.admit("a", at(1)) && !lookups.admit("a", at(59)));
        assert!(lookups.admit("b", at(59)) && !lookups.admit("b", at(59)) && !lookups.admit("c", at(59)));
        assert!(lookups.admit("a", at(60)) && lookups.admit("c", at(60)));
    }
}
