//! The channels in which the bot is spoken with, and how far each was heard: what is said in them while no session can go
//! on is asked for once there is another one.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::is_id;
use crate::limits::CATCH_UP_CHANNELS_MAX;

/// How far a channel was heard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Conversation {
    /// The server. None in a conversation of two.
    pub(super) guild: Option<String>,
    /// The last message that was heard.
    pub(super) last: u64,
    /// Whether what was said since then is still to be asked for.
    #[serde(default)]
    pub(super) is_behind: bool,
}

/// Who tells of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeardFrom {
    /// A session, as it is written.
    Session,
    /// The answer to what was missed, in its order.
    CatchUp,
}

/// Such channels, by id.
#[derive(Default)]
pub(super) struct Conversations(Mutex<BTreeMap<String, Conversation>>);

impl Conversations {
    /// Those of what was written down.
    pub(super) fn of(state: &Value) -> Self {
        let all = BTreeMap::<String, Conversation>::deserialize(&state["channels"]).unwrap_or_default();
        let is_whole = |(channel, it): &(String, Conversation)| is_id(channel) && it.guild.iter().all(|id| is_id(id));
        Self(Mutex::new(all.into_iter().filter(is_whole).take(CATCH_UP_CHANNELS_MAX).collect()))
    }

    /// What is written down of them.
    pub(super) fn to_state(&self) -> Value {
        serde_json::to_value(&*self.0.lock()).unwrap_or_default()
    }

    /// A message was heard, and is durable. With `is_ours`, the bot is spoken with there from now on. While a channel
    /// is behind, one that a session tells of does not count: what was missed before it is still to be asked for.
    pub(super) fn heard(&self, channel: &str, guild: Option<&str>, message: &str, (from, is_ours): (HeardFrom, bool)) {
        let Ok(message) = message.parse() else { return };
        let mut all = self.0.lock();
        if let Some(known) = all.get_mut(channel) {
            if !known.is_behind || from == HeardFrom::CatchUp {
                known.last = known.last.max(message);
            }
            return;
        }
        if !is_ours {
            return;
        }
        if all.len() >= CATCH_UP_CHANNELS_MAX {
            // Ids of messages grow with time: the channel in which nothing was said for longest goes.
            let oldest = all.iter().min_by_key(|(_, known)| known.last).map(|(channel, _)| channel.clone());
            oldest.and_then(|channel| all.remove(&channel));
        }
        let guild = guild.map(str::to_owned);
        all.insert(channel.to_owned(), Conversation { guild, last: message, is_behind: false });
    }

    /// A session began that knows nothing of what was said before it.
    pub(super) fn fall_behind(&self) {
        self.0.lock().values_mut().for_each(|known| known.is_behind = true);
    }

    /// The channels whose messages are to be asked for.
    pub(super) fn behind(&self) -> Vec<String> {
        let all = self.0.lock();
        all.iter().filter(|(_, known)| known.is_behind).map(|(channel, _)| channel.clone()).collect()
    }

    /// How far a channel was heard.
    pub(super) fn get(&self, channel: &str) -> Option<Conversation> {
        self.0.lock().get(channel).cloned()
    }

    /// Nothing is asked for there any more.
    pub(super) fn caught_up(&self, channel: &str) {
        if let Some(known) = self.0.lock().get_mut(channel) {
            known.is_behind = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const OURS: (HeardFrom, bool) = (HeardFrom::Session, true);
    const OTHERS: (HeardFrom, bool) = (HeardFrom::Session, false);

    #[test]
    fn what_a_session_tells_of_a_channel_that_is_behind_hides_nothing_that_was_missed() {
        let all = Conversations::default();
        all.heard("50", None, "8", OURS);
        all.fall_behind();
        // Told of while the channel is caught up, by the next process even.
        let again = Conversations::of(&json!({"channels": all.to_state()}));
        again.heard("50", None, "20", OURS);
        again.heard("50", None, "21", OTHERS);
        let last = || again.get("50").map(|known| known.last);
        assert_eq!(last(), Some(8));
        again.heard("50", None, "12", (HeardFrom::CatchUp, true));
        assert_eq!(last(), Some(12));
        again.caught_up("50");
        again.heard("50", None, "20", OURS);
        assert_eq!(last(), Some(20));
    }

    #[test]
    fn channels_with_a_conversation_are_known_by_their_last_message_and_come_back() {
        let all = Conversations::default();
        all.heard("50", Some("60"), "7", OTHERS);
        assert_eq!(all.get("50"), None, "nobody spoke with the bot");
        all.heard("50", Some("60"), "8", OURS);
        all.heard("50", Some("60"), "11", OTHERS);
        all.heard("50", Some("60"), "10", OURS);
        all.fall_behind();
        all.heard("51", None, "9", OURS);
        assert_eq!(all.behind(), ["50"]);
        let again = Conversations::of(&json!({"session": "x", "channels": all.to_state()}));
        let known = Conversation { guild: Some("60".to_owned()), last: 11, is_behind: true };
        assert_eq!((again.get("50"), again.behind()), (Some(known), vec!["50".to_owned()]));
        again.caught_up("50");
        assert!(again.behind().is_empty() && again.get("51").is_some_and(|known| known.guild.is_none()));
    }

    #[test]
    fn so_many_channels_are_remembered_and_the_oldest_gives_way() {
        let all = Conversations::default();
        let number = |at: usize| (1_000 + at).to_string();
        (0..CATCH_UP_CHANNELS_MAX).for_each(|at| all.heard(&number(at), None, &number(at), OURS));
        assert!(all.get(&number(0)).is_some());
        all.heard(&number(CATCH_UP_CHANNELS_MAX), None, "5000", OURS);
        assert!(all.get(&number(0)).is_none() && all.get(&number(1)).is_some());
        assert_eq!(all.0.lock().len(), CATCH_UP_CHANNELS_MAX);
    }

    #[test]
    fn what_was_not_written_here_is_nothing() {
        for state in [json!(null), json!({"channels": 7}), json!({"channels": {"../x": {"guild": null, "last": 1}}})] {
            assert_eq!(Conversations::of(&state).to_state(), json!({}), "{state}");
        }
    }

    proptest! {
        #[test]
        fn no_state_panics(text in "[{}\\[\\]\"a-z:1,]{0,40}") {
            let state: Value = serde_json::from_str(&text).unwrap_or_default();
            let _ = Conversations::of(&state).to_state();
        }
    }
}
