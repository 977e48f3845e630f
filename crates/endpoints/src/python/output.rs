//! What functions print: it goes to the log, under the name of the function.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forecourt_process::{each_line, printable};
use tokio::io::AsyncRead;

use crate::limits::{FUNCTION_LINE_BYTES_MAX, FUNCTION_LINES_MAX};

/// The line by which a worker says that the output of its next request follows. It names nobody:
/// what a caller makes a function print can't give it another name than that of a request.
const MARK: &[u8] = b"\x1e";

/// The output of one worker.
#[derive(Default)]
pub(super) struct Output(Mutex<State>);

#[derive(Default)]
struct State {
    /// The functions of requests whose output has not begun.
    next: VecDeque<String>,
    /// Whose output it is now.
    function: String,
    /// Lines that may still be logged of it.
    left: u32,
}

/// What becomes of a line.
#[derive(Debug, PartialEq)]
enum Line {
    Logged(String),
    /// The last one of a call that goes to the log.
    Last,
    Dropped,
}

impl Output {
    /// A request for the function is about to be sent.
    pub(super) fn expect(&self, function: &str) {
        self.state().next.push_back(function.to_owned());
    }

    /// Writes to the log line by line, until the worker ends. What goes over a bound is dropped, but read
    /// on, so that no function is ever held up by it.
    pub(super) async fn log(self: Arc<Self>, output: impl AsyncRead + Send + Unpin) {
        let take = |line: &[u8]| {
            let mut state = self.state();
            let taken = state.take(line);
            let function = &state.function;
            match taken {
                Line::Logged(text) => tracing::info!(%function, "{text}"),
                Line::Last => tracing::warn!(%function, "a function prints more than goes to the log"),
                Line::Dropped => {}
            }
        };
        each_line(output, FUNCTION_LINE_BYTES_MAX, take).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, line: &[u8]) -> Line {
        // In the order of the requests: what is printed and what is asked go through different pipes, at different
        // speeds.
        if line == MARK {
            if let Some(function) = self.next.pop_front() {
                self.function = function;
                self.left = FUNCTION_LINES_MAX;
            }
            return Line::Dropped;
        }
        if line.trim_ascii().is_empty() || self.left == 0 {
            return Line::Dropped;
        }
        self.left -= 1;
        if self.left == 0 { Line::Last } else { Line::Logged(printable(line)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(text: &str) -> Line {
        Line::Logged(text.to_owned())
    }

    #[test]
    fn lines_are_those_of_the_request_that_was_marked_last() {
        let mut state = State { next: ["a.b".to_owned(), "c.d".to_owned()].into(), ..State::default() };
        assert_eq!((state.take(b"before all"), state.take(MARK)), (Line::Dropped, Line::Dropped));
        assert_eq!((state.take(b"one"), state.function.as_str()), (logged("one"), "a.b"));
        assert_eq!((state.take(b" "), state.take(b"\x1ex.y")), (Line::Dropped, logged("\u{fffd}x.y")));
        state.take(MARK);
        assert_eq!(state.function, "c.d");
        state.take(MARK);
        assert_eq!((state.take(b"two"), state.function.as_str()), (logged("two"), "c.d"));
    }

    #[test]
    fn each_request_has_so_many_lines() {
        let mut state = State { next: ["a.b".to_owned(), "a.b".to_owned()].into(), ..State::default() };
        for _ in 0..2 {
            state.take(MARK);
            assert!((1..FUNCTION_LINES_MAX).all(|_| state.take(b"x") == logged("x")));
            assert_eq!((state.take(b"x"), state.take(b"x")), (Line::Last, Line::Dropped));
            // Marks of the function's own give it no further ones.
        }
        state.take(MARK);
        assert_eq!(state.take(b"x"), Line::Dropped);
    }
}
