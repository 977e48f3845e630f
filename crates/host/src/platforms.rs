//! What comes over platforms on which agents are mentioned or written to, and what is sent there: chats, the Fediverse
//! and mail. Counted for the operator, by closed sets of words; nobody who writes becomes a label.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use forecourt_contract::HostServices;
use forecourt_core::{Error, Handle, Timestamp, Transport};
use futures::future::BoxFuture;
use jiff::SignedDuration;
use parking_lot::{Mutex, RwLock};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::carry_outcome::CarryOutcome;

/// Platforms and connectors whose last events are remembered. Names come from files, and those of files that are gone
/// stay; one more is counted, and not remembered by its name.
pub const PLATFORMS_SEEN_MAX: usize = 1_000;

/// What became of an event: of a message, or of whatever else a platform tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventOutcome {
    /// An agent is asked, or something was changed.
    Taken,
    /// It was taken before.
    Repeated,
    /// It is for no agent.
    Ignored,
    /// It was for an agent, which does not answer it: a bot wrote it, or somebody who wrote too often.
    Dropped,
    /// It is not proven who sent it.
    Forged,
    /// It can't be read.
    Malformed,
    /// Too many at once, or of one sender: the platform sends it again.
    TooMany,
    /// The host could not take it now: the platform sends it again.
    Failed,
    /// It was said while nobody could listen, and is not heard of any more.
    Missed,
}

/// What was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// What an agent said.
    Answer,
    /// Why it said nothing.
    Refusal,
}

/// The platforms of a house, for the operator: each protocol that has some adds them. Among the host's services.
#[derive(Debug, Default)]
pub struct Platforms(RwLock<Vec<PlatformState>>);

/// A platform, or a connector to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlatformState {
    /// The protocol.
    pub platform: Transport,
    /// The name of the connector. `None` where there is one of its kind alone.
    pub name: Option<Handle>,
    /// The agents that can be asked over it. `None`: all.
    pub agents: Option<Vec<Handle>>,
}

/// What replaces the key with which the agents of a host sign on a platform. The protocol that has it publishes it among
/// the host's services.
pub struct KeyRotation {
    /// The protocol.
    pub platform: Transport,
    /// Makes a new key, and says from when on it signs.
    pub rotate: Box<dyn Fn() -> BoxFuture<'static, Result<Timestamp, Error>> + Send + Sync>,
}

impl fmt::Debug for KeyRotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRotation").field("platform", &self.platform).finish_non_exhaustive()
    }
}

/// What came over a platform since this process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlatformTraffic {
    /// When the last event came that was proven. `None`: none yet.
    pub last_event_at: Option<Timestamp>,
    /// Events that asked an agent, or changed something.
    pub taken: u64,
    /// Events that were refused or missed: forged, malformed, too many, said while nobody could listen.
    pub refused: u64,
    /// When the last of those came, and why it was refused.
    pub last_refusal: Option<(Timestamp, EventOutcome)>,
}

/// What is counted of platforms.
#[derive(Debug)]
pub struct PlatformMetrics {
    events: Family<EventLabels, Counter>,
    answers: Family<AnswerLabels, Counter>,
    seconds: Family<PlatformLabel, Histogram, AnswerBuckets>,
    traffic: Mutex<HashMap<(Transport, Option<Handle>), PlatformTraffic>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EventLabels {
    platform: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabels {
    platform: &'static str,
    kind: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PlatformLabel {
    platform: &'static str,
}

/// From a quarter of a second to an hour and more.
#[derive(Debug, Clone)]
struct AnswerBuckets;

impl MetricConstructor<Histogram> for AnswerBuckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(exponential_buckets(0.25, 4.0, 8))
    }
}

impl Default for PlatformMetrics {
    fn default() -> Self {
        Self {
            events: Family::default(),
            answers: Family::default(),
            seconds: Family::new_with_constructor(AnswerBuckets),
            traffic: Mutex::default(),
        }
    }
}

impl EventOutcome {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Repeated => "repeated",
            Self::Ignored => "ignored",
            Self::Dropped => "dropped",
            Self::Forged => "forged",
            Self::Malformed => "malformed",
            Self::TooMany => "too_many",
            Self::Failed => "failed",
            Self::Missed => "missed",
        }
    }

    /// Whether it was refused for what it is, or missed: an operator wants to know.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Forged | Self::Malformed | Self::TooMany | Self::Missed)
    }
}

impl Platforms {
    /// Those of a house, which has them from the first protocol on that asks.
    pub fn of(services: &HostServices) -> Arc<Self> {
        services.get().unwrap_or_else(|| {
            let platforms = Arc::new(Self::default());
            services.publish(platforms.clone());
            platforms
        })
    }

    /// One more.
    pub fn add(&self, state: PlatformState) {
        self.0.write().push(state);
    }

    /// All of them, in the order in which they were added.
    pub fn all(&self) -> Vec<PlatformState> {
        self.0.read().clone()
    }
}

