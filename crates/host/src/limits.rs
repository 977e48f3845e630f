//! How often one caller may ask: by network address and by conversation. REST 8.4.

use std::net::IpAddr;
use std::num::{NonZeroU8, NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::clock::whole_seconds;
use forecourt_core::limits::{ANSWER_BYTES_RESERVED, STORED_BYTES_PER_CALLER, STRANGERS_PERCENT};
use forecourt_core::network::Network;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{CallerBounds, Message, PolicyPart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rates::{Pace, RateTable};
use forecourt_audit::AUDIT_DAYS;
use forecourt_issuance::{CONSENT_WAIT_SECONDS, IssuanceLimits, OPEN_ISSUANCES_PER_CALLER_MAX, PAYMENT_WAIT_SECONDS};

/// Idempotency keys of one caller that are remembered at once, unless the operator says otherwise.
pub const ONCE_PER_CALLER_MAX: u64 = 100_000;
/// Idempotency keys of all callers that are remembered at once, unless the operator says otherwise.
pub const ONCE_MAX: u64 = 1_000_000;

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
    /// else one network. A network of callers who proved nothing may have half of what all of them may.
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
    /// Bytes of `stored_bytes_per_caller` that are reserved for the answer of a background task before it is
    /// acknowledged, and given back when it ends: an answer of that size, its events and its outcome, is always kept. A
    /// task that can't reserve them is refused. No more than a quarter of `stored_bytes_per_caller` is reserved for one
    /// task.
    pub answer_bytes_reserved: u64,
    /// The share that all callers together who proved nothing may take up, in percent (1 to 100): of `size_max` of the
    /// store, of `replies_running_max` and of `tasks_running_max`. The rest is kept for callers who prove who they are.
    /// Where no room is left for what they want kept, their oldest tasks that have ended go first. Those of an IPv4 /24
    /// or an IPv6 /56 may store 4 times `stored_bytes_per_caller`, those of a /20 or a /48 16 times.
    pub strangers_percent: NonZeroU8,
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
        // Generous to one honest client, loopback included, and hard on a flood.
        let rate = Rate { per_second: nonzero(50), burst: nonzero(200) };
        Self {
            per_address: rate,
            per_session: rate,
            stored_bytes_per_caller: STORED_BYTES_PER_CALLER,
            answer_bytes_reserved: ANSWER_BYTES_RESERVED,
            strangers_percent: NonZeroU8::new(STRANGERS_PERCENT).unwrap_or(NonZeroU8::MAX),
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

impl LimitSettings {
    /// Those of the bytes that are kept for callers, in a store of so many bytes.
    pub fn callers(&self, store_max: Option<u64>) -> CallerBounds {
        CallerBounds {
            caller: self.stored_bytes_per_caller,
            answer_wanted: self.answer_bytes_reserved,
            strangers: store_max.map(|max| max / 100 * u64::from(self.percent_of_strangers())),
        }
    }

    /// Of so many places those that callers who proved nothing may have together, at least one.
    pub(crate) fn share_of_strangers(&self, places: usize) -> usize {
        (places.saturating_mul(usize::from(self.percent_of_strangers()))).div_ceil(100).max(1)
    }

    fn percent_of_strangers(&self) -> u8 {
        self.strangers_percent.get().min(100)
    }

    /// Those of what callers are asked to do first.
    pub(crate) fn issuances(&self) -> IssuanceLimits {
        IssuanceLimits {
            open_per_caller_max: self.open_issuances_per_caller_max,
            consent_wait: Duration::from_secs(self.consent_wait_seconds.get()),
            payment_wait: Duration::from_secs(self.payment_wait_seconds.get()),
        }
    }
}

fn nonzero(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN)
}

fn long(n: u64) -> NonZeroU64 {
    NonZeroU64::new(n).unwrap_or(NonZeroU64::MIN)
}

/// The rate limits that hold before any rule: by network address and by conversation. REST 8.4.
pub(crate) struct Throttle {
    by_network: Pace,
    by_session: Pace,
    pub(crate) rates: Arc<RateTable>,
}

/// What a bucket belongs to: names of different kinds are never the same one. A request counts against each that it
/// has, and not against the surest alone.
#[derive(Hash)]
enum BucketKey<'a> {
    Network(Network),
    Session(&'a str),
    Call(Option<&'a str>, &'a str),
}

impl BucketKey<'_> {
    /// The key that sets the bound of its kind.
    fn limit(&self) -> &'static str {
        match self {
            Self::Network(_) => "limits.per_address",
            Self::Session(_) | Self::Call(..) => "limits.per_session",
        }
    }
}

impl Throttle {
    pub(crate) fn new(settings: &LimitSettings, rates: Arc<RateTable>) -> Self {
        Self { by_network: pace(settings.per_address), by_session: pace(settings.per_session), rates }
    }

    /// Counts a message against its address and its conversation.
    pub(crate) fn admit(&self, message: &Message) -> Result<(), Box<PolicyPart>> {
        // The address first (REST 8.4): whoever makes conversations up is bounded by it all the same.
        self.admit_peer(message.sender.peer)?;
        message.thread.as_ref().map_or(Ok(()), |thread| self.take(&BucketKey::Session(thread.key()), self.by_session))
    }

    /// Counts a call against its address, and against what its caller says that it belongs to.
    pub(crate) fn admit_call(
        &self,
        peer: Option<IpAddr>,
        caller: Option<&str>,
        session: Option<&str>,
    ) -> Result<(), Box<PolicyPart>> {
        self.admit_peer(peer)?;
        session.map_or(Ok(()), |session| self.take(&BucketKey::Call(caller, session), self.by_session))
    }

    /// Counts a request against its address.
    pub(crate) fn admit_peer(&self, peer: Option<IpAddr>) -> Result<(), Box<PolicyPart>> {
        peer.map_or(Ok(()), |peer| self.take(&BucketKey::Network(Network::of(peer)), self.by_network))
    }

    fn take(&self, caller: &BucketKey<'_>, pace: Pace) -> Result<(), Box<PolicyPart>> {
        self.rates.take(caller, pace).map_err(|wait| {
            self.rates.note_hit(caller.limit(), caller);
            Box::new(too_many(wait))
        })
    }
}

fn pace(rate: Rate) -> Pace {
    Pace::new(rate.per_second.get(), Duration::from_secs(1), rate.burst.get())
}

/// The refusal, with whole seconds to wait, at least one.
fn too_many(wait: Duration) -> PolicyPart {
    let seconds = whole_seconds(wait);
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
        let limits = LimitSettings { per_address: rate, per_session: rate, ..LimitSettings::default() };
        Throttle::new(&limits, Arc::new(RateTable::new()))
    }

    #[test]
    fn callers_who_proved_nothing_have_their_share_and_no_more_than_all() {
        let with = |percent: u8| LimitSettings {
            strangers_percent: NonZeroU8::new(percent).unwrap(),
            ..LimitSettings::default()
        };
        assert_eq!([1, 50, 100, 255].map(|percent| with(percent).share_of_strangers(10)), [1, 5, 10, 10]);
        assert_eq!(with(50).callers(Some(1_000)).strangers, Some(500));
        assert_eq!(with(255).callers(Some(1_000)).strangers, Some(1_000));
        assert_eq!(with(50).callers(None).strangers, None);
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
