//! Calls that wait for the answer of a person whose client calls again with it.

use std::collections::HashMap;
use std::sync::Arc;

use forecourt_host::ReplyPause;
use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use super::call::{OpenQuestion, ServerCall};
use crate::limits::{ANSWER_TIME_MAX, CALLS_PARKED_MAX, CALLS_PARKED_PER_CALLER_MAX};

/// Calls that wait, by a name that only their own clients know, each for [`ANSWER_TIME_MAX`].
pub(crate) struct WaitingCalls<T>(Mutex<HashMap<String, KeptCall<T>>>);

/// Calls that wait, each with what it asked.
pub(crate) type ParkedCalls = WaitingCalls<ParkedCall>;

/// A call that waits, with what it asked.
pub(crate) struct ParkedCall {
    /// A host that stops does not wait for it. Dropped first, while the call still has its place.
    pub(crate) pause: ReplyPause,
    pub(crate) call: ServerCall,
    pub(crate) asked: OpenQuestion,
}

struct KeptCall<T> {
    parked: T,
    /// What the calls of its caller are counted by.
    counted_by: String,
    /// Ends it when nobody answers.
    _timer: Timer,
}

struct Timer(AbortHandle);

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Default for WaitingCalls<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Send + 'static> WaitingCalls<T> {
    /// Keeps a call of the caller that is counted by `counted_by`. `false`, and it is given up, where too many wait.
    pub(crate) fn keep(self: &Arc<Self>, name: &str, counted_by: &str, parked: T) -> bool {
        let mut all = self.0.lock();
        let of_caller = all.values().filter(|kept| kept.counted_by == counted_by).count();
        if all.len() >= CALLS_PARKED_MAX || of_caller >= CALLS_PARKED_PER_CALLER_MAX {
            return false;
        }
        let (waiting, late) = (Arc::downgrade(self), name.to_owned());
        let timer = tokio::spawn(async move {
            sleep(ANSWER_TIME_MAX).await;
            waiting.upgrade().map(|waiting| waiting.take(&late, |_| Ok::<_, ()>(())));
        });
        let timer = Timer(timer.abort_handle());
        all.insert(name.to_owned(), KeptCall { parked, counted_by: counted_by.to_owned(), _timer: timer });
        true
    }

    /// The call of a name, which waits no longer, with what `read` makes of it. Where that fails, it waits on. `None`
    /// where nothing of that name waits.
    pub(crate) fn take<R, E>(&self, name: &str, read: impl FnOnce(&T) -> Result<R, E>) -> Option<Result<(T, R), E>> {
        let mut all = self.0.lock();
        let read = read(&all.get(name)?.parked);
        match read {
            Ok(read) => all.remove(name).map(|kept| Ok((kept.parked, read))),
            Err(error) => Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(parked: &WaitingCalls<usize>, name: &str) -> Option<usize> {
        parked.take(name, |_| Ok::<_, ()>(())).map(|taken| taken.expect("it was read").0)
    }

    #[tokio::test(start_paused = true)]
    async fn so_many_calls_wait_of_each_caller_and_in_all() {
        let parked = Arc::new(WaitingCalls::default());
        let name = |caller: usize, n: usize| format!("{caller} {n}");
        let callers = CALLS_PARKED_MAX / CALLS_PARKED_PER_CALLER_MAX;
        for caller in 0..callers {
            for n in 0..CALLS_PARKED_PER_CALLER_MAX {
                assert!(parked.keep(&name(caller, n), &caller.to_string(), n));
            }
            assert!(!parked.keep("one more", &caller.to_string(), 0), "of this caller");
        }
        assert!(!parked.keep("one more", "another", 0), "of all");
        assert_eq!(take(&parked, &name(0, 3)), Some(3));
        assert!(parked.keep("one more", "another", 7));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_can_not_be_read_leaves_the_call_and_time_ends_it() {
        let parked = Arc::new(WaitingCalls::default());
        assert!(parked.keep("a", "alice", 1) && parked.keep("b", "alice", 2));
        assert_eq!(parked.take("a", |_| Err::<(), _>("no answer")), Some(Err("no answer")));
        assert_eq!(take(&parked, "a"), Some(1));
        assert_eq!(take(&parked, "a"), None, "it is answered once");
        sleep(ANSWER_TIME_MAX).await;
        tokio::task::yield_now().await;
        assert_eq!(take(&parked, "b"), None);
    }
}
