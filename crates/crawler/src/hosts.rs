//! The pace of requests to each host, whoever asks: two agents that read the same site are one visitor to it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use url::Url;

use crate::limits::{HOSTS_MAX, RETRY_AFTER_MAX};

/// How often it is asked, while a host is waited for, whether that still makes sense.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// When each host may be asked again.
#[derive(Debug, Clone, Default)]
pub struct Hosts(Arc<Mutex<HashMap<String, Instant>>>);

impl Hosts {
    /// Those of all visitors of this process.
    pub fn shared() -> Self {
        static SHARED: LazyLock<Hosts> = LazyLock::new(Hosts::default);
        SHARED.clone()
    }

    /// Waits until the host of a URL may be asked; the next request to it may follow after `delay`. Ends early
    /// when `cancel` says so.
    pub(crate) async fn turn(&self, url: &Url, delay: Duration, cancel: &(dyn Fn() -> bool + Sync)) {
        while let Some(wait) = self.try_turn(url, delay, Instant::now()) {
            if cancel() {
                return;
            }
            // In small steps: a host may ask for an hour, and leaving must not wait for it.
            tokio::time::sleep(wait.min(LOOK_EVERY)).await;
        }
    }

    /// Takes the turn, or says how long it is until there is one.
    fn try_turn(&self, url: &Url, delay: Duration, now: Instant) -> Option<Duration> {
        let mut hosts = self.0.lock();
        if let Some(next) = hosts.get(&key(url)).filter(|next| **next > now) {
            return Some(*next - now);
        }
        // A host whose time has passed may be asked at once, so that nothing is lost with its entry.
        if hosts.len() >= HOSTS_MAX {
            hosts.retain(|_, next| *next > now);
        }
        hosts.insert(key(url), now + delay);
        None
    }

    /// Leaves a host alone for a time that it asks for, at most [`RETRY_AFTER_MAX`].
    pub(crate) fn rest(&self, url: &Url, time: Duration) {
        let until = Instant::now() + time.min(RETRY_AFTER_MAX);
        let mut hosts = self.0.lock();
        let next = hosts.entry(key(url)).or_insert(until);
        // The longer wish holds: another visitor may have been asked for more time.
        *next = until.max(*next);
    }
}

/// The host with its port.
fn key(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    async fn waited(hosts: &Hosts, text: &str, delay: u64) -> f64 {
        let begin = Instant::now();
        hosts.turn(&url(text), Duration::from_secs(delay), &|| false).await;
        begin.elapsed().as_secs_f64()
    }

    #[tokio::test(start_paused = true)]
    async fn requests_to_one_host_keep_their_distance_whoever_asks() {
        let hosts = Hosts::default();
        let other = hosts.clone();
        assert_eq!(waited(&hosts, "https://e.org/a", 3).await, 0.0);
        assert!((3.0..3.1).contains(&waited(&other, "https://e.org/b", 3).await));
        assert_eq!(waited(&hosts, "https://o.org/", 3).await, 0.0, "another host");
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(waited(&hosts, "https://e.org/c", 3).await, 0.0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_is_left_alone_as_long_as_it_asks_within_the_bound() {
        let hosts = Hosts::default();
        hosts.rest(&url("https://e.org/"), Duration::from_secs(7));
        assert!((7.0..7.1).contains(&waited(&hosts, "https://e.org/", 0).await));
        hosts.rest(&url("https://e.org/"), Duration::MAX);
        let most = RETRY_AFTER_MAX.as_secs_f64();
        assert!((most..most + 1.0).contains(&waited(&hosts, "https://e.org/", 0).await));
        hosts.rest(&url("https://e.org/"), Duration::from_secs(60));
        let begin = Instant::now();
        hosts.turn(&url("https://e.org/"), Duration::ZERO, &|| true).await;
        assert_eq!(begin.elapsed(), Duration::ZERO, "who is told to stop does not wait");
    }

    #[test]
    fn hosts_that_may_be_asked_are_forgotten_past_the_bound() {
        let (hosts, now) = (Hosts::default(), Instant::now());
        for n in 0..=HOSTS_MAX {
            hosts.try_turn(&url(&format!("https://h{n}.example/")), Duration::ZERO, now);
        }
        assert_eq!(hosts.0.lock().len(), 1);
    }
}
