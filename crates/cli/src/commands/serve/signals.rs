//! Being told to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end the daemon in good order. A hangup is one of them as long as nothing is read anew
/// for it, unless whoever started the daemon has it ignored, as `nohup` does.
pub(super) struct Stop {
    signals: Vec<Signal>,
}

impl Stop {
    /// Takes the signals from here on.
    pub(super) fn listen() -> std::io::Result<Self> {
        let mut kinds = vec![SignalKind::terminate(), SignalKind::interrupt()];
        if !ignores_hangup() {
            kinds.push(SignalKind::hangup());
        }
        Ok(Self { signals: kinds.into_iter().map(signal).collect::<Result<_, _>>()? })
    }

    /// Waits for the next one.
    pub(super) async fn told(&mut self) {
        let waits = self.signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures::future::select_all(waits).await;
    }
}

/// Whether this process was started with hangups ignored.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored(&status).is_some_and(|mask| mask & 1 != 0)
}

/// The mask of ignored signals, the first of which is the hangup.
fn ignored(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_is_read() {
        assert_eq!(ignored("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"), Some(0x1001));
        assert_eq!(ignored("Name:\tx\n"), None);
    }
}
