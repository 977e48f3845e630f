//! What this node hears from the server: the topics that somebody here listens to, and no others.
//!
//! A topic is subscribed to when its first listener comes and left after its last one. What was said before the server
//! knew of a subscription is not heard: so listeners of one thing, `KIND.NAME`, are told an empty message once it does,
//! and look into the store again. Of such topics there may be any number; over [`BUS_SUBSCRIPTIONS_MAX`] the node
//! hears all of them, until it listens to half as many.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_nats::{Client, Request, Subscriber};
use bytes::Bytes;
use futures::StreamExt;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::Counters;
use super::message::{is_of_one_thing, opened, subject_of};
use crate::local::LocalBus;

/// Subscriptions of one node; over it, what is said of every single thing is heard.
pub const BUS_SUBSCRIPTIONS_MAX: usize = 8_192;
/// How long the server has to say that it knows of what it was told.
const ROUND_TRIP_MAX: Duration = Duration::from_secs(5);
/// Changes that are told the server in one go.
const CHANGES_PER_TURN_MAX: usize = 256;

/// Which topics somebody here listens to, and which of them are to be told the server.
#[derive(Default)]
pub(super) struct Interest {
    state: Mutex<InterestState>,
    changed: Notify,
}

#[derive(Default)]
struct InterestState {
    listened: HashSet<Arc<str>>,
    told: HashSet<Arc<str>>,
    /// What is listened to and was not told, or was told and is not listened to any more. Whoever comes and goes while
    /// the server is away leaves nothing here.
    pending: HashSet<Arc<str>>,
    /// Topics of one thing that are listened to.
    single: usize,
}

