//! Telling others that a task settled, or what a notice says: bounded, in the background, and never
//! twice at once.
//!
//! Deliveries are rows; those of a task were written together with its end, so none is lost with the
//! process. A failed one is tried again only as often as its webhook asks for.

mod lanes;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use forecourt_core::clock::after;
use forecourt_core::store::{Delivery, Webhook};
use forecourt_core::{Clock, Entropy, Store, Task, Timestamp};
use forecourt_egress::{Egress, Purpose, WebhookPost};
use forecourt_telemetry::spans;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use http::{HeaderName, HeaderValue};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use self::lanes::{HeldLanes, Lane, Lanes, POSTS_AT_ONCE, SLOW_AFTER};
use crate::carry_outcome::CarryOutcome;
use crate::metrics::Metrics;
use crate::usage_viewers;

/// The protocol name of posts to the operator, where other deliveries have their protocol's.
pub(crate) const OPERATOR: &str = "operator";
/// Deliveries that are taken and wait until their recipients may have one more.
const HELD_MAX: usize = 48;
/// Places that are free before it is looked for more, while others are under way.
const TAKEN_MIN: usize = 4;
/// How much longer than any post may take a taken delivery is hidden from other takers.
const LEASE_MARGIN: Duration = Duration::from_secs(15);
/// How often to look for what is due without being rung for.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The wait before the second attempt; it doubles with each further one.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Doublings of [`RETRY_AFTER`] at most: about three hours.
const RETRY_DOUBLINGS_MAX: u32 = 11;

/// Names each attempt, so that receivers can tell repeats.
const DELIVERY_ID: HeaderName = HeaderName::from_static("mentionable-delivery");

/// How a protocol writes the post that tells of a settled task.
pub type Envelope = fn(&Task, &Webhook) -> WebhookPost;

/// Carries what is due for a protocol whose recipients are not reached over HTTP, such as mail.
///
/// An attempt may take as long as a post may, and is given up after that.
pub trait Courier: Send + Sync + 'static {
    /// Makes one attempt. A [`Delivery`] without a task is a notice that its protocol queued itself.
    fn carry<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, CarryOutcome>;
}

/// Wakes the deliverer before its next regular look at the queue.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeliveryWakeup(Arc<Notify>);

impl DeliveryWakeup {
    pub(crate) fn wake(&self) {
        // It leaves a permit: a wake between the deliverer's look and its rest is not lost.
        self.0.notify_one();
    }
}

/// What deliveries are made with: the egress, each protocol's envelope, and couriers for those without a URL.
pub(crate) struct Outbound {
    pub(crate) egress: Arc<Egress>,
    pub(crate) envelopes: HashMap<String, Envelope>,
    pub(crate) couriers: HashMap<String, Arc<dyn Courier>>,
}

/// Posts what is due.
pub(crate) struct Deliverer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) outbound: Arc<ArcSwap<Outbound>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) wakeup: DeliveryWakeup,
}

/// A delivery that was taken, and waits until its recipient may have one more attempt.
struct HeldDelivery {
    delivery: Delivery,
    lane: Lane,
    since: Instant,
}

