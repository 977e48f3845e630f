//! The host: what it holds, and what protocols ask of it beside the two verbs.

use crate::attachments::Attachments;
use crate::conversations::Conversations;
use crate::deliver::{DeliveryWakeup, Outbound};
use crate::directory::Directory;
use crate::idempotency::{Idempotency, IdempotencyOwner, IdempotentCalls};
use crate::ledger::Ledger;
use crate::lifecycle::{Lifecycle, LifecycleView};
use crate::limits::Throttle;
use crate::metrics::Metrics;
use crate::operator_queue::{Inquiries, OperatorQueue};
use crate::records::Records;
use crate::tasks::Tasks;
use arc_swap::ArcSwap;
use forecourt_contract::Dispatcher;
use forecourt_core::clock::after;
use forecourt_core::limits::THREAD_TTL;
use forecourt_core::store::Notification;
use forecourt_core::{Clock, Entropy, Error, Handle, PolicyPart, Sender, Site, Store, ThreadId};
use futures::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A host: the agents and endpoints of a domain, behind two verbs, [`Host::receive`] and [`Host::invoke`].
pub struct Host {
    pub(crate) site: Site,
    pub(crate) directory: Arc<Directory>,
    pub(crate) throttle: Arc<Throttle>,
    pub(crate) conversations: Conversations,
    pub(crate) lifecycle: Arc<Lifecycle>,
    pub(crate) operator: OperatorQueue,
    pub(crate) idempotency: Idempotency,
    pub(crate) contract: Arc<Dispatcher>,
    pub(crate) attachments: Attachments,
    /// Issuances (consents and payments) and the audit.
    pub(crate) records: Arc<Records>,
    /// The egress, envelopes and couriers of the host whose deliveries count now; shared by all hosts of a process.
    pub(crate) outbound: Arc<ArcSwap<Outbound>>,
    /// What deliveries are made with once this host has taken over.
    pub(crate) own_outbound: Arc<Outbound>,
    pub(crate) wakeup: DeliveryWakeup,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Arc<Metrics>,
    /// Ends, after the stop that the host was started with, when the posts under way are made.
    pub(crate) posting: TaskTracker,
    pub(crate) stop: CancellationToken,
}

/// The questions that protocols ask beside [`Host::receive`].
impl Host {
    /// The site: the domain of this host and the base of its URLs.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The agents here.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The host's clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The host's randomness.
    pub fn entropy(&self) -> &Arc<dyn Entropy> {
        &self.entropy
    }

    /// The lifecycle states of the agents, read-only.
    pub fn lifecycle(&self) -> LifecycleView<'_> {
        LifecycleView::new(&self.lifecycle)
    }

    /// The operator's queue, as callers may use it: to ask a question and to read its answer.
    pub fn inquiries(&self) -> Inquiries<'_> {
        Inquiries::new(&self.operator)
    }

    /// The idempotency keys of one caller.
    pub fn idempotency<'a>(&'a self, caller: IdempotencyOwner<'a>) -> IdempotentCalls<'a> {
        IdempotentCalls::new(&self.idempotency, caller)
    }

    /// The streams of entries that `owner` keeps: a protocol, or another part of the program by its name.
    pub fn ledger(&self, owner: &'static str) -> Ledger {
        Ledger::new(self.store.clone(), self.clock.clone(), owner)
    }

    /// The counters and gauges of this host, for the operator's metrics.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Cancelled when the host stops, after running work was waited for: what protocols keep open for
    /// as long as a client likes ends with it.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// Counts one request of a caller against its limits, for requests that carry no message.
    pub fn meter(&self, peer: Option<std::net::IpAddr>) -> Result<(), Box<PolicyPart>> {
        self.throttle.admit_peer(peer)
    }

    /// Queues a notice: a delivery that belongs to no task, for the courier of its protocol. Durable when this
    /// returns. Fails with [`Error::Unavailable`] while as many deliveries wait as may.
    pub fn notify(&self, notice: Notification) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            self.store.enqueue(notice).await?;
            self.wakeup.wake();
            Ok(())
        })
    }

    /// Whether a conversation with `agent` is stored that `sender` may continue: its own, or one without an owner.
    pub fn remembers<'a>(
        &'a self,
        thread: &'a ThreadId,
        agent: &'a Handle,
        sender: &'a Sender,
    ) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move { self.conversations.is_kept(thread, agent, sender).await })
    }

    /// Which agent a conversation is with, as far as [`Host::set_route`] was told. Hub card 3.3.
    pub fn route<'a>(&'a self, thread: &'a ThreadId) -> BoxFuture<'a, Result<Option<Handle>, Error>> {
        Box::pin(async move { Ok(self.store.route(thread, self.clock.now()).await?) })
    }

    /// Records which agent a conversation is with, until it was idle for [`THREAD_TTL`]. Hub card 3.3.
    /// Counts towards the bytes that are kept for `sender`.
    pub fn set_route<'a>(
        &'a self,
        thread: &'a ThreadId,
        agent: &'a Handle,
        sender: &'a Sender,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            Ok(self.store.set_route(thread, agent, after(self.clock.now(), THREAD_TTL), &sender.account()).await?)
        })
    }

    /// Whether the host can do its work: the store answers, its lease holds, the machine's clock is right and it is not
    /// draining.
    pub fn ready(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            self.tasks.accepting()?;
            if self.clock_fault().is_some() {
                return Err(Error::unavailable());
            }
            Ok(self.store.ready().await?)
        })
    }

    /// Waits until nothing is under way, up to `wait_max`, and then does as [`Host::drain`] does with what is left of
    /// that time. For a host that nobody reaches any more: what runs may still ask other agents here.
    pub fn finish(&self, wait_max: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let begun = Instant::now();
            self.tasks.idle(wait_max).await;
            self.tasks.drain(wait_max.saturating_sub(begun.elapsed())).await;
        })
    }

    /// Stops taking messages, waits for running work up to `wait_max`, and ends what is left as
    /// failed, with a reason. No accepted task is lost, and no turn of a conversation.
    pub fn drain(&self, wait_max: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.tasks.drain(wait_max).await;
        })
    }

    /// Writes the turns of conversations that wait to be written.
    pub fn write_conversations(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.conversations.writer.write_all().await;
        })
    }

    /// Waits, after the stop that the host was started with, for the last turns of conversations to be written
    /// and for the posts under way, so that none is cut off: one that was begun counts as made. What is due but not
    /// begun, the next run posts.
    pub fn stopped(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.posting.wait().await;
        })
    }
}