impl PlatformMetrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        let about = "Events of platforms on which agents are written to, by what became of them";
        registry.register("platform_events", about, self.events.clone());
        let about = "Attempts to send answers and refusals to platforms, by outcome";
        registry.register("platform_answers", about, self.answers.clone());
        let about = "Seconds from a question over a platform until its answer was delivered";
        registry.register("platform_answer_seconds", about, self.seconds.clone());
    }

    /// An event came over a platform, with the name of its connector where it has one.
    pub fn event(&self, platform: Transport, connector: Option<&Handle>, outcome: EventOutcome, now: Timestamp) {
        self.events.get_or_create(&EventLabels { platform, outcome: outcome.name() }).inc();
        let key = (platform, connector.cloned());
        let mut traffic = self.traffic.lock();
        if traffic.len() >= PLATFORMS_SEEN_MAX && !traffic.contains_key(&key) {
            return;
        }
        let seen = traffic.entry(key).or_default();
        if outcome.is_refusal() {
            seen.refused = seen.refused.saturating_add(1);
            seen.last_refusal = Some((now, outcome));
        }
        if !matches!(outcome, EventOutcome::Forged | EventOutcome::Malformed | EventOutcome::Missed) {
            seen.last_event_at = Some(now);
        }
        seen.taken = seen.taken.saturating_add(u64::from(outcome == EventOutcome::Taken));
    }

    /// One attempt to send something was made. An answer that was delivered says how long it took since its question.
    pub fn answer(
        &self,
        platform: Transport,
        kind: AnswerKind,
        outcome: CarryOutcome,
        since_question: Option<SignedDuration>,
    ) {
        let kind = match kind {
            AnswerKind::Answer => "answer",
            AnswerKind::Refusal => "refusal",
        };
        let outcome = match outcome {
            CarryOutcome::Delivered => "delivered",
            CarryOutcome::Later | CarryOutcome::Wait(_) => "later",
            CarryOutcome::Never => "never",
        };
        self.answers.get_or_create(&AnswerLabels { platform, kind, outcome }).inc();
        if let Some(took) = since_question.filter(|_| outcome == "delivered") {
            self.seconds.get_or_create(&PlatformLabel { platform }).observe(took.as_secs_f64().max(0.0));
        }
    }

    /// What came over a platform, or over one connector.
    pub fn traffic(&self, platform: Transport, connector: Option<&Handle>) -> PlatformTraffic {
        self.traffic.lock().get(&(platform, connector.cloned())).copied().unwrap_or_default()
    }

    /// Answers and refusals to a platform that are sent no more, since this process began.
    pub fn given_up(&self, platform: Transport) -> u64 {
        let of = |kind| self.answers.get(&AnswerLabels { platform, kind, outcome: "never" }).map_or(0, |it| it.get());
        of("answer") + of("refusal")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn exposed(metrics: &PlatformMetrics) -> String {
        let (mut registry, mut text) = (Registry::default(), String::new());
        metrics.register(&mut registry);
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        text
    }

    #[test]
    fn what_is_not_proven_is_counted_and_is_no_event_of_the_platform() {
        let (metrics, door) = (PlatformMetrics::default(), Handle::parse("door").unwrap());
        metrics.event("slack", Some(&door), EventOutcome::Forged, at(5));
        let seen = metrics.traffic("slack", Some(&door));
        assert_eq!((seen.last_event_at, seen.refused), (None, 1));
        metrics.event("slack", Some(&door), EventOutcome::Taken, at(6));
        metrics.event("slack", Some(&door), EventOutcome::TooMany, at(7));
        let seen = metrics.traffic("slack", Some(&door));
        assert_eq!((seen.last_event_at, seen.taken, seen.refused), (Some(at(7)), 1, 2));
        assert_eq!(seen.last_refusal, Some((at(7), EventOutcome::TooMany)));
        assert_eq!(metrics.traffic("slack", None), PlatformTraffic::default());
        metrics.event("slack", Some(&door), EventOutcome::Missed, at(8));
        let seen = metrics.traffic("slack", Some(&door));
        assert_eq!((seen.last_event_at, seen.last_refusal), (Some(at(7)), Some((at(8), EventOutcome::Missed))));
        let text = exposed(&metrics);
        for line in ["forged", "taken", "too_many", "missed"] {
            let line = format!("platform_events_total{{platform=\"slack\",outcome=\"{line}\"}} 1");
            assert!(text.contains(&line), "{line}: {text}");
        }
    }

    #[test]
    fn so_many_names_are_remembered_and_all_are_counted() {
        let metrics = PlatformMetrics::default();
        let name = |number: usize| Handle::parse(&format!("c{number}")).unwrap();
        for number in 0..=PLATFORMS_SEEN_MAX {
            metrics.event("slack", Some(&name(number)), EventOutcome::Taken, at(1));
        }
        assert_eq!(metrics.traffic("slack", Some(&name(PLATFORMS_SEEN_MAX - 1))).taken, 1);
        assert_eq!(metrics.traffic("slack", Some(&name(PLATFORMS_SEEN_MAX))), PlatformTraffic::default());
        assert!(exposed(&metrics).contains(&format!("outcome=\"taken\"}} {}", PLATFORMS_SEEN_MAX + 1)));
    }

    #[test]
    fn answers_are_timed_once_they_are_there_and_those_that_never_will_be_are_known() {
        let (metrics, took) = (PlatformMetrics::default(), Some(SignedDuration::from_secs(3)));
        let wait = CarryOutcome::Wait(Duration::from_secs(1));
        for outcome in [wait, CarryOutcome::Later, CarryOutcome::Delivered, CarryOutcome::Never] {
            metrics.answer("telegram", AnswerKind::Answer, outcome, took);
        }
        metrics.answer("telegram", AnswerKind::Refusal, CarryOutcome::Never, None);
        assert_eq!((metrics.given_up("telegram"), metrics.given_up("slack")), (2, 0));
        let text = exposed(&metrics);
        assert!(text.contains("platform_answer_seconds_count{platform=\"telegram\"} 1"), "{text}");
        assert!(text.contains("kind=\"answer\",outcome=\"later\"} 2"), "{text}");
    }
}
