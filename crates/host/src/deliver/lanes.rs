//! Who may have how many of the attempts that are under way at once: one recipient that is dead, or floods, must not
//! have the others wait.

use std::collections::HashMap;
use std::time::Duration;

use forecourt_core::store::Webhook;
use url::Url;

/// Attempts under way at once.
pub(crate) const POSTS_AT_ONCE: usize = 16;
/// Those of one protocol.
pub(crate) const POSTS_PER_PROTOCOL_MAX: usize = 12;
/// Those to one recipient: a host, or a connector.
pub(crate) const POSTS_PER_RECIPIENT_MAX: usize = 4;

/// How long a delivery that was taken waits for its turn. Shorter than its lease, after which another node takes it.
pub(crate) const HELD_TIME_MAX: Duration = Duration::from_secs(10);
/// How long the first delivery of a recipient waits until that counts as slow.
pub(crate) const SLOW_AFTER: Duration = Duration::from_secs(1);
/// Deliveries that wait for their turn with one slow recipient: further ones are put off at once, so that others come.
pub(crate) const HELD_IF_SLOW_MAX: usize = 8;
/// The longest that one is put off, in waits before a second attempt: five minutes.
const PUT_OFF_TIMES_MAX: u32 = 60;

/// To whom an attempt is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    protocol: String,
    recipient: String,
}

/// Attempts under way, by lane.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    by_recipient: HashMap<Lane, usize>,
    /// Deliveries that were put off since an attempt began there. None where none is under way.
    put_off: HashMap<Lane, usize>,
    by_protocol: HashMap<String, usize>,
}

impl Lane {
    /// That of a delivery: of a URL its host, and of others, such as `slack:door/C1`, what stands before the first
    /// slash. Mail has one for all, since one server takes it.
    pub(crate) fn of(webhook: &Webhook) -> Self {
        let recipient = match Url::parse(&webhook.url) {
            Ok(url) if url.has_host() => url.origin().ascii_serialization(),
            Ok(url) => url.path().split_once('/').map(|(name, _)| name.to_owned()).unwrap_or_default(),
            Err(_) => String::new(),
        };
        Self { protocol: webhook.protocol.clone(), recipient }
    }
}

impl Lanes {
    /// Begins an attempt, if one more may be under way there.
    pub(crate) fn begin(&mut self, lane: &Lane) -> bool {
        let of_protocol = self.by_protocol.get(&lane.protocol).copied().unwrap_or_default();
        let of_recipient = self.by_recipient.get(lane).copied().unwrap_or_default();
        if self.free() == 0 || of_protocol >= POSTS_PER_PROTOCOL_MAX || of_recipient >= POSTS_PER_RECIPIENT_MAX {
            return false;
        }
        *self.by_protocol.entry(lane.protocol.clone()).or_default() += 1;
        *self.by_recipient.entry(lane.clone()).or_default() += 1;
        self.put_off.remove(lane);
        true
    }

    /// Ends one.
    pub(crate) fn end(&mut self, lane: &Lane) {
        leave(&mut self.by_protocol, &lane.protocol);
        leave(&mut self.by_recipient, lane);
        if !self.by_recipient.contains_key(lane) {
            self.put_off.remove(lane);
        }
    }

    /// Counts a delivery that is put off; how many waits it is to wait: the more were put off before it, the longer, so
    /// that a recipient with many is not looked at all the time.
    pub(crate) fn put_off(&mut self, lane: &Lane) -> u32 {
        if !self.by_recipient.contains_key(lane) {
            return 1;
        }
        let count = self.put_off.entry(lane.clone()).or_default();
        let times = u32::try_from(1 + *count / HELD_IF_SLOW_MAX).unwrap_or(PUT_OFF_TIMES_MAX);
        *count = count.saturating_add(1);
        times.min(PUT_OFF_TIMES_MAX)
    }

    /// How many more may be under way.
    pub(crate) fn free(&self) -> usize {
        POSTS_AT_ONCE.saturating_sub(self.by_protocol.values().sum())
    }
}

/// What waits for its turn, by lane, looked through from the one that waits longest.
#[derive(Debug, Default)]
pub(crate) struct HeldLanes(HashMap<Lane, (usize, Duration)>);

impl HeldLanes {
    /// Whether the next delivery of a lane, which has waited so long, may go on to wait for its turn.
    pub(crate) fn may_hold(&mut self, lane: &Lane, waited: Duration) -> bool {
        let (count, longest) = self.0.entry(lane.clone()).or_insert((0, waited));
        let is_one_too_many = *longest >= SLOW_AFTER && *count >= HELD_IF_SLOW_MAX;
        if waited >= HELD_TIME_MAX || is_one_too_many {
            return false;
        }
        *count += 1;
        true
    }
}

