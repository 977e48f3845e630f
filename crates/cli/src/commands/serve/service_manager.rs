//! What systemd, or another service manager, is told. Without one, nothing is.

use sd_notify::NotifyState;

/// The daemon answers.
pub(super) fn ready() {
    tell(&[NotifyState::Ready]);
}

/// It was told to stop, and lets running answers finish.
pub(super) fn stopping() {
    tell(&[NotifyState::Stopping]);
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "the service manager could not be told");
    }
}
