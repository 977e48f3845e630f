//! One call of a model, as its words come: from what was said before, from somebody who asks the same, or
//! from the provider. Whatever goes wrong is a [`RerankError`], and never the end of an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use async_stream::stream;
use forecourt_core::{Entropy, ids};
use forecourt_telemetry::going_on;
use futures::{Stream, StreamExt, pin_mut};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::answer_cache::{AnswerCache, AnswerReceiver, AnswerSender, whole};
use super::budget::Budget;
use super::error::RerankError;
use super::prompt::Prompt;
use crate::limits::{RERANK_ANSWER_BYTES_MAX, RERANK_CALLS_MAX, RERANK_FAILURES_MAX, RERANK_REST};
use forecourt_agents::upstream::UpstreamFailure;
use forecourt_completions::draft::ReplyFinish;
use forecourt_completions::{ModelReply, Provider, ProviderError, ReplyWait, WHO};

/// A model that may be asked.
pub(super) struct RerankModel {
    provider: Provider,
    cache: Arc<AnswerCache>,
    calls: Semaphore,
    /// How far the requested answer format is reduced for this provider: 0 JSON schema, 1 any JSON, [`PLAINEST`] none.
    plainness: AtomicU8,
    /// Failures since the last success.
    failures: AtomicU32,
    /// The second of the clock until which the provider is left alone.
    rests_until: AtomicI64,
    entropy: Arc<dyn Entropy>,
}

/// No answer format is sent: the instructions have to do.
const PLAINEST: u8 = 2;
/// Characters of a nonce, of six bits each.
const NONCE_CHARS: usize = 24;

impl RerankModel {
    /// The model of a provider, whose answers are kept for `age_max`.
    pub(super) fn new(provider: Provider, age_max: Duration, entropy: Arc<dyn Entropy>) -> Self {
        Self {
            cache: Arc::new(AnswerCache::new(age_max, provider.clock.clone())),
            provider,
            calls: Semaphore::new(RERANK_CALLS_MAX),
            plainness: AtomicU8::new(0),
            failures: AtomicU32::new(0),
            rests_until: AtomicI64::new(0),
            entropy,
        }
    }

