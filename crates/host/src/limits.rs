//! How often one caller may ask: by network address and by conversation. REST 8.4.

use std::net::IpAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forecourt_core::limits::STORED_BYTES_PER_CALLER;
use forecourt_core::network::Network;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{Message, PolicyPart};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::AUDIT_DAYS;
use crate::idempotency::{ONCE_MAX, ONCE_PER_CALLER_MAX};
use crate::issuance::{CONSENT_WAIT_SECONDS, OPEN_ISSUANCES_PER_CALLER_MAX, PAYMENT_WAIT_SECONDS};

/// Callers that are remembered at once. Over it, those at rest are forgotten; a caller who is at
/// its limit is kept.
pub(crate) const CALLERS_MAX: usize = 100_000;

/// How often, and how much at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Requests a second that go on forever.
    pub per_second: NonZeroU32,
    /// Requests that may come at once after a rest.
    pub burst: NonZeroU32,
}

/// What one caller may do. Counted for each network address (an IPv6 /64 is one) and for each
/// conversation; over it, the answer is a refusal that says when to come back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// Requests of one network address.
    pub per_address: Rate,
    /// Requests of one conversation.
    pub per_session: Rate,
    /// Answers in the making at once whose callers wait for them, streams included.
    pub replies_running_max: usize,
    /// Answers in the making at once for one caller: one that proved who it is, else one conversation,
    /// else one network. All conversations of a network together may have half of what the host may.
    pub replies_per_caller_max: usize,
    /// Background tasks running at once.
    pub tasks_running_max: usize,
    /// Background tasks of one caller running at once.
    pub tasks_per_caller_max: usize,
    /// Seconds that a request waits in line for one of these places before it is refused.
    pub queue_seconds: u64,
    /// Idempotency keys of one caller, counted for each session or token, that are remembered at once; each for
    /// a day. Over it: too many requests, until the oldest is forgotten.
    pub idempotency_keys_per_caller_max: NonZeroU64,
    /// The same for all callers together.
    pub idempotency_keys_max: NonZeroU64,
    /// Bytes that are kept for one caller: tasks, conversations, files, all that hangs on them. A caller is
    /// a proven subject, else a network address (an IPv6 /64 is one). Over it, requests that would keep
    /// more are refused.
    pub stored_bytes_per_caller: u64,
    /// Consents of one caller that may be open at once, and as many payments: those that were asked for and whose
    /// time is not over. Over it: too many requests.
    pub open_issuances_per_caller_max: NonZeroU64,
    /// Seconds in which a consent may be given after it was asked for.
    pub consent_wait_seconds: NonZeroU64,
    /// Seconds in which a payment may be made after it was asked for.
    pub payment_wait_seconds: NonZeroU64,
    /// Days for which the audit of refusals is kept.
    pub audit_days: NonZeroU64,
}

impl Default for LimitSettings {
    fn default() -> Self {
        let rate = Rate { per_second: nonzero(50), burst: nonzero(200) };
        Self {
            per_address: rate,
            per_session: rate,
            stored_bytes_per_caller: STORED_BYTES_PER_CALLER,
            replies_running_max: 2_000,
            replies_per_caller_max: forecourt_core::limits::REPLIES_RUNNING_PER_CALLER_MAX,
            tasks_running_max: forecourt_core::limits::TASKS_RUNNING_MAX,
            tasks_per_caller_max: forecourt_core::limits::TASKS_RUNNING_PER_CALLER_MAX,
            queue_seconds: 5,
            idempotency_keys_per_caller_max: long(ONCE_PER_CALLER_MAX),
            idempotency_keys_max: long(ONCE_MAX),
            open_issuances_per_caller_max: long(OPEN_ISSUANCES_PER_CALLER_MAX),
            consent_wait_seconds: long(CONSENT_WAIT_SECONDS),
            payment_wait_seconds: long(PAYMENT_WAIT_SECONDS),
            audit_days: long(AUDIT_DAYS),
        }
    }
}

fn nonzero(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN)
}

