//! A verdict says, while an answer is being made, whether the call got past whoever may refuse it. Clients begin to
//! sign in at a 401 or 403 of the transport, and at no answer within the protocol.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::PolicyPart;
use forecourt_core::policy::RefusalKind;
use forecourt_surface::tool::{ToolEvent, ToolOutput};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

/// What is known of one call. Clones tell of the same call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verdict(Arc<SharedVerdict>);

#[derive(Debug, Default)]
struct SharedVerdict {
    stage: Mutex<Stage>,
    settled: Notify,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Undecided,
    Passed,
    SignIn(Box<PolicyPart>),
}

impl Verdict {
    /// Tells what the first thing that happened in a call says of it. What was told before stands.
    pub(crate) fn tell(&self, first: &ToolEvent) {
        self.settle(match first {
            ToolEvent::Done(called) => sign_in(called).map_or(Stage::Passed, Stage::SignIn),
            ToolEvent::Progress(_) => Stage::Passed,
        });
    }

    /// Until this is dropped the call may still be refused.
    pub(crate) fn pending(&self) -> Pending {
        Pending(self.clone())
    }

    /// The refusal of a caller who would have to sign in, or to be given more scopes: `None` once the call
    /// got past that, and when nothing is known after `time_max`.
    pub(crate) async fn refusal(&self, time_max: Duration) -> Option<Box<PolicyPart>> {
        let settled = async {
            loop {
                // Asked for before it is looked, so that nothing is settled in between unheard.
                let settled = self.0.settled.notified();
                if !matches!(*self.0.stage.lock(), Stage::Undecided) {
                    return;
                }
                settled.await;
            }
        };
        timeout(time_max, settled).await.ok()?;
        self.known_refusal()
    }

    /// The same as far as it is known by now.
    pub(crate) fn known_refusal(&self) -> Option<Box<PolicyPart>> {
        match &*self.0.stage.lock() {
            Stage::SignIn(part) => Some(part.clone()),
            Stage::Undecided | Stage::Passed => None,
        }
    }

    fn settle(&self, stage: Stage) {
        let mut now = self.0.stage.lock();
        if matches!(*now, Stage::Undecided) {
            *now = stage;
            self.0.settled.notify_waiters();
        }
    }
}

/// A call that is being answered. However it ends, nobody waits for its verdict then.
pub(crate) struct Pending(Verdict);

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.settle(Stage::Passed);
    }
}

fn sign_in(called: &ToolOutput) -> Option<Box<PolicyPart>> {
    let part = called.refusal.as_ref()?;
    matches!(part.kind, RefusalKind::Unauthorized { .. }).then(|| part.clone())
}