    /// What `read` makes of the whole answer, not later than `by`. Fails with a [`RerankError`] when `read` makes
    /// nothing of it; such an answer is not kept.
    pub(super) async fn answer<T>(
        self: &Arc<Self>,
        budget: &Budget,
        prompt: Prompt,
        by: Instant,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, RerankError> {
        // With the fields of the request: the same prompt at another temperature has another answer.
        let key = prompt.key(&self.provider.fields);
        let words = self.words(budget, prompt, by);
        pin_mut!(words);
        let mut text = String::new();
        while let Some(next) = words.next().await {
            text.push_str(&next?);
        }
        // Some models think aloud before they answer.
        let cached = text.rsplit_once("</think>").map_or(text.as_str(), |(_, cached)| cached);
        read(cached).ok_or_else(|| {
            self.cache.forget(&key);
            tracing::warn!(bytes = text.len(), "a model did not keep to the form it was asked for");
            RerankError::new("The model gave an answer that could not be read.")
        })
    }

    /// The answer as it comes. Ends in good order, or after one trouble.
    pub(super) fn words(
        self: &Arc<Self>,
        budget: &Budget,
        prompt: Prompt,
        by: Instant,
    ) -> impl Stream<Item = Result<String, RerankError>> + Send + use<> {
        let listener = self.listen(budget, prompt, by);
        stream! {
            let mut listener = match listener {
                Ok(listener) => listener,
                Err(error) => return yield Err(error),
            };
            let mut heard = 0;
            loop {
                let (words, ended) = {
                    let growing = listener.borrow_and_update();
                    (growing.text[heard..].to_owned(), growing.ended.clone())
                };
                heard += words.len();
                if !words.is_empty() {
                    yield Ok(words);
                }
                match ended {
                    Some(Ok(())) => return,
                    Some(Err(error)) => return yield Err(error),
                    None => {}
                }
                // Also where the sender went away without an end, as a task that panicked does.
                if !matches!(timeout_at(by, listener.changed()).await, Ok(Ok(()))) {
                    return yield Err(late());
                }
            }
        }
    }

    /// Listens to an answer: to one of before, to one that somebody else waits for, or to a new one.
    fn listen(self: &Arc<Self>, budget: &Budget, prompt: Prompt, by: Instant) -> Result<AnswerReceiver, RerankError> {
        let key = prompt.key(&self.provider.fields);
        if let Some(text) = self.cache.cached(&key).filter(|_| budget.is_recorded) {
            return Ok(whole(text));
        }
        let (listener, teller) = match budget.is_recorded {
            true => self.cache.listen(key),
            false => {
                let (listener, teller) = self.cache.alone();
                (listener, Some(teller))
            }
        };
        if let Some(teller) = teller {
            self.is_awake()?;
            budget.spend(prompt.bytes(), prompt.tokens_max)?;
            // A task of its own: others may listen to the answer when the first caller has left.
            tokio::spawn(going_on(self.clone().tell(prompt, budget.hop, by, teller)));
        }
        Ok(listener)
    }

    /// Asks the provider, and stops when no receiver is left.
    async fn tell(self: Arc<Self>, prompt: Prompt, hop: u32, by: Instant, teller: AnswerSender) {
        let asked = timeout_at(by, self.ask(&prompt, hop, by, &teller));
        let ended = tokio::select! {
            // Neither a success nor a failure of the provider: it is not counted.
            () = teller.nobody_listens() => return,
            ended = asked => ended.unwrap_or_else(|_| Err(late())),
        };
        self.count(&ended);
        teller.end(ended);
    }

    async fn ask(&self, prompt: &Prompt, hop: u32, by: Instant, teller: &AnswerSender) -> Result<(), RerankError> {
        // Waiting for a place counts against the deadline: `tell` holds the whole call to it.
        let _call = self.calls.acquire().await.map_err(|_| late())?;
        let mut reply = self.begun(prompt, hop, by).await?;
        let mut bytes_left = RERANK_ANSWER_BYTES_MAX;
        while let Some(words) = reply.next_text().await.map_err(ProviderError::into_ending)? {
            bytes_left = bytes_left.checked_sub(words.len()).ok_or_else(|| UpstreamFailure::TooLarge.ending(WHO))?;
            teller.tell(&words);
        }
        match reply.draft.finish()? {
            ReplyFinish::Whole | ReplyFinish::Cut => Ok(()),
            ReplyFinish::Empty { .. } => Err(RerankError::new("The model had nothing to say.")),
            ReplyFinish::Calls(_) => Err(RerankError::new("The model asked for tools where there are none.")),
        }
    }

    /// Sends the request and waits for the reply to begin. A provider that refuses an answer format is asked again
    /// with a plainer one.
    async fn begun(&self, prompt: &Prompt, hop: u32, by: Instant) -> Result<ModelReply, RerankError> {
        // A nonce for each call: content that knew it could close the data and go on as instructions.
        let messages = prompt.messages(&ids::mint(&*self.entropy)[..NONCE_CHARS]);
        loop {
            let plainness = self.plainness.load(Ordering::Relaxed);
            let body = self.body(prompt, &messages, plainness);
            match self.provider.ask(&body, hop, ReplyWait::until(by)).await {
                Err(ProviderError::Unfit(_)) if prompt.form.is_some() && plainness < PLAINEST => {
                    // Remembered for all further calls, and never taken back: two calls at once may both have failed.
                    self.plainness.fetch_max(plainness + 1, Ordering::Relaxed);
                }
                reply => return reply.map_err(|none| none.into_ending().into()),
            }
        }
    }

    fn body(&self, prompt: &Prompt, messages: &Value, plainness: u8) -> Map<String, Value> {
        let mut body = self.provider.fields.clone();
        // The operator's `body` tells which of the two names this API takes.
        let bound = ["max_completion_tokens", "max_tokens"].into_iter().find(|key| body.contains_key(*key));
        body.insert(bound.unwrap_or("max_tokens").to_owned(), prompt.tokens_max.into());
        body.insert("messages".to_owned(), messages.clone());
        if let Some(form) = prompt.form.as_ref().filter(|_| plainness < PLAINEST) {
            let schema = json!({"name": form.name, "strict": true, "schema": form.schema});
            let format = match plainness {
                0 => json!({"type": "json_schema", "json_schema": schema}),
                _ => json!({"type": "json_object"}),
            };
            body.insert("response_format".to_owned(), format);
        }
        body
    }

    /// Whether the provider may be asked: one that fails again and again is left alone for a while, so that
    /// nobody waits for it in vain.
    fn is_awake(&self) -> Result<(), RerankError> {
        match self.provider.clock.now().as_second() < self.rests_until.load(Ordering::Relaxed) {
            true => Err(RerankError::new("The model provider failed several times just now.")),
            false => Ok(()),
        }
    }

    fn count(&self, ended: &Result<(), RerankError>) {
        let Err(error) = ended else { return self.failures.store(0, Ordering::Relaxed) };
        tracing::warn!(reason = error.words(), "a model did not help with a search");
        if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= RERANK_FAILURES_MAX {
            let until = self.provider.clock.now().as_second() + RERANK_REST.as_secs().cast_signed();
            self.rests_until.store(until, Ordering::Relaxed);
            self.failures.store(0, Ordering::Relaxed);
        }
    }
}

fn late() -> RerankError {
    RerankError::new("The model took too long.")
}
