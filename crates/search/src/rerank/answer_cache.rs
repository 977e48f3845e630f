//! What a model has said lately, and what it is saying right now: equal prompts share one answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use forecourt_core::{Clock, Timestamp};
use moka::sync::Cache;
use tokio::sync::watch;

use super::error::RerankError;
use super::prompt::PromptKey;
use crate::limits::ANSWER_CACHE_BYTES_MAX;

/// Answers of a model by their prompts: whole ones for `age_max`, and those that are being written.
pub(super) struct AnswerCache {
    cached: Cache<PromptKey, Arc<CachedAnswer>>,
    /// Those that are being said. Whoever says one holds the sender, and it ends when nobody listens.
    running: Mutex<HashMap<PromptKey, Weak<watch::Sender<PartialAnswer>>>>,
    age_max: Duration,
    clock: Arc<dyn Clock>,
}

/// A whole answer.
struct CachedAnswer {
    text: String,
    at: Timestamp,
}

/// An answer on its way.
#[derive(Debug, Clone, Default)]
pub(super) struct PartialAnswer {
    /// All of it so far.
    pub(super) text: String,
    /// How it ended, once it has.
    pub(super) ended: Option<Result<(), RerankError>>,
}

/// Listens to an answer.
pub(super) type AnswerReceiver = watch::Receiver<PartialAnswer>;

/// The writing end of an answer.
pub(super) struct AnswerSender {
    cache: Arc<AnswerCache>,
    /// Under which it is known to others. `None`: it is for one alone.
    key: Option<PromptKey>,
    sender: Arc<watch::Sender<PartialAnswer>>,
}

/// Bytes of an entry beside its text, about.
const ENTRY_BYTES: usize = 128;

impl AnswerCache {
    /// Nothing yet. Answers older than `age_max` are asked for again.
    pub(super) fn new(age_max: Duration, clock: Arc<dyn Clock>) -> Self {
        let weigh = |_: &PromptKey, cached: &Arc<CachedAnswer>| {
            u32::try_from(cached.text.len() + ENTRY_BYTES).unwrap_or(u32::MAX)
        };
        let cached = Cache::builder().max_capacity(ANSWER_CACHE_BYTES_MAX).weigher(weigh).build();
        Self { cached, running: Mutex::default(), age_max, clock }
    }

    /// The answer to a prompt, if there was one lately.
    pub(super) fn cached(&self, key: &PromptKey) -> Option<String> {
        let cached = self.cached.get(key)?;
        let age = self.clock.now().duration_since(cached.at);
        // A clock that was set back makes an answer old as well.
        Duration::try_from(age).is_ok_and(|age| age < self.age_max).then(|| cached.text.clone())
    }

    /// A receiver of the answer to a prompt, and its sender for the first caller, who has to write it.
    pub(super) fn listen(self: &Arc<Self>, key: PromptKey) -> (AnswerReceiver, Option<AnswerSender>) {
        let mut running = self.running();
        if let Some(sender) = running.get(&key).and_then(Weak::upgrade) {
            return (sender.subscribe(), None);
        }
        let (listener, teller) = self.tell(Some(key));
        // Weak: when the task that asks the provider ends, nobody can join an answer that no longer grows.
        running.insert(key, Arc::downgrade(&teller.sender));
        (listener, Some(teller))
    }

    /// A receiver and a sender of an answer that is not shared.
    pub(super) fn alone(self: &Arc<Self>) -> (AnswerReceiver, AnswerSender) {
        self.tell(None)
    }

    /// Keeps an answer no longer.
    pub(super) fn forget(&self, key: &PromptKey) {
        self.cached.invalidate(key);
    }

    fn tell(self: &Arc<Self>, key: Option<PromptKey>) -> (AnswerReceiver, AnswerSender) {
        let (sender, listener) = watch::channel(PartialAnswer::default());
        (listener, AnswerSender { cache: self.clone(), key, sender: Arc::new(sender) })
    }

    fn running(&self) -> MutexGuard<'_, HashMap<PromptKey, Weak<watch::Sender<PartialAnswer>>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer that has ended well.
pub(super) fn whole(text: String) -> AnswerReceiver {
    watch::channel(PartialAnswer { text, ended: Some(Ok(())) }).1
}

impl AnswerSender {
    /// The next words.
    pub(super) fn tell(&self, words: &str) {
        self.sender.send_modify(|growing| growing.text.push_str(words));
    }

    /// Waits until the last listener has gone.
    pub(super) async fn nobody_listens(&self) {
        self.sender.closed().await;
    }

    /// How it ended. A whole answer is kept.
    pub(super) fn end(self, ended: Result<(), RerankError>) {
        if let (Some(key), Ok(())) = (self.key, &ended) {
            let (text, at) = (self.sender.borrow().text.clone(), self.cache.clock.now());
            // Kept before the listeners hear of the end: who asks from then on finds it in one of the two places.
            self.cache.cached.insert(key, Arc::new(CachedAnswer { text, at }));
        }
        self.sender.send_modify(|growing| growing.ended = Some(ended));
    }
}

impl Drop for AnswerSender {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            // Also when the task ends in the middle, so that nobody waits for an answer that no longer grows.
            self.cache.running().remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::HandClock;

    use super::*;

    fn first(cache: &Arc<AnswerCache>, key: PromptKey) -> AnswerSender {
        cache.listen(key).1.expect("nobody asks yet")
    }

    #[test]
    fn an_answer_is_kept_for_so_long() {
        let clock = Arc::new(HandClock::new());
        let cache = Arc::new(AnswerCache::new(Duration::from_secs(60), clock.clone()));
        let teller = first(&cache, [1; 32]);
        teller.tell("a");
        teller.tell("b");
        teller.end(Ok(()));
        assert_eq!(cache.cached(&[1; 32]).as_deref(), Some("ab"));
        clock.advance(Duration::from_secs(59));
        assert!(cache.cached(&[1; 32]).is_some());
        clock.advance(Duration::from_secs(1));
        assert_eq!((cache.cached(&[1; 32]), cache.cached(&[2; 32])), (None, None));
    }

    #[test]
    fn a_failure_is_not_kept() {
        let cache = Arc::new(AnswerCache::new(Duration::from_secs(60), Arc::new(HandClock::new())));
        first(&cache, [1; 32]).end(Err(RerankError::new("x")));
        assert_eq!(cache.cached(&[1; 32]), None);
        first(&cache, [1; 32]);
    }

    #[test]
    fn those_who_ask_the_same_listen() {
        let cache = Arc::new(AnswerCache::new(Duration::from_secs(60), Arc::new(HandClock::new())));
        let teller = first(&cache, [1; 32]);
        first(&cache, [2; 32]);
        let (mut listener, None) = cache.listen([1; 32]) else { panic!("somebody asks already") };
        teller.tell("a");
        assert_eq!(listener.borrow_and_update().text, "a");
        drop(teller);
        assert!(listener.has_changed().is_err(), "who gave up is gone");
        first(&cache, [1; 32]);
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let cache = Arc::new(AnswerCache::new(Duration::from_secs(60), Arc::new(HandClock::new())));
        let bytes = 64 * 1024;
        for n in 0..2 * ANSWER_CACHE_BYTES_MAX / bytes {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&n.to_le_bytes());
            let teller = first(&cache, key);
            teller.tell(&"x".repeat(bytes as usize));
            teller.end(Ok(()));
        }
        cache.cached.run_pending_tasks();
        assert!(cache.cached.weighted_size() <= ANSWER_CACHE_BYTES_MAX);
    }
}
