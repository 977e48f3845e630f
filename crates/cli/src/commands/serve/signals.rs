//! Being told to stop, and to read the deployment again.

use std::io::IsTerminal;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end the daemon in good order, and the hangup, for which the deployment is read again.
pub(in crate::commands) struct Signals {
    stop: Vec<Signal>,
    hangup: Signal,
    /// Whether it was started on a terminal, whose end is a hangup too.
    on_terminal: bool,
}

/// What the daemon is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum SignalAction {
    /// To end.
    Stop,
    /// To read the deployment again.
    Reload,
}

impl Signals {
    /// Takes the signals from here on.
    pub(in crate::commands) fn listen() -> std::io::Result<Self> {
        let kinds = [SignalKind::terminate(), SignalKind::interrupt()];
        let stop = kinds.into_iter().map(signal).collect::<Result<_, _>>()?;
        Ok(Self { stop, hangup: signal(SignalKind::hangup())?, on_terminal: std::io::stdin().is_terminal() })
    }

    /// Waits for the next one.
    pub(in crate::commands) async fn told(&mut self) -> SignalAction {
        let stops = self.stop.iter_mut().map(|signal| Box::pin(signal.recv()));
        tokio::select! {
            _ = futures::future::select_all(stops) => SignalAction::Stop,
            // Who closes the terminal does not mean the files.
            _ = self.hangup.recv() => match self.on_terminal && !std::io::stdin().is_terminal() {
                true => SignalAction::Stop,
                false => SignalAction::Reload,
            },
        }
    }

    /// Waits until it is told to stop.
    pub(in crate::commands) async fn stop(&mut self) {
        while self.told().await != SignalAction::Stop {}
    }
}
