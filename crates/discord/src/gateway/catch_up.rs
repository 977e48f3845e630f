//! What was said in a channel while no session could go on, asked for over the API: what the bot heard before is known, and
//! is answered once.

use forecourt_connectors::PlatformError;
use http::Method;
use serde_json::Value;

use super::conversations::{Conversation, HeardFrom};
use super::lanes::{LaneWorker, TakeOutcome};
use crate::api::Route;
use crate::ids::is_id;
use crate::limits::{CATCH_UP_MESSAGES_MAX, CATCH_UP_PAGE};
use crate::message::{self, Happening};

/// Messages of a channel, oldest first.
#[derive(Debug, PartialEq)]
struct MissedMessages {
    /// Those that are handed over.
    taken: Vec<Value>,
    /// Those for which there is no room.
    others: Vec<Value>,
    /// Whether there are more than Discord gave.
    is_cut: bool,
}

impl LaneWorker<'_> {
    /// Asks for what was said in a channel since it was heard last, and hands it over.
    pub(super) async fn catch_up(&self, channel: &str, us: &str) {
        let Some(known) = self.conversations.get(channel).filter(|known| known.is_behind) else { return };
        let found = parking_lot::Mutex::new(Vec::new());
        let asked = self
            .tried(|| async {
                let said = self.said_since(channel, &known).await?;
                *found.lock() = said;
                Ok(())
            })
            .await;
        let missed = sorted(found.into_inner(), &known);
        let mut lost = usize::from(asked == TakeOutcome::GivenUp) + usize::from(missed.is_cut);
        for message in missed.taken {
            let Some(happening) = message::read("MESSAGE_CREATE", message, us) else { continue };
            match self.tried(|| self.hand_over(&happening, us, HeardFrom::CatchUp)).await {
                TakeOutcome::Done => {}
                TakeOutcome::GivenUp => lost += 1,
                TakeOutcome::Stopped => return,
            }
        }
        if asked == TakeOutcome::Stopped {
            return;
        }
        let is_for_us = |message| match message::read("MESSAGE_CREATE", message, us) {
            Some(Happening::Written { message, .. }) => message.is_for(us),
            _ => false,
        };
        lost += missed.others.into_iter().filter(|message| is_for_us(message.clone())).count();
        self.conversations.caught_up(channel);
        if lost > 0 {
            tracing::warn!(connector = %self.listening.name, lost, "messages that were missed are not heard of any more");
            self.listening.missed(lost);
        }
    }

    async fn said_since(&self, channel: &str, known: &Conversation) -> Result<Vec<Value>, String> {
        let path = format!("/channels/{channel}/messages?after={}&limit={CATCH_UP_PAGE}", known.last);
        let route = Route::new(Method::GET, "messages", channel, path);
        match self.bot.api.call(self.listening.egress, &route, None).await {
            Ok(Value::Array(messages)) => Ok(messages),
            Ok(_) => Ok(Vec::new()),
            Err(error) => match error.error {
                // The bot may not read there any more, or the channel is gone.
                PlatformError::Refused(reason) => {
                    tracing::info!(reason, "what was said in a channel can't be read");
                    Ok(Vec::new())
                }
                error => Err(error.to_string()),
            },
        }
    }
}

/// Messages in the order in which they were written, as events of their server.
fn sorted(found: Vec<Value>, known: &Conversation) -> MissedMessages {
    let is_cut = found.len() >= CATCH_UP_PAGE;
    let number = |message: &Value| message["id"].as_str().filter(|id| is_id(id)).and_then(|id| id.parse::<u64>().ok());
    let mut all: Vec<(u64, Value)> =
        found.into_iter().filter_map(|message| Some((number(&message)?, message))).collect();
    all.retain(|(number, _)| *number > known.last);
    all.sort_by_key(|(number, _)| *number);
    let mut taken: Vec<Value> = all.into_iter().map(|(_, message)| message).collect();
    for message in &mut taken {
        // Where it stands, the API does not say.
        if let Some(fields) = message.as_object_mut() {
            fields.insert("guild_id".to_owned(), known.guild.clone().map_or(Value::Null, Value::from));
        }
    }
    let others = taken.split_off(taken.len().min(CATCH_UP_MESSAGES_MAX));
    MissedMessages { taken, others, is_cut }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KNOWN: Conversation = Conversation { guild: None, last: 5, is_behind: true };

    #[test]
    fn messages_come_in_their_order_and_what_was_heard_is_left_out() {
        let found = vec![json!({"id": "20"}), json!({"id": "7"}), json!({"id": "5"}), json!({"id": "x"}), json!(7)];
        let known = Conversation { guild: Some("60".to_owned()), ..KNOWN };
        let missed = sorted(found, &known);
        let ids: Vec<&str> = missed.taken.iter().filter_map(|message| message["id"].as_str()).collect();
        assert_eq!((ids, &missed.taken[0]["guild_id"]), (vec!["7", "20"], &json!("60")));
        assert!(missed.others.is_empty() && !missed.is_cut);
    }

    #[test]
    fn so_many_messages_are_taken_and_more_are_counted() {
        let of = |count: usize| sorted((0..count).map(|at| json!({"id": (10 + at).to_string()})).collect(), &KNOWN);
        let all = of(CATCH_UP_MESSAGES_MAX);
        assert_eq!((all.taken.len(), all.others.len()), (CATCH_UP_MESSAGES_MAX, 0));
        let more = of(CATCH_UP_MESSAGES_MAX + 1);
        assert_eq!((more.taken.len(), more.others.len()), (CATCH_UP_MESSAGES_MAX, 1));
        assert!(!of(CATCH_UP_PAGE - 1).is_cut && of(CATCH_UP_PAGE).is_cut);
    }
}
