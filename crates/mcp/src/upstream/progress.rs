//! Who is told of the progress of which request.

use std::collections::HashMap;

use parking_lot::Mutex;
use rmcp::model::ProgressToken;
use tokio::sync::mpsc;

use crate::limits::EARLY_PROGRESS_MAX;

/// Who listens to the progress of which call.
pub(crate) struct ProgressListeners<T>(Mutex<HashMap<ProgressToken, Listener<T>>>);

impl<T> Default for ProgressListeners<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

enum Listener<T> {
    /// Nobody yet: the call is on its way, and this was told already.
    Early(T),
    Call(mpsc::Sender<T>),
}

/// Ends the listening when dropped.
pub(crate) struct Listening<'a, T> {
    told: &'a ProgressListeners<T>,
    token: ProgressToken,
}

impl<T> ProgressListeners<T> {
    /// Has `listener` hear of the call of this token, as long as what is given back is there.
    pub(crate) fn listen(&self, token: ProgressToken, listener: mpsc::Sender<T>) -> Listening<'_, T> {
        let early = self.0.lock().insert(token.clone(), Listener::Call(listener.clone()));
        if let Some(Listener::Early(progress)) = early {
            let _ = listener.try_send(progress);
        }
        Listening { told: self, token }
    }

    /// Passes progress on. A listener who is too slow misses some: only the last one matters.
    pub(crate) fn tell(&self, token: ProgressToken, progress: T) {
        let mut listeners = self.0.lock();
        if let Some(Listener::Call(listener)) = listeners.get(&token) {
            let _ = listener.try_send(progress);
            return;
        }
        let is_early = |listener: &&Listener<T>| matches!(listener, Listener::Early(_));
        if listeners.values().filter(is_early).count() >= EARLY_PROGRESS_MAX {
            // Of calls that have ended, or of none.
            listeners.retain(|_, listener| matches!(listener, Listener::Call(_)));
        }
        listeners.insert(token, Listener::Early(progress));
    }
}

impl<T> Drop for Listening<'_, T> {
    fn drop(&mut self) {
        self.told.0.lock().remove(&self.token);
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::Progress;
    use rmcp::model::NumberOrString;

    use super::*;

    fn token(number: i64) -> ProgressToken {
        ProgressToken(NumberOrString::Number(number))
    }

    fn progress(note: &str) -> Progress {
        Progress { fraction: None, note: Some(note.to_owned()) }
    }

    #[test]
    fn progress_reaches_its_own_call_even_if_it_came_first() {
        let told = ProgressListeners::default();
        told.tell(token(1), progress("early"));
        let ((one, mut heard), (other, mut quiet)) = (mpsc::channel(4), mpsc::channel(4));
        let listening = told.listen(token(1), one);
        let _other = told.listen(token(2), other);
        told.tell(token(1), progress("later"));
        assert_eq!((heard.try_recv(), heard.try_recv()), (Ok(progress("early")), Ok(progress("later"))));
        assert!(quiet.try_recv().is_err());
        drop(listening);
        told.tell(token(1), progress("late"));
        assert!(heard.try_recv().is_err());
    }

    #[test]
    fn progress_of_no_call_is_bounded() {
        let told = ProgressListeners::default();
        let (one, _heard) = mpsc::channel(1);
        let _listening = told.listen(token(-1), one);
        for number in 0..=EARLY_PROGRESS_MAX {
            told.tell(token(number as i64), progress("x"));
            assert!(told.0.lock().len() <= EARLY_PROGRESS_MAX + 1);
        }
        assert_eq!(told.0.lock().len(), 2, "the others were forgotten, and who listens was not");
    }
}
