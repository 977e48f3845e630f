//! Events to agents: those of one channel one after another, those of others beside them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use forecourt_connectors::{Incoming, Listening, Place};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::sleep;

use super::ListeningBot;
use super::conversations::{Conversations, HeardFrom};
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

/// What is done in a lane.
enum LaneWork {
    /// An event that means something to agents.
    Event(LaneEvent),
    /// What was said in a channel while no session could go on is asked for.
    CatchUp { channel: String, us: String },
}

struct LaneEvent {
    happening: Happening,
    number: u64,
    us: String,
    progress: Arc<Progress>,
    /// Its place among all.
    _room: Option<OwnedSemaphorePermit>,
}

/// The beginnings of all lanes.
pub(super) struct Lanes(Vec<Sender<LaneWork>>);

/// Why an event was not taken.
pub(super) type NotTaken = String;

impl Lanes {
    /// The lanes, with the work on each, which ends with them.
    pub(super) fn new<'a>(
        bot: ListeningBot<'a>,
        listening: &'a Listening<'a>,
        conversations: &'a Conversations,
    ) -> (Self, Vec<impl Future<Output = ()> + 'a>) {
        let (senders, ends): (Vec<_>, Vec<_>) = (0..LANES).map(|_| channel(EVENTS_AT_ONCE_MAX)).unzip();
        let worker = move |end| LaneWorker { bot, listening, conversations }.work(end);
        (Self(senders), ends.into_iter().map(worker).collect())
    }

    /// Puts an event into its lane; one that means nothing is done at once.
    pub(super) fn take(
        &self,
        (listening, conversations): (&Listening<'_>, &Conversations),
        event: HeardEvent,
        room: Option<OwnedSemaphorePermit>,
    ) {
        let HeardEvent { number, kind, data, us, progress } = event;
        let Some(happening) = message::read(&kind, data, &us) else {
            keep(listening, progress.done(number), conversations);
            return;
        };
        let lane = lane_of(happening.channel());
        let event = LaneEvent { happening, number, us, progress, _room: room };
        // There are as many places in each lane as for all events together. What had none is told of again.
        if self.0.get(lane).is_none_or(|lane| lane.try_send(LaneWork::Event(event)).is_err()) {
            tracing::warn!("an event found no place");
        }
    }

    /// Has what was said while no session could go on asked for, ahead of what is heard from now on.
    pub(super) fn catch_up(&self, listening: &Listening<'_>, conversations: &Conversations, us: &str) {
        for channel in conversations.behind() {
            let lane = lane_of(&channel);
            let work = LaneWork::CatchUp { channel, us: us.to_owned() };
            if self.0.get(lane).is_none_or(|lane| lane.try_send(work).is_err()) {
                tracing::warn!(connector = %listening.name, "a channel is not caught up: too much is going on");
                listening.missed(1);
            }
        }
    }
}

fn lane_of(channel: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    channel.hash(&mut hasher);
    usize::try_from(hasher.finish() % LANES as u64).unwrap_or_default()
}

/// Has it written down where a session goes on, and how far each channel was heard.
pub(super) fn keep_state(listening: &Listening<'_>, point: Option<&ResumePoint>, conversations: &Conversations) {
    let mut state = point.map_or_else(|| json!({}), ResumePoint::to_state);
    state["channels"] = conversations.to_state();
    listening.keep(state);
}

/// The same after an event of a session, unless that is another one by now.
fn keep(listening: &Listening<'_>, point: Option<ResumePoint>, conversations: &Conversations) {
    let is_current = |point: &ResumePoint| {
        ResumePoint::of(&listening.state()).is_some_and(|current| current.session == point.session)
    };
    if let Some(point) = point.filter(is_current) {
        keep_state(listening, Some(&point), conversations);
    }
}

#[derive(Clone, Copy)]
pub(super) struct LaneWorker<'a> {
    pub(super) bot: ListeningBot<'a>,
    pub(super) listening: &'a Listening<'a>,
    pub(super) conversations: &'a Conversations,
}

/// How it ended that something was tried several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakeOutcome {
    Done,
    GivenUp,
    /// Everything ends.
    Stopped,
}

impl LaneWorker<'_> {
    async fn work(self, mut all: Receiver<LaneWork>) {
        while let Some(work) = all.recv().await {
            match work {
                LaneWork::Event(event) => {
                    let one = || self.hand_over(&event.happening, &event.us, HeardFrom::Session);
                    let tried = self.tried(one).await;
                    if tried != TakeOutcome::Stopped {
                        keep(self.listening, event.progress.done(event.number), self.conversations);
                    }
                }
                LaneWork::CatchUp { channel, us } => {
                    self.catch_up(&channel, &us).await;
                    keep(self.listening, ResumePoint::of(&self.listening.state()), self.conversations);
                }
            }
        }
    }

    /// Does something as often as that is tried, until it is done.
    pub(super) async fn tried<F: Future<Output = Result<(), NotTaken>>>(&self, one: impl Fn() -> F) -> TakeOutcome {
        let mut wait = TAKE_WAIT;
        for _ in 0..TAKE_TRIES_MAX {
            let Err(reason) = one().await else { return TakeOutcome::Done };
            tracing::warn!(reason, connector = %self.listening.name, "an event was not taken yet");
            if self.listening.stop.run_until_cancelled(sleep(wait)).await.is_none() {
                return TakeOutcome::Stopped;
            }
            wait = longer(wait);
        }
        tracing::error!(connector = %self.listening.name, "an event was given up");
        TakeOutcome::GivenUp
    }

    pub(super) async fn hand_over(&self, happening: &Happening, us: &str, from: HeardFrom) -> Result<(), NotTaken> {
        match happening {
            Happening::Gone { channel, messages } => {
                for message in messages {
                    let place = Place { channel: channel.clone(), ..Place::default() };
                    let gone = Incoming::Deleted { place, message: message.clone() };
                    self.listening.take(gone).await.map_err(|error| error.to_string())?;
                }
                Ok(())
            }
            Happening::Written { message, is_edit } => self.written(message, *is_edit, us, from).await,
        }
    }

    async fn written(&self, message: &MessageEvent, is_edit: bool, us: &str, from: HeardFrom) -> Result<(), NotTaken> {
        let (api, egress, places) = (self.bot.api, self.listening.egress, self.bot.places);
        let our_roles = match &message.guild_id {
            Some(guild) if !message.mention_roles.is_empty() => {
                places.roles(api, egress, guild, us).await.map_err(|error| error.to_string())?
            }
            _ => Vec::new(),
        };
        let is_thread = message.needs_thread(us)
            && places.is_thread(api, egress, &message.channel_id).await.map_err(|error| error.to_string())?;
        let heard = |is_ours| {
            let guild = message.guild_id.as_deref();
            self.conversations.heard(&message.channel_id, guild, &message.id, (from, is_ours));
        };
        let Some(chat) = message.to_chat(&Surroundings { us, our_roles: &our_roles, is_thread }) else {
            heard(false);
            return Ok(());
        };
        let is_ours = chat.mentions_connector || message.is_for(us);
        let incoming = if is_edit { Incoming::Edited(Box::new(chat)) } else { Incoming::Message(Box::new(chat)) };
        self.listening.take(incoming).await.map_err(|error| error.to_string())?;
        heard(is_ours);
        Ok(())
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
