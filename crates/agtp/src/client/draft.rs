//! A request in the making. Base 2.1, 2.2 and 2.4.

use bytes::Bytes;
use forecourt_core::ids::uuid7;
use forecourt_core::{AgentId, Entropy, Timestamp};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::uri::is_target;
use crate::limits::START_LINE_BYTES_MAX;
use crate::wire::{BadField, Message, Request, RequestLine, VERSION};

/// The media type of bodies in JSON.
pub const JSON: &str = "application/vnd.agtp+json";
/// The media type of bodies in YAML.
pub const YAML: &str = "application/vnd.agtp+yaml";
/// What is escaped in a query: everything but the unreserved characters of RFC 3986 2.3.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A request in the making. The first thing that is wrong is told at its [end](RequestBuilder::finish).
#[derive(Debug)]
pub struct RequestBuilder {
    request: Request,
    fault: Option<DraftError>,
}

/// Why there can be no such request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// The method is no word.
    #[error("the method is one word of letters, such as QUERY")]
    Method,
    /// The path or the query holds what no request line takes, or is too long.
    #[error("path and query are printable ASCII, begin with a slash and have no `#`")]
    Target,
    /// A field can't be sent.
    #[error("`{name}`: {fault}")]
    Field {
        /// Its name.
        name: String,
        /// What is wrong with it.
        fault: BadField,
    },
    /// A field that the codec writes, or that is there already.
    #[error("`{0}` can't be set, or is set twice")]
    Taken(String),
}

impl RequestBuilder {
    /// A method, and the path and query that it goes to. Without them the server itself is asked, which
    /// is the manifest for DISCOVER. Base 2.6.
    pub fn new(method: &str, target: Option<&str>) -> Self {
        let is_word = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
        let is_path = target.is_none_or(|target| target.starts_with('/') && is_target(target));
        let start = RequestLine { method: method.to_owned(), target: target.map(str::to_owned) };
        let fault = match (is_word, is_path) {
            (false, _) => Some(DraftError::Method),
            (true, false) => Some(DraftError::Target),
            (true, true) => None,
        };
        Self { request: Message::new(start), fault }
    }

    /// Adds a name and a value to the query, escaped. AGTP-API 5.5.
    #[must_use]
    pub fn query(mut self, name: &str, value: &str) -> Self {
        let target = self.request.start.target.get_or_insert_with(|| "/".to_owned());
        let separator = if target.contains('?') { '&' } else { '?' };
        target.push(separator);
        for (at, text) in [name, value].into_iter().enumerate() {
            target.extend((at == 1).then_some('='));
            target.extend(utf8_percent_encode(text, ESCAPED));
        }
        self
    }

    /// Adds a field. Each name can be there once, and the framing is the codec's.
    #[must_use]
    pub fn field(mut self, name: &str, value: &str) -> Self {
        let is_taken = ["Content-Length", "Transfer-Encoding"].iter().any(|framing| framing.eq_ignore_ascii_case(name));
        if is_taken || self.request.field(name).is_some() {
            return self.wrong(DraftError::Taken(name.to_owned()));
        }
        match self.request.fields.push(name, value) {
            Ok(()) => self,
            Err(fault) => self.wrong(DraftError::Field { name: name.to_owned(), fault }),
        }
    }

    /// Who calls.
    #[must_use]
    pub fn agent(self, id: &AgentId) -> Self {
        self.field("Agent-ID", id.as_str())
    }

    /// Which of its authority the caller claims: tokens with commas between them. Base 7.1.
    #[must_use]
    pub fn scope(self, tokens: &str) -> Self {
        self.field("Authority-Scope", tokens)
    }

    /// To which session the request belongs.
    #[must_use]
    pub fn session(self, id: &str) -> Self {
        self.field("Session-ID", id)
    }

    /// To which task the request belongs.
    #[must_use]
    pub fn task(self, id: &str) -> Self {
        self.field("Task-ID", id)
    }

