//! Whether a call got past whoever may refuse it, told to the way in while its answer is in the making: a
//! client signs in when the transport says so, and no answer in the protocol makes it.

use std::time::Duration;

use forecourt_core::PolicyPart;
use forecourt_core::policy::RefusalKind;
use forecourt_surface::tool::{ToolEvent, ToolOutput};
use tokio::sync::watch;
use tokio::time::timeout;

/// What is known of one call. Clones tell of the same call.
#[derive(Debug, Clone)]
pub(crate) struct Verdict(watch::Sender<State>);

#[derive(Debug)]
enum State {
    Open,
    Passed,
    SignIn(Box<PolicyPart>),
}

impl Default for Verdict {
    fn default() -> Self {
        Self(watch::Sender::new(State::Open))
    }
}

impl Verdict {
    /// Tells what the first thing that happened in a call says of it. What was told before stands.
    pub(crate) fn tell(&self, first: &ToolEvent) {
        self.settle(match first {
            ToolEvent::Done(called) => sign_in(called).map_or(State::Passed, State::SignIn),
            ToolEvent::Progress(_) => State::Passed,
        });
    }

    /// Until this is dropped the call may still be refused.
    pub(crate) fn pending(&self) -> Pending {
        Pending(self.clone())
    }

    /// The refusal of a caller who would have to sign in, or to be given more scopes: `None` once the call
    /// got past that, and when nothing is known after `time_max`.
    pub(crate) async fn refusal(&self, time_max: Duration) -> Option<Box<PolicyPart>> {
        let mut told = self.0.subscribe();
        let known = timeout(time_max, told.wait_for(|state| !matches!(state, State::Open))).await.ok()?.ok()?;
        match &*known {
            State::SignIn(part) => Some(part.clone()),
            State::Open | State::Passed => None,
        }
    }

    fn settle(&self, state: State) {
        self.0.send_if_modified(|now| {
            let is_open = matches!(now, State::Open);
            if is_open {
                *now = state;
            }
            is_open
        });
    }
}

/// A call that is being answered. However it ends, nobody waits for its verdict then.
pub(crate) struct Pending(Verdict);

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.settle(State::Passed);
    }
}

fn sign_in(called: &ToolOutput) -> Option<Box<PolicyPart>> {
    let part = called.refusal.as_ref()?;
    matches!(part.kind, RefusalKind::Unauthorized { .. }).then(|| part.clone())
}
