//! How often methods may be called: as Discord says with each answer, by the bucket that a method counts in.

use std::collections::HashMap;
use std::time::Duration;

use forecourt_connectors::limits::RETRY_AFTER_MAX;
use http::HeaderMap;
use tokio::time::Instant;

use crate::limits::BUCKETS_MAX;

const BUCKET: &str = "x-ratelimit-bucket";
const REMAINING: &str = "x-ratelimit-remaining";
const RESET_AFTER: &str = "x-ratelimit-reset-after";

/// What is known of rate limits.
#[derive(Default)]
pub(crate) struct Buckets {
    /// The bucket that a method counts in, by the method.
    buckets: HashMap<&'static str, String>,
    /// Until when a bucket of a channel has nothing left.
    empty_until: HashMap<String, Instant>,
    /// Until when nothing may be called at all.
    all_until: Option<Instant>,
}

impl Buckets {
    /// How long to wait before a method is called for a channel, or whatever else it counts by.
    pub(crate) fn wait(&self, method: &'static str, of: &str, now: Instant) -> Option<Duration> {
        let own = self.empty_until.get(&self.name(method, of));
        let until = [own, self.all_until.as_ref()].into_iter().flatten().max()?;
        Some(until.saturating_duration_since(now)).filter(|wait| !wait.is_zero())
    }

    /// Takes notice of what an answer says.
    pub(crate) fn note(&mut self, method: &'static str, of: &str, headers: &HeaderMap, now: Instant) {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(bucket) = text(BUCKET).filter(|bucket| bucket.len() <= 128) {
            self.buckets.insert(method, bucket.to_owned());
        }
        let remaining = text(REMAINING).and_then(|left| left.trim().parse::<u64>().ok());
        let after = text(RESET_AFTER).and_then(seconds);
        if let (Some(0), Some(after)) = (remaining, after) {
            self.close(method, of, after, now);
        }
    }

    /// Takes notice of an answer that it was too much.
    pub(crate) fn refuse(&mut self, method: &'static str, of: &str, wait: Duration, is_global: bool, now: Instant) {
        match is_global {
            true => self.all_until = Some(now + wait.min(RETRY_AFTER_MAX)),
            false => self.close(method, of, wait, now),
        }
    }

    fn close(&mut self, method: &'static str, of: &str, wait: Duration, now: Instant) {
        if self.empty_until.len() >= BUCKETS_MAX {
            self.empty_until.retain(|_, until| *until > now);
        }
        if self.empty_until.len() >= BUCKETS_MAX {
            self.empty_until.clear();
        }
        let name = self.name(method, of);
        self.empty_until.insert(name, now + wait.min(RETRY_AFTER_MAX));
    }

    /// Methods that share a bucket are counted together, for each channel.
    fn name(&self, method: &'static str, of: &str) -> String {
        format!("{}\0{of}", self.buckets.get(method).map_or(method, String::as_str))
    }
}

/// A time in seconds with a fraction.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(bucket: &str, remaining: &str, after: &str) -> HeaderMap {
        let value = |text: &str| HeaderValue::from_str(text).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(BUCKET, value(bucket));
        headers.insert(REMAINING, value(remaining));
        headers.insert(RESET_AFTER, value(after));
        headers
    }

    #[test]
    fn a_bucket_that_is_empty_is_waited_for_and_others_are_not() {
        let (mut buckets, now) = (Buckets::default(), Instant::now());
        buckets.note("post", "C1", &headers("b", "1", "5"), now);
        assert_eq!(buckets.wait("post", "C1", now), None);
        buckets.note("post", "C1", &headers("b", "0", "0.5"), now);
        assert_eq!(buckets.wait("post", "C1", now), Some(Duration::from_millis(500)));
        assert_eq!((buckets.wait("post", "C2", now), buckets.wait("edit", "C1", now)), (None, None));
        assert_eq!(buckets.wait("post", "C1", now + Duration::from_millis(500)), None);
        // Another method of the same bucket.
        buckets.note("upload", "C1", &headers("b", "1", "0.5"), now);
        assert_eq!(buckets.wait("upload", "C1", now), Some(Duration::from_millis(500)));
    }

    #[test]
    fn what_was_too_much_is_waited_for_everywhere_where_it_is_global_and_within_a_bound() {
        let (mut buckets, now) = (Buckets::default(), Instant::now());
        buckets.refuse("post", "C1", Duration::from_secs(3), false, now);
        assert_eq!(buckets.wait("post", "C1", now), Some(Duration::from_secs(3)));
        assert_eq!(buckets.wait("post", "C2", now), None);
        buckets.refuse("post", "C1", Duration::from_secs(999_999), true, now);
        assert_eq!(buckets.wait("edit", "C9", now), Some(RETRY_AFTER_MAX));
        assert_eq!((seconds("x"), seconds("-1"), seconds("1e400")), (None, None, None));
    }

    #[test]
    fn so_many_are_remembered_and_one_more_begins_anew() {
        let (mut buckets, now) = (Buckets::default(), Instant::now());
        let close = |buckets: &mut Buckets, of: usize| {
            buckets.refuse("post", &of.to_string(), Duration::from_secs(9), false, now);
        };
        (0..BUCKETS_MAX).for_each(|of| close(&mut buckets, of));
        assert!(buckets.empty_until.len() == BUCKETS_MAX && buckets.wait("post", "0", now).is_some());
        close(&mut buckets, BUCKETS_MAX);
        assert_eq!(buckets.empty_until.len(), 1);
    }
}
