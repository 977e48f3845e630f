//! Events to agents: those of one channel one after another, those of others beside them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use forecourt_connectors::{Incoming, Listening, Place};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::sleep;

use super::ListeningBot;
use super::progress::Progress;
use super::session::ResumePoint;
use crate::limits::{EVENTS_AT_ONCE_MAX, LANES, TAKE_TRIES_MAX, TAKE_WAIT, TAKE_WAIT_MAX};
use crate::message::{self, Happening, MessageEvent, Surroundings};

/// An event as it was heard.
pub(super) struct HeardEvent {
    pub(super) number: u64,
    pub(super) kind: String,
    pub(super) data: Value,
    /// The user that the bot is.
    pub(super) us: String,
    pub(super) progress: Arc<Progress>,
}

/// An event that means something to agents.
struct LaneEvent {
    happening: Happening,
    number: u64,
    us: String,
    progress: Arc<Progress>,
    /// Its place among all.
    _room: Option<OwnedSemaphorePermit>,
}

/// The beginnings of all lanes.
pub(super) struct Lanes(Vec<Sender<LaneEvent>>);

/// Why an event was not taken.
type NotTaken = String;

impl Lanes {
    /// The lanes, with the work on each, which ends with them.
    pub(super) fn new<'a>(
        bot: ListeningBot<'a>,
        listening: &'a Listening<'a>,
    ) -> (Self, Vec<impl Future<Output = ()> + 'a>) {
        let (senders, ends): (Vec<_>, Vec<_>) = (0..LANES).map(|_| channel(EVENTS_AT_ONCE_MAX)).unzip();
        let worker = move |end| LaneWorker { bot, listening }.work(end);
        (Self(senders), ends.into_iter().map(worker).collect())
    }

    /// Puts an event into its lane; one that means nothing is done at once.
    pub(super) fn take(&self, listening: &Listening<'_>, event: HeardEvent, room: Option<OwnedSemaphorePermit>) {
        let HeardEvent { number, kind, data, us, progress } = event;
        let Some(happening) = message::read(&kind, data, &us) else {
            keep(listening, progress.done(number));
            return;
        };
        let lane = lane_of(happening.channel());
        let event = LaneEvent { happening, number, us, progress, _room: room };
        // There are as many places in each lane as for all events together. What had none is told of again.
        if self.0.get(lane).is_none_or(|lane| lane.try_send(event).is_err()) {
            tracing::warn!("an event found no place");
        }
    }
}

fn lane_of(channel: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    channel.hash(&mut hasher);
    usize::try_from(hasher.finish() % LANES as u64).unwrap_or_default()
}

/// Has it written down where a session goes on, unless that is another one by now.
fn keep(listening: &Listening<'_>, point: Option<ResumePoint>) {
    let is_current = |point: &ResumePoint| {
        ResumePoint::of(&listening.state()).is_some_and(|current| current.session == point.session)
    };
    if let Some(point) = point.filter(is_current) {
        listening.keep(point.to_state());
    }
}

#[derive(Clone, Copy)]
struct LaneWorker<'a> {
    bot: ListeningBot<'a>,
    listening: &'a Listening<'a>,
}

impl LaneWorker<'_> {
    async fn work(self, mut events: Receiver<LaneEvent>) {
        while let Some(event) = events.recv().await {
            if self.take(&event).await {
                keep(self.listening, event.progress.done(event.number));
            }
        }
    }

    /// Has an event taken, as often as that is tried. Gives whether it is done with.
    async fn take(&self, event: &LaneEvent) -> bool {
        let mut wait = TAKE_WAIT;
        for _ in 0..TAKE_TRIES_MAX {
            let Err(reason) = self.hand_over(event).await else { return true };
            tracing::warn!(reason, connector = %self.listening.name, "an event was not taken yet");
            if self.listening.stop.run_until_cancelled(sleep(wait)).await.is_none() {
                return false;
            }
            wait = longer(wait);
        }
        tracing::error!(connector = %self.listening.name, "an event was given up");
        true
    }

    async fn hand_over(&self, event: &LaneEvent) -> Result<(), NotTaken> {
        match &event.happening {
            Happening::Gone { channel, messages } => {
                for message in messages {
                    let place = Place { channel: channel.clone(), ..Place::default() };
                    let gone = Incoming::Deleted { place, message: message.clone() };
                    self.listening.take(gone).await.map_err(|error| error.to_string())?;
                }
                Ok(())
            }
            Happening::Written { message, is_edit } => self.written(message, *is_edit, &event.us).await,
        }
    }

    async fn written(&self, message: &MessageEvent, is_edit: bool, us: &str) -> Result<(), NotTaken> {
        let (api, egress, places) = (self.bot.api, self.listening.egress, self.bot.places);
        let our_roles = match &message.guild_id {
            Some(guild) if !message.mention_roles.is_empty() => {
                places.roles(api, egress, guild, us).await.map_err(|error| error.to_string())?
            }
            _ => Vec::new(),
        };
        let is_thread = message.needs_thread(us)
            && places.is_thread(api, egress, &message.channel_id).await.map_err(|error| error.to_string())?;
        let Some(chat) = message.to_chat(&Surroundings { us, our_roles: &our_roles, is_thread }) else { return Ok(()) };
        let incoming = if is_edit { Incoming::Edited(Box::new(chat)) } else { Incoming::Message(Box::new(chat)) };
        self.listening.take(incoming).await.map(|_| ()).map_err(|error| error.to_string())
    }
}

fn longer(wait: Duration) -> Duration {
    (wait * 2).min(TAKE_WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_has_one_lane_and_many_have_many() {
        assert_eq!(lane_of("80351110224678912"), lane_of("80351110224678912"));
        let lanes: std::collections::HashSet<usize> = (0..1_000).map(|id: u32| lane_of(&id.to_string())).collect();
        assert_eq!(lanes.len(), LANES);
    }

    #[test]
    fn waits_grow_up_to_their_bound() {
        let waits = std::iter::successors(Some(TAKE_WAIT), |wait| Some(longer(*wait)));
        let waits: Vec<Duration> = waits.take(TAKE_TRIES_MAX as usize).collect();
        assert!(waits.windows(2).all(|pair| pair[0] <= pair[1]) && waits.last() == Some(&TAKE_WAIT_MAX));
    }
}
