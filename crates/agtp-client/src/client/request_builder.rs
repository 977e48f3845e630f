//! A request in the making. Base 2.1, 2.2 and 2.4.

use bytes::Bytes;
use forecourt_agtp_wire::limits::START_LINE_BYTES_MAX;
use forecourt_agtp_wire::message::{BadField, Message, Request, RequestLine, VERSION};
use forecourt_agtp_wire::uri::is_target;
use forecourt_core::ids::uuid7;
use forecourt_core::{AgentId, Entropy, Timestamp};

/// A request in the making. The first thing that is wrong is told at its [end](RequestBuilder::finish).
#[derive(Debug)]
pub(crate) struct RequestBuilder {
    request: Request,
    error: Option<DraftError>,
}

/// Why there can be no such request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DraftError {
    /// The method is not a word.
    #[error("the method is one word of letters, such as QUERY")]
    Method,
    /// The path or the query holds what no request line takes, or is too long.
    #[error("path and query are printable ASCII, begin with a slash and have no `#`")]
    Target,
    /// A field can't be sent.
    #[error("`{name}`: {error}")]
    Field {
        /// Its name.
        name: String,
        /// What is wrong with it.
        error: BadField,
    },
    /// A field that the codec writes, or that is there already.
    #[error("`{0}` can't be set, or is set twice")]
    Taken(String),
}

impl RequestBuilder {
    /// A method, and the path and query that it goes to. Without them the server itself is asked, which
    /// is the manifest for DISCOVER. Base 2.6.
    pub(crate) fn new(method: &str, target: Option<&str>) -> Self {
        let is_word = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
        let is_path = target.is_none_or(|target| target.starts_with('/') && is_target(target));
        let start = RequestLine { method: method.to_owned(), target: target.map(str::to_owned) };
        let error = match (is_word, is_path) {
            (false, _) => Some(DraftError::Method),
            (true, false) => Some(DraftError::Target),
            (true, true) => None,
        };
        Self { request: Message::new(start), error }
    }

    /// Adds a field. Each name can be there once, and the framing is the codec's.
    #[must_use]
    pub(crate) fn field(mut self, name: &str, value: &str) -> Self {
        // The codec writes the framing: a length of the caller's own could hide a second request.
        let is_taken = ["Content-Length", "Transfer-Encoding"].iter().any(|framing| framing.eq_ignore_ascii_case(name));
        if is_taken || self.request.field(name).is_some() {
            return self.wrong(DraftError::Taken(name.to_owned()));
        }
        match self.request.fields.push(name, value) {
            Ok(()) => self,
            Err(error) => self.wrong(DraftError::Field { name: name.to_owned(), error }),
        }
    }

    /// Who calls.
    #[must_use]
    pub(crate) fn agent(self, id: &AgentId) -> Self {
        self.field("Agent-ID", id.as_str())
    }

    /// Which of its authority the caller claims: tokens with commas between them. Base 7.1.
    #[must_use]
    pub(crate) fn scope(self, tokens: &str) -> Self {
        self.field("Authority-Scope", tokens)
    }

    /// To which session the request belongs.
    #[must_use]
    pub(crate) fn session(self, id: &str) -> Self {
        self.field("Session-ID", id)
    }

    /// Names the request, by a UUID of version 7.
    #[must_use]
    pub(crate) fn stamped(self, now: Timestamp, entropy: &dyn Entropy) -> Self {
        self.field("Request-ID", &uuid7(now, entropy))
    }

    /// A body of any media type.
    #[must_use]
    pub(crate) fn body(mut self, media_type: &str, body: impl Into<Bytes>) -> Self {
        self.request.body = body.into();
        self.field("Content-Type", media_type)
    }

    /// The request.
    pub(crate) fn finish(self) -> Result<Request, DraftError> {
        let RequestLine { method, target } = &self.request.start;
        let bytes = VERSION.len() + 1 + method.len() + target.as_ref().map_or(0, |target| 1 + target.len());
        match self.error {
            Some(error) => Err(error),
            None if bytes > START_LINE_BYTES_MAX => Err(DraftError::Target),
            None => Ok(self.request),
        }
    }