fn long(n: u64) -> NonZeroU64 {
    NonZeroU64::new(n).unwrap_or(NonZeroU64::MIN)
}

/// The buckets of all callers.
pub(crate) struct Throttle {
    by_network: DefaultKeyedRateLimiter<Network>,
    by_session: DefaultKeyedRateLimiter<String>,
    asked: AtomicUsize,
}

impl Throttle {
    pub(crate) fn new(settings: &LimitSettings) -> Self {
        Self {
            by_network: RateLimiter::keyed(quota(settings.per_address)),
            by_session: RateLimiter::keyed(quota(settings.per_session)),
            asked: AtomicUsize::new(0),
        }
    }

    /// Counts a message against its address and its conversation.
    pub(crate) fn admit(&self, message: &Message) -> Result<(), Box<PolicyPart>> {
        self.admit_peer(message.sender.peer)?;
        match &message.thread {
            None => Ok(()),
            Some(thread) => taken(self.by_session.check_key(&thread.key().to_owned())),
        }
    }

    /// Counts a call against its address, and against what its caller says that it belongs to.
    pub(crate) fn admit_call(
        &self,
        peer: Option<IpAddr>,
        caller: Option<&str>,
        session: Option<&str>,
    ) -> Result<(), Box<PolicyPart>> {
        self.admit_peer(peer)?;
        match session {
            None => Ok(()),
            Some(session) => taken(self.by_session.check_key(&format!("{}|{session}", caller.unwrap_or_default()))),
        }
    }

    /// Counts a request against its address.
    pub(crate) fn admit_peer(&self, peer: Option<IpAddr>) -> Result<(), Box<PolicyPart>> {
        self.tidy();
        peer.map_or(Ok(()), |peer| taken(self.by_network.check_key(&Network::of(peer))))
    }

    /// Forgets callers at rest, now and then, so that the maps stay bounded.
    fn tidy(&self) {
        const EVERY: usize = 10_000;
        let due = self.asked.fetch_add(1, Ordering::Relaxed) % EVERY == EVERY - 1;
        let full = || self.by_network.len() > CALLERS_MAX - EVERY || self.by_session.len() > CALLERS_MAX - EVERY;
        if due && full() {
            self.by_network.retain_recent();
            self.by_session.retain_recent();
        }
    }
}

fn quota(rate: Rate) -> Quota {
    Quota::per_second(rate.per_second).allow_burst(rate.burst)
}

fn taken(verdict: Result<(), governor::NotUntil<governor::clock::QuantaInstant>>) -> Result<(), Box<PolicyPart>> {
    verdict.map_err(|until| Box::new(too_many(until.wait_time_from(DefaultClock::default().now()))))
}

/// The refusal, with whole seconds to wait, at least one.
fn too_many(wait: Duration) -> PolicyPart {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let seconds = seconds.max(1);
    let kind = RefusalKind::TooManyRequests { retry_after_seconds: Some(seconds) };
    let mut part = PolicyPart::new(kind, format!("You ask faster than this host allows. Try again in {seconds} s."));
    part.code = Some("mentionable:rate_limited".to_owned());
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttle(burst: u32) -> Throttle {
        let rate = Rate { per_second: nonzero(1), burst: nonzero(burst) };
        Throttle::new(&LimitSettings { per_address: rate, per_session: rate, ..LimitSettings::default() })
    }

    #[test]
    fn s8_4_the_request_after_the_burst_is_refused_with_seconds_to_wait() {
        let throttle = throttle(3);
        let peer = Some("192.0.2.1".parse().unwrap());
        for _ in 0..3 {
            throttle.admit_peer(peer).unwrap();
        }
        let refusal = throttle.admit_peer(peer).unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::TooManyRequests { retry_after_seconds: Some(1) });
    }

    #[test]
    fn s8_4_another_address_has_its_own_bucket() {
        let throttle = throttle(1);
        throttle.admit_peer(Some("192.0.2.1".parse().unwrap())).unwrap();
        throttle.admit_peer(Some("192.0.2.2".parse().unwrap())).unwrap();
    }
}
