//! What one question may cost: tokens, and time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forecourt_core::Message;
use tokio::time::Instant;

use super::error::RerankError;
use crate::limits::BYTES_PER_TOKEN;

/// The tokens and the time that are left for one question.
#[derive(Debug)]
pub(super) struct Budget {
    tokens_left: AtomicUsize,
    /// When the order of the items has to be known.
    pub(super) rank_by: Instant,
    /// When the answer has to be whole.
    pub(super) end_by: Instant,
    /// Agents in line before this one.
    pub(super) hop: u32,
    /// Whether what comes of it may be kept for others who ask the same.
    pub(super) is_recorded: bool,
}

impl Budget {
    /// The budget for answering `message`, from now on.
    pub(super) fn new(message: &Message, tokens: usize, rank_time: Duration, total_time: Duration) -> Self {
        let now = Instant::now();
        Self {
            tokens_left: AtomicUsize::new(tokens),
            rank_by: now + rank_time,
            end_by: now + total_time,
            hop: message.hop,
            is_recorded: !message.unrecorded,
        }
    }

    /// Takes what a call of `bytes` and an answer of `tokens` may come to.
    pub(super) fn spend(&self, bytes: usize, tokens: u32) -> Result<(), RerankError> {
        // The most that it may come to, taken before the call: the windows of a question run at once.
        let cost = bytes.div_ceil(BYTES_PER_TOKEN) + tokens as usize;
        let left = self.tokens_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(cost));
        left.map(drop).map_err(|_| RerankError::new("The question would take more tokens than it may."))
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::{Handle, MessageId, Timestamp};

    use super::*;

    #[tokio::test]
    async fn a_question_has_so_many_tokens_and_not_one_more() {
        let id = MessageId::parse("1").expect("an id");
        let message = Message::new(id, Handle::parse("a").expect("a handle"), vec![], "test", Timestamp::UNIX_EPOCH);
        let budget = || Budget::new(&message, 100, Duration::from_secs(4), Duration::from_secs(8));
        let one = budget();
        assert!(one.spend(30 * BYTES_PER_TOKEN, 70).is_ok());
        assert!(one.spend(1, 0).is_err() && one.spend(0, 0).is_ok());
        assert!(budget().spend(30 * BYTES_PER_TOKEN + 1, 70).is_err(), "a token that is begun counts");
        let two = budget();
        assert!(two.spend(0, 101).is_err() && two.spend(0, 100).is_ok(), "what is refused costs nothing");
    }
}
