//! This module writes server-sent events (WHATWG HTML 9.2) that no text can break out of.
//!
//! Event names are constants of ours. Text is split at LF, CRLF and CR, and each line gets its own
//! `data: `, so that neither a caller nor an agent can end an event or begin another field.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use tokio::time::{Instant, Sleep};

/// How long a stream may be silent before a comment is sent, so that proxies keep it open.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);
/// A comment, which clients pass over.
pub const HEARTBEAT: &[u8] = b": \n\n";

/// One event with a name of ours. `data` may have lines.
pub fn event(name: &'static str, data: &str) -> Bytes {
    let mut frame = String::with_capacity(name.len() + data.len() + 16);
    frame.push_str("event: ");
    frame.push_str(name);
    frame.push('\n');
    push_data(&mut frame, data);
    frame.into()
}

/// One event without a name.
pub fn message(data: &str) -> Bytes {
    let mut frame = String::with_capacity(data.len() + 8);
    push_data(&mut frame, data);
    frame.into()
}

/// One event without a name that a reader can go on after: it sends `id` back as `Last-Event-ID`.
pub fn message_with_id(id: u64, data: &str) -> Bytes {
    let mut frame = String::with_capacity(data.len() + 32);
    frame.push_str("id: ");
    frame.push_str(&id.to_string());
    frame.push('\n');
    push_data(&mut frame, data);
    frame.into()
}

/// A comment, which readers pass over. What `text` has of line ends becomes spaces, so that it stays one line.
pub fn comment(text: &str) -> Bytes {
    let line: String = text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
    format!(": {line}\n\n").into()
}

/// Appends the data lines and the empty line that ends an event.
fn push_data(frame: &mut String, mut data: &str) {
    loop {
        let (line, rest) = first_line(data);
        frame.push_str("data: ");
        frame.push_str(line);
        frame.push('\n');
        match rest {
            Some(rest) => data = rest,
            None => break,
        }
    }
    frame.push('\n');
}

/// The text up to the first line end, and what follows it.
fn first_line(text: &str) -> (&str, Option<&str>) {
    // CR alone ends a line for readers too: `a\revent: end\r\r` in one `data:` line would end the stream for the
    // caller.
    let Some(end) = memchr::memchr2(b'\n', b'\r', text.as_bytes()) else { return (text, None) };
    let rest = text[end..].strip_prefix("\r\n").unwrap_or(&text[end + 1..]);
    (&text[..end], Some(rest))
}

/// Fragments of one text as nameless events. A CRLF that two fragments share is one line end.
#[derive(Debug, Default)]
pub struct SseFragments {
    after_cr: bool,
}

impl SseFragments {
    /// The event for the next fragment, or `None` when it holds nothing to say.
    pub fn next(&mut self, fragment: &str) -> Option<Bytes> {
        let fresh = match self.after_cr {
            true => fragment.strip_prefix('\n').unwrap_or(fragment),
            false => fragment,
        };
        // An empty fragment between `\r` and `\n` must not make two line ends of them.
        if !fragment.is_empty() {
            self.after_cr = fragment.ends_with('\r');
        }
        (!fresh.is_empty()).then(|| message(fresh))
    }
}

pin_project_lite::pin_project! {
    /// Frames with a [`HEARTBEAT`] in between whenever there was none for [`HEARTBEAT_EVERY`].
    /// Needs a tokio runtime with time. Dropping it drops the frames.
    pub struct KeepAlive<S> {
        #[pin]
        frames: S,
        silence: Pin<Box<Sleep>>,
    }
}

impl<S: Stream<Item = Bytes>> KeepAlive<S> {
    /// The same frames, kept alive.
    pub fn new(frames: S) -> Self {
        Self { frames, silence: Box::pin(tokio::time::sleep(HEARTBEAT_EVERY)) }
    }
}