impl Deliverer {
    /// Works until `stop`, and then until what is under way has ended.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let (mut lanes, mut held, mut posts) = (Lanes::default(), VecDeque::new(), FuturesUnordered::new());
        let mut may_be_more = true;
        while !stop.is_cancelled() {
            let room = HELD_MAX.saturating_sub(held.len()).min(POSTS_AT_ONCE);
            // Not one by one: each look is a write of the store.
            if may_be_more && room > 0 && (lanes.free() >= TAKEN_MIN || posts.is_empty()) {
                let due = self.take(room).await;
                may_be_more = due.len() == room;
                held.extend(due);
            }
            let mut held_lanes = HeldLanes::default();
            for HeldDelivery { delivery, lane, since } in std::mem::take(&mut held) {
                match lanes.begin(&lane) {
                    true => posts.push(self.deliver_in(delivery, lane)),
                    false if held_lanes.may_hold(&lane, since.elapsed()) => {
                        held.push_back(HeldDelivery { delivery, lane, since });
                    }
                    false => self.put_off(&delivery, lanes.put_off(&lane)).await,
                }
            }
            let is_full = may_be_more && room > 0 && lanes.free() >= TAKEN_MIN;
            let look_after = match (is_full, held.is_empty()) {
                (true, _) => Duration::ZERO,
                // So that a recipient that turns out to be slow gives way soon.
                (false, false) => SLOW_AFTER,
                (false, true) => LOOK_EVERY,
            };
            tokio::select! {
                () = stop.cancelled() => {}
                Some(lane) = posts.next() => lanes.end(&lane),
                () = self.wakeup.0.notified(), if !may_be_more => may_be_more = true,
                () = tokio::time::sleep(look_after) => may_be_more = true,
            }
            while let Some(Some(lane)) = posts.next().now_or_never() {
                lanes.end(&lane);
            }
        }
        // What was not begun is another node's, or that of the next start, at once.
        for HeldDelivery { delivery, .. } in held {
            self.wait(&delivery, self.clock.now()).await;
        }
        while posts.next().await.is_some() {}
    }

    /// Takes what is due, so many at most.
    async fn take(&self, count: usize) -> Vec<HeldDelivery> {
        let now = self.clock.now();
        let mut due = match self.store.claim_deliveries(now, after(now, self.lease()), count).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "deliveries could not be read");
                return Vec::new();
            }
        };
        // Who gets a post need not be who may see it.
        due.iter_mut().filter_map(|delivery| delivery.task.as_mut()).for_each(usage_viewers::hide);
        let since = Instant::now();
        let held = |delivery: Delivery| HeldDelivery { lane: Lane::of(&delivery.webhook), delivery, since };
        due.into_iter().map(held).collect()
    }

    /// Makes an attempt, and says in which lane it was.
    async fn deliver_in(&self, delivery: Delivery, lane: Lane) -> Lane {
        let span = spans::deliver(&delivery.webhook.protocol);
        self.deliver(delivery).instrument(span).await;
        lane
    }

    /// Has a delivery wait at least as long as after an attempt that failed, and longer with each of its recipient that
    /// did before it: that takes too long with those.
    async fn put_off(&self, delivery: &Delivery, times: u32) {
        tracing::debug!(of = delivery.webhook.protocol, "a post was put off: its recipient is slow");
        let until = self.retry_at(delivery).max(after(self.clock.now(), RETRY_AFTER * times));
        self.wait(delivery, until).await;
    }

    /// Has a delivery wait of which no attempt was made. It ends with its task, or its notice, however often it waits.
    async fn wait(&self, delivery: &Delivery, until: Timestamp) {
        if let Err(error) = self.store.put_off_delivery(delivery.id, until).await {
            tracing::warn!(%error, "a delivery could not be put off");
        }
    }

    /// When to try again after a failed attempt.
    fn retry_at(&self, delivery: &Delivery) -> Timestamp {
        after(self.clock.now(), RETRY_AFTER * 2u32.pow(delivery.attempts.min(RETRY_DOUBLINGS_MAX)))
    }

    /// A post begins within [`lanes::HELD_TIME_MAX`] after it was taken.
    fn lease(&self) -> Duration {
        self.attempt_time_max().saturating_add(LEASE_MARGIN)
    }

    fn attempt_time_max(&self) -> Duration {
        Purpose::Webhook.deadlines(self.outbound.load().egress.config()).total
    }

    /// Posts once. An attempt counts from the moment it was taken, so one that a crash cut short has
    /// been made: nothing is posted more often than its webhook allows. As long as that leaves one, it
    /// is made again.
    async fn deliver(&self, delivery: Delivery) {
        let courier = self.outbound.load().couriers.get(&delivery.webhook.protocol).cloned();
        let outcome = match &courier {
            _ if delivery.attempts > delivery.webhook.retries => CarryOutcome::Never,
            Some(courier) => self.carry(courier.as_ref(), &delivery).await,
            None if self.post(&delivery).await => CarryOutcome::Delivered,
            None => CarryOutcome::Later,
        };
        if let CarryOutcome::Wait(wait) = outcome {
            return self.wait(&delivery, after(self.clock.now(), wait)).await;
        }
        let worked = outcome == CarryOutcome::Delivered;
        let protocol = &delivery.webhook.protocol;
        let of = match &delivery.task {
            _ if courier.is_some() => protocol,
            Some(_) if self.outbound.load().envelopes.contains_key(protocol) => protocol,
            Some(_) => "unknown",
            None => OPERATOR,
        };
        self.metrics.delivered(of, worked);
        spans::record_outcome(&Span::current(), if worked { "delivered" } else { "failed" }, !worked);
        let again = outcome == CarryOutcome::Later && delivery.attempts < delivery.webhook.retries;
        match (worked, again) {
            (true, _) => {}
            (false, true) => tracing::info!(of, attempts = delivery.attempts + 1, "a post will be made again"),
            (false, false) => {
                tracing::warn!(of, attempts = delivery.attempts + 1, "a post was given up: nobody took it");
            }
        }
        let retry_at = again.then(|| self.retry_at(&delivery));
        self.settle(&delivery, retry_at).await;
    }

    async fn settle(&self, delivery: &Delivery, retry_at: Option<Timestamp>) {
        if let Err(error) = self.store.settle_delivery(delivery.id, retry_at).await {
            tracing::warn!(%error, "a delivery could not be settled");
        }
    }

    async fn carry(&self, courier: &dyn Courier, delivery: &Delivery) -> CarryOutcome {
        let carried = tokio::time::timeout(self.attempt_time_max(), courier.carry(delivery)).await;
        carried.unwrap_or(CarryOutcome::Later)
    }

    async fn post(&self, delivery: &Delivery) -> bool {
        // One for the whole post: what takes its place meanwhile makes the next one.
        let outbound = self.outbound.load_full();
        let webhook = &delivery.webhook;
        let post = match (&delivery.task, outbound.envelopes.get(&webhook.protocol)) {
            (None, _) => WebhookPost::json(&Value::Object(webhook.details.clone()), webhook.secret.as_deref()),
            (Some(task), Some(envelope)) => envelope(task, webhook),
            (Some(_), None) => {
                tracing::warn!(protocol = webhook.protocol, "a delivery of an unknown protocol was dropped");
                return false;
            }
        };
        let WebhookPost { mut headers, body } = post;
        if let Ok(id) = HeaderValue::from_str(&forecourt_core::ids::mint(&*self.entropy)) {
            headers.insert(DELIVERY_ID, id);
        }
        let purpose = if delivery.webhook.callback { Purpose::Callback } else { Purpose::Webhook };
        match outbound.egress.post(purpose, &delivery.webhook.url, headers, body).await {
            Ok(answer) => answer.is_success(),
            Err(error) => {
                tracing::info!(%error, "a webhook could not be reached");
                false
            }
        }
    }
}