/// Nothing is kept of who has none any more.
fn leave<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(protocol: &str, url: &str) -> Lane {
        Lane::of(&Webhook {
            id: "1".to_owned(),
            protocol: protocol.to_owned(),
            url: url.to_owned(),
            secret: None,
            callback: false,
            retries: 0,
            details: Default::default(),
        })
    }

    #[test]
    fn a_recipient_is_a_host_a_connector_or_the_server_for_all_mail() {
        assert_eq!(lane("a", "https://one.example/x?y"), lane("a", "https://one.example/z"));
        assert_ne!(lane("a", "https://one.example/x"), lane("a", "https://two.example/x"));
        assert_ne!(lane("a", "https://one.example/x"), lane("b", "https://one.example/x"));
        assert_eq!(lane("slack", "slack:door/C1/"), lane("slack", "slack:door/C2/1.1"));
        assert_ne!(lane("slack", "slack:door/C1/"), lane("slack", "slack:gate/C1/"));
        assert_eq!(lane("email", "mailto:ann@example.com"), lane("email", "mailto:bob@example.com"));
    }

    #[test]
    fn a_recipient_and_a_protocol_have_their_share_and_others_the_rest() {
        let mut lanes = Lanes::default();
        let dead = lane("a", "https://dead.example/");
        assert!((0..POSTS_PER_RECIPIENT_MAX).all(|_| lanes.begin(&dead)) && !lanes.begin(&dead));
        let others = POSTS_PER_PROTOCOL_MAX - POSTS_PER_RECIPIENT_MAX;
        let other = |number: usize| lane("a", &format!("https://{number}.example/"));
        assert!((0..others).all(|number| lanes.begin(&other(number))) && !lanes.begin(&other(others)));
        assert_eq!(lanes.free(), POSTS_AT_ONCE - POSTS_PER_PROTOCOL_MAX);
        let of_b = |number: usize| lane("b", &format!("https://{number}.example/"));
        assert!((0..lanes.free()).all(|number| lanes.begin(&of_b(number))));
        assert!(lanes.free() == 0 && !lanes.begin(&lane("c", "c:x")));
        lanes.end(&dead);
        assert!(lanes.begin(&dead));
    }

    #[test]
    fn so_many_wait_for_a_slow_recipient_and_as_many_as_there_are_for_another() {
        let slow = lane("a", "https://slow.example/");
        let held = |waited: Duration, count: usize| {
            let mut all = HeldLanes::default();
            (0..count).filter(|_| all.may_hold(&slow, waited)).count()
        };
        assert_eq!(held(SLOW_AFTER - Duration::from_millis(1), 40), 40);
        assert_eq!((held(SLOW_AFTER, HELD_IF_SLOW_MAX), held(SLOW_AFTER, HELD_IF_SLOW_MAX + 1)), (8, 8));
        assert_eq!(held(HELD_TIME_MAX, 1), 0);
        let mut all = HeldLanes::default();
        assert!((0..HELD_IF_SLOW_MAX).all(|_| all.may_hold(&slow, SLOW_AFTER)));
        // One that was just taken has its recipient's fate, and others have theirs.
        assert!(!all.may_hold(&slow, Duration::ZERO));
        assert!(all.may_hold(&lane("a", "https://other.example/"), Duration::ZERO));
    }

    #[test]
    fn the_more_are_put_off_the_longer_they_wait_until_there_is_an_attempt() {
        let (mut lanes, slow) = (Lanes::default(), lane("a", "https://slow.example/"));
        assert!((0..20).all(|_| lanes.put_off(&slow) == 1) && lanes.put_off.is_empty(), "none is under way");
        assert!(lanes.begin(&slow));
        let times: Vec<u32> = (0..HELD_IF_SLOW_MAX * 100).map(|_| lanes.put_off(&slow)).collect();
        assert_eq!((times[0], times[HELD_IF_SLOW_MAX - 1], times[HELD_IF_SLOW_MAX]), (1, 1, 2));
        assert_eq!(times.last(), Some(&PUT_OFF_TIMES_MAX));
        assert!(lanes.begin(&slow) && lanes.put_off(&slow) == 1);
        lanes.end(&slow);
        lanes.end(&slow);
        assert!(lanes.put_off.is_empty());
    }

    #[test]
    fn nothing_is_kept_of_who_has_none_under_way() {
        let (mut lanes, one) = (Lanes::default(), lane("a", "https://one.example/"));
        assert!(lanes.begin(&one));
        lanes.end(&one);
        lanes.end(&one);
        assert!(lanes.by_protocol.is_empty() && lanes.by_recipient.is_empty());
    }
}