    fn wrong(mut self, error: DraftError) -> Self {
        // The first one stays: what comes after it may follow from it.
        self.error.get_or_insert(error);
        self
    }
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::{CountedEntropy, HandClock};
    use proptest::prelude::*;

    use forecourt_agtp_wire::media_types::JSON;

    use super::*;
    use forecourt_agtp_wire::codec::{Bounds, Decoder, encode};

    #[test]
    fn a_request_is_what_was_drafted() {
        let id = AgentId::parse(&"ab".repeat(32)).unwrap();
        let now = forecourt_core::Clock::now(&HandClock::new());
        let request = RequestBuilder::new("BOOK", Some("/room?a=1"))
            .agent(&id)
            .scope("booking:room")
            .session("s")
            .field("Idempotency-Key", "k")
            .stamped(now, &CountedEntropy::default())
            .body(JSON, r#"{"nights":2}"#)
            .finish()
            .unwrap();
        let mut bytes = bytes::BytesMut::new();
        encode(&request, &mut bytes);
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(text.starts_with("AGTP/1.0 BOOK /room?a=1\r\nAgent-ID: abab"), "{text}");
        assert!(text.contains("\r\nRequest-ID: 019b76da-a800-7"), "{text}");
        assert!(text.ends_with("Content-Type: application/vnd.agtp+json\r\nContent-Length: 12\r\n\r\n{\"nights\":2}"));
    }

    #[test]
    fn base_2_1_without_a_target_the_line_ends_with_the_method() {
        let mut bytes = bytes::BytesMut::new();
        encode(&RequestBuilder::new("DISCOVER", None).finish().unwrap(), &mut bytes);
        assert_eq!(&bytes[..], b"AGTP/1.0 DISCOVER\r\n\r\n");
    }

    #[test]
    fn the_first_thing_that_is_wrong_is_told() {
        let error = |draft: RequestBuilder| draft.finish().unwrap_err();
        assert_eq!(error(RequestBuilder::new("", None)), DraftError::Method);
        assert_eq!(error(RequestBuilder::new("QUERY /x", None)), DraftError::Method);
        for target in ["", "x", "/a b", "/a#b", "/é", "/a\r\nX: y"] {
            assert_eq!(error(RequestBuilder::new("QUERY", Some(target))), DraftError::Target, "{target:?}");
        }
        let name = "Task-ID".to_owned();
        let bad = DraftError::Field { name: name.clone(), error: BadField::Value };
        assert_eq!(
            error(RequestBuilder::new("QUERY", None).field("Task-ID", "a\r\nX: y").field("Content-Length", "1")),
            bad
        );
        assert_eq!(
            error(RequestBuilder::new("QUERY", None).field("Task-ID", "a").field("task-id", "b")),
            DraftError::Taken("task-id".into())
        );
        let long = format!("/{}", "a".repeat(START_LINE_BYTES_MAX));
        assert_eq!(error(RequestBuilder::new("QUERY", Some(&long))), DraftError::Target);
    }

    proptest! {
        #[test]
        fn whatever_is_drafted_is_one_request(
            method in "[ -~]{0,8}", target in "/[ -~]{0,12}", name in "[ -~]{0,6}", value in "[\\x00-~]{0,12}",
            body in proptest::collection::vec(any::<u8>(), 0..20)
        ) {
            let draft = RequestBuilder::new(&method, Some(&target)).field(&name, &value).body(JSON, body);
            let Ok(request) = draft.finish() else { return Ok(()) };
            let mut bytes = bytes::BytesMut::new();
            encode(&request, &mut bytes);
            let read = Decoder::<RequestLine>::new(Bounds::default()).decode(&mut bytes);
            let Ok(Some(read)) = read else { return Err(TestCaseError::fail(format!("{read:?}"))) };
            prop_assert!(bytes.is_empty());
            prop_assert_eq!(read.start, request.start);
            prop_assert_eq!(read.body, request.body);
        }
    }
}