    /// What makes a repetition known as one.
    #[must_use]
    pub fn idempotency_key(self, key: &str) -> Self {
        self.field("Idempotency-Key", key)
    }

    /// Names the request, by a UUID of version 7.
    #[must_use]
    pub fn stamped(self, now: Timestamp, entropy: &dyn Entropy) -> Self {
        self.field("Request-ID", &uuid7(now, entropy))
    }

    /// A body in JSON.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.body(JSON, body.to_string())
    }

    /// A body in YAML, as it is.
    #[must_use]
    pub fn yaml(self, body: impl Into<Bytes>) -> Self {
        self.body(YAML, body)
    }

    /// A body of any media type.
    #[must_use]
    pub fn body(mut self, media_type: &str, body: impl Into<Bytes>) -> Self {
        self.request.body = body.into();
        self.field("Content-Type", media_type)
    }

    /// The request.
    pub fn finish(self) -> Result<Request, DraftError> {
        let RequestLine { method, target } = &self.request.start;
        let bytes = VERSION.len() + 1 + method.len() + target.as_ref().map_or(0, |target| 1 + target.len());
        match self.fault {
            Some(fault) => Err(fault),
            None if bytes > START_LINE_BYTES_MAX => Err(DraftError::Target),
            None => Ok(self.request),
        }
    }

    fn wrong(mut self, fault: DraftError) -> Self {
        self.fault.get_or_insert(fault);
        self
    }
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::{CountedEntropy, HandClock};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::codec::{Bounds, Decoder, encode};

    #[test]
    fn a_request_is_what_was_drafted() {
        let id = AgentId::parse(&"ab".repeat(32)).unwrap();
        let now = forecourt_core::Clock::now(&HandClock::new());
        let request = RequestBuilder::new("BOOK", Some("/room?a=1"))
            .query("guest", "Zoë & Co")
            .agent(&id)
            .scope("booking:room")
            .session("s")
            .task("t")
            .idempotency_key("k")
            .stamped(now, &CountedEntropy::default())
            .json(&json!({"nights": 2}))
            .finish()
            .unwrap();
        let mut bytes = bytes::BytesMut::new();
        encode(&request, &mut bytes);
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(text.starts_with("AGTP/1.0 BOOK /room?a=1&guest=Zo%C3%AB%20%26%20Co\r\nAgent-ID: abab"), "{text}");
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
        let fault = |draft: RequestBuilder| draft.finish().unwrap_err();
        assert_eq!(fault(RequestBuilder::new("", None)), DraftError::Method);
        assert_eq!(fault(RequestBuilder::new("QUERY /x", None)), DraftError::Method);
        for target in ["", "x", "/a b", "/a#b", "/é", "/a\r\nX: y"] {
            assert_eq!(fault(RequestBuilder::new("QUERY", Some(target))), DraftError::Target, "{target:?}");
        }
        let name = "Task-ID".to_owned();
        let bad = DraftError::Field { name: name.clone(), fault: BadField::Value };
        assert_eq!(fault(RequestBuilder::new("QUERY", None).task("a\r\nX: y").field("Content-Length", "1")), bad);
        assert_eq!(
            fault(RequestBuilder::new("QUERY", None).task("a").field("task-id", "b")),
            DraftError::Taken("task-id".into())
        );
        let long = "a".repeat(START_LINE_BYTES_MAX);
        assert_eq!(fault(RequestBuilder::new("QUERY", None).query("q", &long)), DraftError::Target);
    }

    proptest! {
        #[test]
        fn whatever_is_drafted_is_one_request(
            method in "[ -~]{0,8}", target in "/[ -~]{0,12}", name in "[ -~]{0,6}", value in "[\\x00-~]{0,12}",
            query in any::<String>(), body in proptest::collection::vec(any::<u8>(), 0..20)
        ) {
            let draft = RequestBuilder::new(&method, Some(&target)).query("q", &query).field(&name, &value).body(JSON, body);
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