impl<S: Stream<Item = Bytes>> Stream for KeepAlive<S> {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.project();
        let next = match this.frames.poll_next(cx) {
            Poll::Ready(frame) => frame,
            Poll::Pending => {
                // Polled only when no frame is there, so that a comment never delays one.
                std::task::ready!(this.silence.as_mut().poll(cx));
                Some(Bytes::from_static(HEARTBEAT))
            }
        };
        // Also after a frame: the comment is for silence, and a stream that speaks needs none.
        this.silence.as_mut().reset(Instant::now() + HEARTBEAT_EVERY);
        Poll::Ready(next)
    }
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt, stream};
    use proptest::prelude::*;

    use super::*;

    /// What a client sees, by the rules of WHATWG HTML 9.2.6.
    fn read(stream: &str) -> Vec<(String, String)> {
        let (mut events, mut name, mut data) = (Vec::new(), String::new(), None::<String>);
        for line in stream.replace("\r\n", "\n").replace('\r', "\n").split_terminator('\n') {
            match line.split_once(':').map(|(field, value)| (field, value.strip_prefix(' ').unwrap_or(value))) {
                Some(("data", value)) => match &mut data {
                    Some(data) => *data = format!("{data}\n{value}"),
                    None => data = Some(value.to_owned()),
                },
                Some(("event", value)) => value.clone_into(&mut name),
                Some(_) => {}
                None => {
                    let kind = std::mem::take(&mut name);
                    let kind = if kind.is_empty() { "message".to_owned() } else { kind };
                    events.extend(data.take().map(|data| (kind, data)));
                }
            }
        }
        events
    }

    fn emitted(fragments: &[&str]) -> Vec<(String, String)> {
        let mut text = SseFragments::default();
        let frames = fragments.iter().filter_map(|fragment| text.next(fragment)).chain([event("end", "{}")]);
        read(&frames.map(|frame| String::from_utf8(frame.to_vec()).expect("frames are text")).collect::<String>())
    }

    #[test]
    fn the_cases_of_what_a_client_must_see() {
        let Some(bytes) = forecourt_testkit::vectors("sse/cases.json") else { return };
        let file: serde_json::Value = serde_json::from_slice(&bytes).expect("the vectors are JSON");
        for case in file["emit"].as_array().expect("there are cases") {
            let chunk = case["chunk"].as_str().expect("a case has a chunk");
            let seen = emitted(&[chunk]);
            let (end, messages) = seen.split_last().expect("there is an end");
            assert_eq!(end.0, "end", "{chunk:?}");
            match case["client_must_see"].as_array() {
                Some(expected) => {
                    let messages: Vec<_> =
                        messages.iter().map(|(kind, data)| serde_json::json!([kind, data])).collect();
                    assert_eq!(&messages, expected, "{chunk:?}");
                }
                None => assert!(messages.iter().all(|(_, data)| data.is_empty()), "{chunk:?}"),
            }
        }
    }

    #[test]
    fn a_line_end_that_two_fragments_share_is_one() {
        let joined = |fragments| emitted(fragments).iter().map(|(_, data)| data.as_str()).collect::<String>();
        assert_eq!(joined(&["a\r", "\nb"]), "a\nb{}");
        assert_eq!(joined(&["a\r", "", "\n", "b"]), "a\nb{}");
        assert_eq!(joined(&["a\r", "b"]), "a\nb{}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_gives_signs_of_life() {
        let before = Instant::now();
        let mut frames = KeepAlive::new(Box::pin(stream::pending()));
        for _ in 0..3 {
            assert_eq!(frames.next().await.as_deref(), Some(HEARTBEAT));
        }
        assert_eq!(before.elapsed(), 3 * HEARTBEAT_EVERY);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_ends_stays_ended() {
        let frames = KeepAlive::new(stream::iter([message("a")]));
        assert_eq!(frames.collect::<Vec<_>>().await, [message("a")]);
    }

    proptest! {
        #[test]
        fn no_comment_is_seen(text in "[a:\r\n \u{feff}]{0,12}|x\n\ndata: y\n\n|\r\revent: end\r") {
            let stream = String::from_utf8(comment(&text).to_vec()).expect("frames are text");
            prop_assert!(read(&stream).is_empty() && stream.ends_with("\n\n"));
        }

        #[test]
        fn no_text_begins_an_event(fragments in proptest::collection::vec("[a:\r\n \u{feff}]{0,12}|event: end\r|data: \\{\\}\n\n", 0..6)) {
            let fragments: Vec<&str> = fragments.iter().map(String::as_str).collect();
            let seen = emitted(&fragments);
            prop_assert!(seen.iter().rev().skip(1).all(|(kind, _)| kind == "message"));
            let text: String = seen.iter().rev().skip(1).rev().map(|(_, data)| data.as_str()).collect();
            prop_assert_eq!(text, fragments.concat().replace("\r\n", "\n").replace('\r', "\n"));
        }
    }
}
