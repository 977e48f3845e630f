//! Answers that are shown while they are written: one message, edited as often as the platform allows. The whole answer
//! comes with its delivery, which waits until no edit is under way; nothing here needs to survive anything.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Error, Event};
use forecourt_correspondence::Letter;
use forecourt_egress::Egress;
use forecourt_host::{Host, TaskPermit};
use futures::StreamExt;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::address::ChatAddress;
use crate::connector::{Connectors, Speaking};
use crate::limits::{LIVE_ANSWERS_MAX, LIVE_EDIT_WAIT, RETRY_AFTER_MAX, SHOWN_AFTER};
use crate::message_style::MessageStyle;
use crate::platform::{Platform, PlatformError, Post};
use crate::records::{Records, hash, keep_message, messages_of};

/// The answers that are shown just now, by the token of their letter.
#[derive(Default)]
pub(crate) struct LiveAnswers(Mutex<HashMap<String, LiveAnswer>>);

#[derive(Clone)]
struct LiveAnswer {
    /// Says that it is to end.
    stop: CancellationToken,
    /// Says that it has.
    ended: CancellationToken,
}

/// An answer on its way to a message.
struct LiveMessage<'a, P: Platform> {
    host: &'a Host,
    speaking: Speaking<'a, P>,
    letter: &'a Letter<ChatAddress<P>>,
    /// The message, once there is one.
    id: Option<String>,
    /// What it shows.
    text: String,
}

impl LiveAnswers {
    /// Shows the answer of a task from now on, unless as many are shown as may be.
    pub(crate) fn follow<P: Platform>(
        self: &Arc<Self>,
        host: &Arc<Host>,
        speaking: (Arc<Connectors<P>>, Arc<Egress>),
        permit: TaskPermit,
        letter: Letter<ChatAddress<P>>,
    ) {
        let Some(live) = self.begin(&letter.token, host.stopping().child_token()) else { return };
        let (answers, host) = (self.clone(), host.clone());
        tokio::spawn(async move {
            let (connectors, egress) = speaking;
            if let Some(connector) = connectors.get(&letter.address.connector) {
                let speaking = Speaking { connector, egress: &egress };
                let shown = LiveMessage { host: &host, speaking, letter: &letter, id: None, text: String::new() };
                show(shown, permit, &live.stop).await;
            }
            answers.0.lock().remove(&letter.token);
            live.ended.cancel();
        });
    }

    /// One more answer is shown. `None` where as many are as may be.
    fn begin(&self, letter: &str, stop: CancellationToken) -> Option<LiveAnswer> {
        let live = LiveAnswer { stop, ended: CancellationToken::new() };
        let mut all = self.0.lock();
        if all.len() >= LIVE_ANSWERS_MAX {
            return None;
        }
        all.insert(letter.to_owned(), live.clone());
        Some(live)
    }

    /// Has nothing shown of a letter any more, and waits for what is under way.
    pub(crate) async fn stop(&self, letter: &str) {
        let live = self.0.lock().get(letter).cloned();
        if let Some(live) = live {
            live.stop.cancel();
            let _ = tokio::time::timeout(LIVE_EDIT_WAIT, live.ended.cancelled()).await;
        }
    }
}

/// Shows what is said, now and then, until it is over or the platform does not want it.
async fn show<P: Platform>(mut shown: LiveMessage<'_, P>, permit: TaskPermit, stop: &CancellationToken) {
    let mut events = permit.subscribe(0);
    let (mut said, mut next_at) = (String::new(), Instant::now() + SHOWN_AFTER);
    loop {
        let has_more = said != shown.text;
        tokio::select! {
            () = stop.cancelled() => return,
            event = events.next() => match event {
                Some(Event::Text(text)) => said.push_str(&text),
                Some(Event::Ending(_)) | None => return,
                Some(_) => {}
            },
            // While a platform wants to be left alone, nothing is shown: the whole answer comes with its delivery.
            () = sleep_until(next_at), if has_more && !shown.speaking.connector.pause.is_over() => {
                next_at = Instant::now() + P::EDIT_EVERY;
            }
            () = sleep_until(next_at), if has_more => match shown.update(&said).await {
                Ok(()) => next_at = Instant::now() + P::EDIT_EVERY,
                Err(PlatformError::Later(wait)) => {
                    shown.speaking.connector.pause.begin(bounded(wait));
                    next_at = Instant::now() + bounded(wait);
                }
                Err(error) => {
                    tracing::info!(%error, "an answer is not shown while it is written");
                    return;
                }
            },
        }
    }
}

impl<P: Platform> LiveMessage<'_, P> {
    async fn update(&mut self, said: &str) -> Result<(), PlatformError> {
        let Speaking { connector, egress } = self.speaking;
        let (platform, place) = (&connector.platform, &self.letter.address.place.at(self.host.clock().now()));
        // The first message alone: the others come with the whole answer.
        let Some(text) = MessageStyle::of(platform).messages(said).into_iter().next() else { return Ok(()) };
        let (records, origin) = (Records::of(self.host, P::KIND), self.letter.origin());
        let kept = |error: Error| PlatformError::Failed(error.to_string());
        if self.id.is_none() {
            // That of the question as it was before an edit.
            self.id = messages_of(&records.sent(origin).await.map_err(kept)?).into_iter().next();
        }
        match &self.id {
            Some(id) => platform.edit(egress, place, id, &edit(&self.letter.token, 0, &text)).await?,
            None => {
                let reply_to = Some(self.letter.address.message.clone());
                let key = format!("{}/0", self.letter.token);
                let post = Post { text, reply_to, key, ..Post::default() };
                self.id = platform.post(egress, place, &post).await?;
                let Some(id) = &self.id else { return Err(PlatformError::Refused("it gives no id".to_owned())) };
                keep_message(self.host, self.letter, id).await.map_err(kept)?;
            }
        }
        self.text = said.to_owned();
        Ok(())
    }
}

/// Other words for the message of this number of an answer.
pub(crate) fn edit(letter: &str, number: usize, text: &str) -> Post {
    Post { key: format!("{letter}/{number}/{}", hash(text)), text: text.to_owned(), ..Post::default() }
}

/// How long a platform is waited for that says when to come again.
pub(crate) fn bounded(wait: Duration) -> Duration {
    wait.clamp(Duration::from_secs(1), RETRY_AFTER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_answers_are_shown_at_once_as_may_be_and_one_more_when_one_is_over() {
        let live = LiveAnswers::default();
        let begin = |number: usize| live.begin(&number.to_string(), CancellationToken::new()).is_some();
        assert!((0..LIVE_ANSWERS_MAX).all(begin) && !begin(LIVE_ANSWERS_MAX));
        live.0.lock().remove("0");
        assert!(begin(LIVE_ANSWERS_MAX));
    }

    #[test]
    fn a_platform_is_never_asked_again_at_once_and_never_too_late() {
        let of = |seconds| bounded(Duration::from_secs(seconds)).as_secs();
        let max = RETRY_AFTER_MAX.as_secs();
        assert_eq!((of(0), of(1), of(max), of(max + 1)), (1, 1, max, max));
    }
}
