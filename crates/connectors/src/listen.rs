//! Events over a connection that a platform opens from here: one node of several holds it, and goes on where the one
//! before it stopped.

use std::sync::Arc;

use forecourt_core::{Clock, Entropy, Error};
use forecourt_host::EventOutcome;
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::connector::Connector;
use crate::intake::Intake;
use crate::lease::{HeldLease, ListenLease};
use crate::limits::{LISTEN_LEASE, LISTEN_LOOK_EVERY, LISTEN_STATE_EVERY};
use crate::platform::{Incoming, Listening, Platform, Reception, TakeEvents};

struct EventsOf<'a, P: Platform> {
    intake: &'a Intake<P>,
    connector: &'a Connector<P>,
}

impl<P: Platform> TakeEvents for EventsOf<'_, P> {
    fn take(&self, incoming: Incoming) -> BoxFuture<'_, Result<Reception, Error>> {
        Box::pin(self.intake.take(self.connector, incoming))
    }

    fn missed(&self, count: usize) {
        (0..count).for_each(|_| self.intake.count(self.connector, EventOutcome::Missed));
    }
}

/// How a turn of listening ended.
enum TurnEnd {
    /// The platform will never do it, and has said why.
    Never,
    /// Another node has the lease.
    Lost,
    /// It was told to.
    Stopped,
}

/// Listens for all connectors of a kind that do so, until `stop`.
pub(crate) async fn listen_all<P: Platform>(intake: Arc<Intake<P>>, stop: CancellationToken) {
    let listeners = intake.connectors.values().filter(|connector| connector.platform.listens());
    futures::future::join_all(listeners.map(|connector| listen(&intake, connector, &stop))).await;
}

async fn listen<P: Platform>(intake: &Intake<P>, connector: &Connector<P>, stop: &CancellationToken) {
    let host = &intake.host;
    let (clock, entropy) = (host.clock().clone(), host.entropy().clone());
    let lease = ListenLease {
        ledger: host.ledger(P::KIND),
        clock: &*clock,
        stream: format!("listen:{}", connector.name),
        node: host.node(),
        is_alone: host.is_alone(),
    };
    while !stop.is_cancelled() {
        match lease.take().await {
            Ok(Some(held)) => {
                let events = EventsOf { intake, connector };
                let (turn_stop, state) = (stop.child_token(), held.state.clone());
                let ambient: (&dyn Clock, &dyn Entropy) = (&*clock, &*entropy);
                let listening = Listening::new(&connector.name, &intake.egress, ambient, turn_stop, state, &events);
                match turn(&lease, held, connector, &listening).await {
                    TurnEnd::Never => stop.cancelled().await,
                    TurnEnd::Lost => tracing::info!(connector = %connector.name, "another node listens by now"),
                    TurnEnd::Stopped => {}
                }
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, connector = %connector.name, "it is not known which node listens"),
        }
        let _ = stop.run_until_cancelled(sleep(LISTEN_LOOK_EVERY)).await;
    }
}

/// Listens for as long as the lease holds.
async fn turn<P: Platform>(
    lease: &ListenLease<'_>,
    held: HeldLease,
    connector: &Connector<P>,
    listening: &Listening<'_>,
) -> TurnEnd {
    let work = async {
        connector.platform.listen(listening).await;
        let is_by_itself = !listening.stop.is_cancelled();
        listening.stop.cancel();
        is_by_itself
    };
    let holding = async {
        let held = hold(lease, held, listening).await;
        // What is under way ends within the deadlines of the platform.
        listening.stop.cancel();
        held
    };
    let (is_by_itself, held) = futures::join!(work, holding);
    let Some(held) = held else { return TurnEnd::Lost };
    if let Err(error) = lease.give_back(held, listening.state()).await {
        tracing::debug!(%error, "the next node waits until the lease is over");
    }
    if is_by_itself { TurnEnd::Never } else { TurnEnd::Stopped }
}

/// Holds the lease and writes down where the platform stands, until the lease is lost (`None`) or it is to end.
async fn hold(lease: &ListenLease<'_>, mut held: HeldLease, listening: &Listening<'_>) -> Option<HeldLease> {
    let (stop, mut renewed_at) = (&listening.stop, Instant::now());
    loop {
        tokio::select! {
            () = stop.cancelled() => return Some(held),
            () = listening.changed.notified() => {}
            () = sleep_until(renewed_at + LISTEN_LEASE / 3) => {}
        }
        match lease.renew(&held, listening.state()).await {
            Ok(Some(renewed)) => (held, renewed_at) = (renewed, Instant::now()),
            Ok(None) => return None,
            Err(error) => {
                tracing::warn!(%error, "the lease of a connection was not renewed");
                // Another node may have it by now: two would hear the same.
                if renewed_at.elapsed() >= LISTEN_LEASE {
                    return None;
                }
            }
        }
        if stop.run_until_cancelled(sleep(LISTEN_STATE_EVERY)).await.is_none() {
            return Some(held);
        }
    }
}
