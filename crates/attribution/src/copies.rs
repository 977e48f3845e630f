//! Copies of the head of a log at a second place, which whoever sets the data folder back does not set back with it:
//! store and records lie there together.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, timeout};

use crate::background::{on_thread, repeat};

/// How often a head is copied while records are written. The start and the end of a server copy one, too.
pub(crate) const COPY_EVERY: Duration = Duration::from_secs(60);
/// How long a second place may take to answer: nobody waits for it longer, and what it did not take it is told again.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
/// The second place, in errors of a start.
pub(crate) const COPY: &str = "the head copy";

/// A second place for heads.
pub trait HeadCopy: Send + Sync {
    /// Takes heads, as they were signed: all of them at once, or none. The error is for the operator, in words.
    fn take(&self, heads: Vec<String>) -> BoxFuture<'_, Result<(), String>>;

    /// The last head of a node's log that it took, if it can be read from here.
    ///
    /// # Errors
    /// It is there, and can't be read.
    fn last(&self, node: Option<&str>) -> io::Result<Option<String>>;
}

/// Has a second place take heads. `false`: it did not, which is told in the log.
pub(crate) async fn told(copy: &dyn HeadCopy, heads: Vec<String>) -> bool {
    let error = match timeout(ANSWER_TIME_MAX, copy.take(heads)).await {
        Ok(Ok(())) => return true,
        Ok(Err(error)) => error,
        Err(_) => format!("it did not answer within {} s", ANSWER_TIME_MAX.as_secs()),
    };
    tracing::warn!(%error, "how far the records are was not copied to the second place");
    false
}

/// The second place of one log, which is told of the last head within [`COPY_EVERY`], and not more often.
#[derive(Default)]
pub(crate) struct CopiedHead {
    copy: RwLock<Option<Arc<dyn HeadCopy>>>,
    /// When it was told last.
    told: Mutex<Option<Instant>>,
    /// The last head that it was not told yet: somebody is about to.
    untold: Mutex<Option<String>>,
    /// One at a time, or an older head would come to stand behind a newer one.
    turn: AsyncMutex<()>,
}

impl CopiedHead {
    /// Copies to another place, or to none any more.
    pub(crate) fn set(&self, copy: Option<Arc<dyn HeadCopy>>) {
        *self.copy.write() = copy;
    }

    /// The last head of a node's log at the second place, if it can be read.
    pub(crate) async fn last(&self, node: Option<&str>) -> Option<String> {
        let (copy, node) = (self.copy.read().clone()?, node.map(str::to_owned));
        let read = on_thread(move || copy.last(node.as_deref()));
        let read = timeout(ANSWER_TIME_MAX, read).await;
        let read = read.ok().flatten().unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()));
        read.unwrap_or_else(|error| {
            // The second place may be away, as a file on another host is: the store says the same.
            tracing::warn!(%error, "the head copy can't be read: records are not held against it");
            None
        })
    }

    /// Tells of a head at once.
    pub(crate) async fn tell_now(&self, jws: String) {
        let is_told_soon = self.untold.lock().replace(jws).is_some();
        if !self.tell().await && !is_told_soon {
            // Nobody is about to: the next one begins anew.
            *self.untold.lock() = None;
        }
    }

    /// Tells of a head as soon as it is time, and of later ones with it.
    pub(crate) fn tell_soon(self: &Arc<Self>, jws: String) {
        if self.copy.read().is_none() || self.untold.lock().replace(jws).is_some() {
            return;
        }
        let wait = self.told.lock().map_or(Duration::ZERO, |last| COPY_EVERY.saturating_sub(last.elapsed()));
        repeat(self, wait, COPY_EVERY, |copied| Box::pin(async move { copied.tell().await }));
    }

    /// Tells of what was not told yet. `false`: it was not taken, or more came meanwhile.
    async fn tell(&self) -> bool {
        let _turn = self.turn.lock().await;
        let Some(jws) = self.untold.lock().clone() else { return true };
        let copy = self.copy.read().clone();
        *self.told.lock() = Some(Instant::now());
        let is_told = match copy {
            Some(copy) => told(&*copy, vec![jws.clone()]).await,
            None => true,
        };
        is_told && self.untold.lock().take_if(|untold| *untold == jws).is_some()
    }
}

/// Heads as a second place keeps them, a line each.
pub fn lines(heads: &[String]) -> String {
    heads.iter().flat_map(|head| [head.as_str(), "\n"]).collect()
}
