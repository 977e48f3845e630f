//! Agents whose refusals are not believed for a while. PolicyPart 3.6.

use std::time::Duration;

use forecourt_core::Timestamp;
use moka::sync::Cache;

use super::limits::{CARD_KEPT_MAX, DEMOTED_MAX};

/// The conversations in which an agent broke the rules that its card promises to keep: its refusals are not believed
/// there. Each is forgotten when the card is read anew, or after an hour.
pub struct Demotions {
    since: Cache<String, DemotionKey>,
}

#[derive(Clone, Copy)]
struct DemotionKey {
    until: Timestamp,
    /// When the card that promised better was read.
    card: Timestamp,
}

impl Default for Demotions {
    fn default() -> Self {
        Self { since: Cache::new(DEMOTED_MAX) }
    }
}

impl Demotions {
    /// Believes no refusal in `context` for now. `card` is when the agent's card was read.
    pub(crate) fn demote(&self, context: &str, card: Timestamp, now: Timestamp) {
        tracing::warn!("a remote agent gave a malformed refusal although it says that it keeps PolicyPart");
        let until = now.checked_add(window()).unwrap_or(Timestamp::MAX);
        self.since.insert(context.to_owned(), DemotionKey { until, card });
    }

    /// Whether refusals in `context` are not believed at `now`.
    pub(crate) fn is_demoted(&self, context: &str, card: Timestamp, now: Timestamp) -> bool {
        self.since.get(context).is_some_and(|demoted| now < demoted.until && card <= demoted.card)
    }
}

fn window() -> Duration {
    CARD_KEPT_MAX
}

#[cfg(test)]
mod tests {
    use forecourt_core::Clock;
    use forecourt_testkit::HandClock;

    use super::*;

    #[test]
    fn s3_6_a_demotion_ends_after_an_hour_or_with_a_new_card() {
        let clock = HandClock::new();
        let (demotions, begun) = (Demotions::default(), clock.now());
        demotions.demote("c", begun, begun);
        assert!(demotions.is_demoted("c", begun, begun));
        assert!(!demotions.is_demoted("other", begun, begun));
        let later = |seconds| begun.checked_add(Duration::from_secs(seconds)).unwrap();
        assert!(demotions.is_demoted("c", begun, later(3_599)));
        assert!(!demotions.is_demoted("c", begun, later(3_600)));
        assert!(!demotions.is_demoted("c", later(1), later(1)), "the card was read anew");
    }
}