impl Interest {
    /// Takes notice that a topic has its first listener, or lost its last one.
    pub(super) fn note(&self, topic: &str, is_listened: bool) {
        let mut state = self.state.lock();
        let InterestState { listened, told, pending, single } = &mut *state;
        let topic: Arc<str> = topic.into();
        let is_change = if is_listened { listened.insert(topic.clone()) } else { listened.remove(&topic) };
        if is_change && is_of_one_thing(&topic) {
            *single = if is_listened { *single + 1 } else { single.saturating_sub(1) };
        }
        match told.contains(&topic) == is_listened {
            true => drop(pending.remove(&topic)),
            false => drop(pending.insert(topic)),
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Some of what is to be told the server, which counts as told from here on: topics to begin with, and to leave.
    async fn changes(&self) -> (Vec<Arc<str>>, Vec<Arc<str>>) {
        loop {
            let changed = self.changed.notified();
            {
                let mut state = self.state.lock();
                let some: Vec<Arc<str>> = state.pending.iter().take(CHANGES_PER_TURN_MAX).cloned().collect();
                for topic in &some {
                    // Marked before the server is told: what changes meanwhile is pending again, and told in the next
                    // turn.
                    state.pending.remove(topic);
                    if !state.told.remove(topic) {
                        state.told.insert(topic.clone());
                    }
                }
                if !some.is_empty() {
                    return some.into_iter().partition(|topic| state.told.contains(topic));
                }
            }
            changed.await;
        }
    }

    /// Topics of one thing that are listened to now.
    fn single(&self) -> usize {
        self.state.lock().single
    }

    /// Topics of one thing that the server was told of.
    fn told(&self) -> Vec<Arc<str>> {
        let state = self.state.lock();
        state.told.iter().filter(|topic| is_of_one_thing(topic)).cloned().collect()
    }
}

/// Work that ends when this is dropped.
pub(super) struct Task(pub(super) AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Topics of one thing that the server was told of, and does not yet know for certain.
#[derive(Default)]
struct PendingTopics {
    topics: Mutex<HashSet<Arc<str>>>,
    more: Notify,
}

impl PendingTopics {
    fn add(&self, topics: impl Iterator<Item = Arc<str>>) {
        self.topics.lock().extend(topics);
        self.more.notify_one();
    }

    /// Tells listeners of each topic once the server knows of it: what was said until then they did not hear.
    async fn tell_once_known(self: Arc<Self>, client: Client, subject: String, local: Weak<LocalBus>) {
        loop {
            let topics = std::mem::take(&mut *self.topics.lock());
            if topics.is_empty() {
                self.more.notified().await;
                continue;
            }
            // Taken before the round trip: a topic that is added during it may not be known to the server when it ends.
            round_trip(&client, &subject).await;
            let Some(local) = local.upgrade() else { return };
            for topic in &topics {
                local.tell(topic, Bytes::new());
            }
        }
    }
}

/// Returns once the server has done all that it was told before: in its turn it says that nobody is there who would
/// answer. Where somebody listens to everything, or the server is away, nobody says so: then after
/// [`ROUND_TRIP_MAX`]. That something was written to the server says nothing: another node's words may overtake it.
async fn round_trip(client: &Client, subject: &str) {
    let inbox = format!("{subject}.{}", client.new_inbox());
    let asked = Request::new().inbox(inbox).timeout(Some(ROUND_TRIP_MAX));
    let _ = client.send_request(format!("{subject}.nobody"), asked).await;
}

/// The subscriptions of one node.
pub(super) struct Subscriptions {
    pub(super) client: Client,
    /// The subject of the deployment.
    pub(super) subject: String,
    pub(super) interest: Arc<Interest>,
    pub(super) hearing: Hearing,
    pub(super) open: Open,
}

/// What is open at the server. Each ends, and is left, when it is dropped.
#[derive(Default)]
pub(super) struct Open {
    each: HashMap<Arc<str>, Task>,
    /// Of every single thing, where there are too many to name them.
    wide: Option<Task>,
}

/// The client has ended.
struct ClientEnded;

impl Subscriptions {
    /// Keeps the subscriptions as listeners want them, until it is dropped or the client ends.
    pub(super) async fn run(mut self) {
        let begun = Arc::new(PendingTopics::default());
        let (client, subject, local) = (self.client.clone(), self.subject.clone(), self.hearing.local.clone());
        let _tells = Task(tokio::spawn(begun.clone().tell_once_known(client, subject, local)).abort_handle());
        loop {
            let (came, left) = self.interest.changes().await;
            if self.follow(&came, &left).await.is_err() {
                return;
            }
            begun.add(came.into_iter().filter(|topic| is_of_one_thing(topic)));
        }
    }

    async fn follow(&mut self, begun: &[Arc<str>], left: &[Arc<str>]) -> Result<(), ClientEnded> {
        for topic in left {
            self.open.each.remove(topic);
        }
        // Half as many, so that one listener more or less at the bound does not change it each time.
        if self.open.wide.is_some() && self.interest.single() <= BUS_SUBSCRIPTIONS_MAX / 2 {
            self.narrow().await?;
        }
        for topic in begun {
            let is_single = is_of_one_thing(topic);
            if is_single && self.open.wide.is_none() && self.open.each.len() >= BUS_SUBSCRIPTIONS_MAX {
                self.widen().await?;
            }
            if !is_single || self.open.wide.is_none() {
                self.begin(topic).await?;
            }
        }
        self.count();
        Ok(())
    }

    /// Hears of every single thing, and of none by its name.
    async fn widen(&mut self) -> Result<(), ClientEnded> {
        tracing::info!(max = BUS_SUBSCRIPTIONS_MAX, "so much is followed that everything on the bus is heard");
        // Two words and more behind the deployment: `KIND.NAME`, and not the topics that are one word.
        self.open.wide = Some(self.subscribe(format!("{}.*.>", self.subject)).await?);
        // Both are open for a moment: heard twice does no harm, and heard by neither would.
        round_trip(&self.client, &self.subject).await;
        self.open.each.retain(|topic, _| !is_of_one_thing(topic));
        Ok(())
    }

    /// Hears by name again what is still listened to.
    async fn narrow(&mut self) -> Result<(), ClientEnded> {
        for topic in self.interest.told() {
            self.begin(&topic).await?;
        }
        round_trip(&self.client, &self.subject).await;
        self.open.wide = None;
        Ok(())
    }

    async fn begin(&mut self, topic: &Arc<str>) -> Result<(), ClientEnded> {
        if !self.open.each.contains_key(topic) {
            let heard = self.subscribe(subject_of(&self.subject, topic)).await?;
            self.open.each.insert(topic.clone(), heard);
        }
        Ok(())
    }

    async fn subscribe(&self, subject: String) -> Result<Task, ClientEnded> {
        let heard = self.client.subscribe(subject).await.map_err(|_| ClientEnded)?;
        Ok(Task(tokio::spawn(self.hearing.clone().run(heard)).abort_handle()))
    }

    fn count(&self) {
        let open = self.open.each.len() + usize::from(self.open.wide.is_some());
        self.hearing.counters.subscriptions.store(open as u64, Ordering::Relaxed);
    }
}

/// Tells listeners here what other nodes say.
#[derive(Clone)]
pub(super) struct Hearing {
    pub(super) local: Weak<LocalBus>,
    /// The subject of the deployment.
    pub(super) subject: Arc<str>,
    /// What this node is called.
    pub(super) own: Arc<str>,
    pub(super) counters: Arc<Counters>,
}

impl Hearing {
    async fn run(self, mut heard: Subscriber) {
        while let Some(message) = heard.next().await {
            let Some(local) = self.local.upgrade() else { return };
            let one = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
            match opened(&message.payload) {
                Some((sender, _, _)) if *sender == *self.own => {}
                // The server gives rights by subject: whoever may speak on one must not speak of another's topic.
                Some((_, topic, content)) if *subject_of(&self.subject, topic) == *message.subject => {
                    one(&self.counters.received);
                    local.tell(topic, content);
                }
                _ => {
                    if one(&self.counters.foreign) == 0 {
                        tracing::warn!(
                            subject = message.subject.as_str(),
                            "somebody who is no node of this deployment speaks on its subject of the bus: ignored"
                        );
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// What the server is to be told now, in order.
    fn changes(interest: &Interest) -> Option<(Vec<String>, Vec<String>)> {
        let (begun, left) = interest.changes().now_or_never()?;
        let names = |topics: Vec<Arc<str>>| {
            let mut names: Vec<String> = topics.iter().map(ToString::to_string).collect();
            names.sort();
            names
        };
        Some((names(begun), names(left)))
    }

    #[test]
    fn who_comes_and_goes_in_between_is_not_told_of() {
        let interest = Interest::default();
        assert_eq!(changes(&interest), None);
        interest.note("task.a", true);
        interest.note("task.b", true);
        interest.note("task.a", false);
        assert_eq!(changes(&interest), Some((vec!["task.b".to_owned()], vec![])));
        interest.note("task.b", false);
        interest.note("task.b", true);
        assert_eq!((changes(&interest), interest.single()), (None, 1));
        interest.note("task.b", false);
        assert_eq!(changes(&interest), Some((vec![], vec!["task.b".to_owned()])));
        for round in 0..100_000 {
            let topic = format!("task.{round}");
            interest.note(&topic, true);
            interest.note(&topic, false);
        }
        let state = interest.state.lock();
        assert_eq!((state.pending.len(), state.listened.len(), state.told.len(), state.single), (0, 0, 0, 0));
    }

    #[test]
    fn many_changes_are_told_in_turns() {
        let interest = Interest::default();
        (0..=CHANGES_PER_TURN_MAX).for_each(|n| interest.note(&format!("task.{n}"), true));
        assert_eq!(changes(&interest).map(|(begun, _)| begun.len()), Some(CHANGES_PER_TURN_MAX));
        assert_eq!(changes(&interest).map(|(begun, _)| begun.len()), Some(1));
    }
}
