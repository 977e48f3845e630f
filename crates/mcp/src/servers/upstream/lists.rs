//! Keeping the lists of a server: asked in the background, so that nobody who lists waits for it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use rmcp::model::SubscriptionFilter;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::{Asker, SessionLease, Upstream};
use crate::elicit::Modes;
use crate::limits::{SERVER_LISTED_AGAIN, SERVER_LISTED_AGAIN_MAX, SERVER_LISTED_EVERY, SERVER_LISTING_TIME_MAX};
use crate::person::{KnownPerson, WhoAsks};
use crate::servers::catalog::Catalog;
use crate::servers::lister::Lister;
use crate::servers::sessions::SessionOwner;
use crate::servers::shelf::Shelf;
use crate::upstream::call_error::CallError;

impl Upstream {
    /// Has the server asked what it has, now and whenever that may have changed, as long as it is here.
    pub(crate) fn watch(self: &Arc<Self>, opened: impl Future<Output = bool> + Send + 'static) {
        let (weak, changed) = (Arc::downgrade(self), self.lists_changed.clone());
        tokio::spawn(async move {
            if opened.await {
                keep_listed(weak, changed).await;
            }
        });
    }

    /// Asks the server what it has.
    async fn list(&self) -> Result<(), CallError> {
        if let Some(left) = self.health.lock().left_alone() {
            return Err(CallError::LeftAlone(left));
        }
        let asked = async {
            let lease = self.lister().await?;
            let listed = Catalog::ask(&lease.session.lister()).await.map_err(CallError::from);
            if listed.as_ref().is_err_and(|error| !error.leaves_connection()) {
                self.give_up(&lease).await;
            }
            Ok((listed?, lease))
        };
        let listed = timeout(SERVER_LISTING_TIME_MAX, asked).await.unwrap_or(Err(CallError::TooLate));
        self.note(&listed);
        let ((catalog, losses), lease) = listed?;
        for loss in losses {
            tracing::warn!(server = %self.name, "of what an MCP server has is left out: {loss}");
        }
        self.take(catalog);
        if lease.session.is_modern() {
            self.hear(lease.session.lister());
        }
        Ok(())
    }

    /// Whether it ever told what it has.
    pub(crate) fn has_listed(&self) -> bool {
        self.has_listed.load(Ordering::Relaxed)
    }

    /// The same by the session of a caller, where only callers are served there.
    pub(crate) async fn list_by(&self, lease: &SessionLease) {
        let asked = timeout(SERVER_LISTING_TIME_MAX, Catalog::ask(&lease.session.lister())).await;
        if let Ok(Ok((catalog, _))) = asked {
            self.take(catalog);
        }
    }

    /// The same in the background for a person who has just signed in there.
    pub(crate) fn list_for(self: &Arc<Self>, person: KnownPerson) {
        let upstream = self.clone();
        let counted_by = format!("owner {}", person.subject);
        let owner = Some(SessionOwner { key: counted_by.clone(), counted_by: counted_by.clone() });
        let modes = Modes { form: false, url: false };
        let asker = Asker { owner, counted_by, modes, token: None, who: WhoAsks::Person(person) };
        tokio::spawn(async move {
            if let Ok(lease) = upstream.session(&asker).await {
                upstream.list_by(&lease).await;
            }
        });
    }

    fn take(&self, catalog: Catalog) {
        self.has_listed.store(true, Ordering::Relaxed);
        if *self.shelf().catalog == catalog {
            return;
        }
        *self.shelf.write() = Arc::new(Shelf::new(Arc::new(catalog), &self.rules));
        self.changes.send_modify(|count| *count += 1);
    }

    /// Listens to a server of the newest revision, which tells of changes to whoever asked for them.
    fn hear(&self, server: Lister) {
        if self.is_heard.swap(true, Ordering::Relaxed) {
            return;
        }
        let (changed, is_heard) = (self.lists_changed.clone(), self.is_heard.clone());
        tokio::spawn(async move {
            let wanted = SubscriptionFilter::builder();
            let wanted = wanted.tools_list_changed().prompts_list_changed().resources_list_changed().build();
            if let Ok(mut heard) = server.listen(wanted).await {
                while let Ok(Some(_)) = heard.next().await {
                    changed.notify_one();
                }
            }
            is_heard.store(false, Ordering::Relaxed);
        });
    }
}

/// Asks a server what it has: at once, when it says that this has changed, from time to time, and sooner after it
/// failed.
async fn keep_listed(server: Weak<Upstream>, changed: Arc<Notify>) {
    let mut again = SERVER_LISTED_AGAIN;
    loop {
        let Some(upstream) = server.upgrade() else { return };
        upstream.sessions.end_idle();
        let wait = match upstream.list().await {
            Ok(()) => {
                again = SERVER_LISTED_AGAIN;
                SERVER_LISTED_EVERY
            }
            Err(error) => {
                tracing::warn!(server = %upstream.name, "an MCP server did not tell what it has: it {error}");
                let wait = again;
                again = (again * 2).min(SERVER_LISTED_AGAIN_MAX);
                wait
            }
        };
        drop(upstream);
        tokio::select! {
            () = sleep(wait) => {}
            () = changed.notified() => {}
        }
    }
}
