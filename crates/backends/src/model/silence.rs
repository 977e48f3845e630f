//! How long a provider may say nothing: whoever asks hears a word or a refusal in the meantime.

use std::time::Duration;

use forecourt_agents::upstream::UpstreamFailure;
use forecourt_completions::chain::{Attempts, Chain};
use forecourt_completions::{ModelReply, Piece, ProviderError};
use tokio::time::{Instant, timeout_at};

/// The wait for the first sign of a reply: one for all models that are asked for it, so that those behind a silent one
/// have their share of it.
pub(super) struct Silence {
    time_max: Duration,
    /// When it is over. `None`: nothing is waited for, or the reply has begun.
    until: Option<Instant>,
}

impl Silence {
    pub(super) fn new(time_max: Duration) -> Self {
        Self { time_max, until: None }
    }

    /// Until when the model whose turn it is may say nothing.
    pub(super) fn share(&mut self, chain: &Chain, attempts: &Attempts) -> Instant {
        let now = Instant::now();
        let left = self.until.get_or_insert(now + self.time_max).saturating_duration_since(now);
        now + chain.share(attempts, left)
    }

    /// The moment behind which no other attempt helps whoever waits.
    pub(super) fn end(&self, deadline: Instant) -> Instant {
        self.until.map_or(deadline, |until| until.min(deadline))
    }

    /// The next piece of a reply. A stream that is open, with fields of no content or with comments in it, is no sign.
    pub(super) async fn next_piece(
        &mut self,
        reply: &mut ModelReply,
        until: Instant,
    ) -> Result<Option<Piece>, ProviderError> {
        let piece = match self.until {
            None => reply.next_piece().await,
            Some(_) => match timeout_at(until, reply.next_piece()).await {
                Ok(piece) => piece,
                // The arguments of a call of a tool come in pieces that are not shown.
                Err(_) if reply.draft.written > 0 => reply.next_piece().await,
                Err(_) => return Err(UpstreamFailure::Slow.into()),
            },
        };
        if reply.draft.written > 0 {
            self.until = None;
        }
        piece
    }
}
