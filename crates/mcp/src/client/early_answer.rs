//! Answers to requests that were posted without the SDK and are read by it all the same, since they say more than a
//! result: a stream that tells and asks, an error, a session that is gone.
//!
//! The SDK is given the request with its answer, and takes that instead of posting. It knows the request by another
//! number than the server does, so the number in the answer is changed to that.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use forecourt_egress::{EgressError, UpstreamResponse};
use http::StatusCode;
use parking_lot::Mutex;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, GetExtensions, NumberOrString, RequestId, ServerJsonRpcMessage,
};
use serde_json::Value;
use sse_stream::Sse;

use crate::limits::RENAMED_IDS_MAX;

/// An answer that is there, as far as it was read. Taken once.
#[derive(Clone)]
pub(crate) struct EarlyAnswer {
    /// The number by which the server knows the request.
    number: i64,
    /// The session that it was posted in.
    session: Option<Arc<str>>,
    outcome: Arc<Mutex<Option<PostOutcome>>>,
}

/// What became of a post.
pub(crate) enum PostOutcome {
    /// Nothing came back.
    Failed(EgressError),
    /// A body that is all there, of an answer that is well.
    Whole(Bytes),
    /// An answer whose body is on its way.
    Begun(Box<UpstreamResponse>),
}

impl EarlyAnswer {
    pub(crate) fn new(number: i64, session: Option<Arc<str>>, outcome: PostOutcome) -> Self {
        Self { number, session, outcome: Arc::new(Mutex::new(Some(outcome))) }
    }

    /// The answer that a message for `session` brings along, if it is still there: from now on the request is known by
    /// the message's number.
    pub(super) fn take(
        message: &ClientJsonRpcMessage,
        session: Option<&Arc<str>>,
        renamed: &RenamedIds,
    ) -> Option<PostOutcome> {
        let ClientJsonRpcMessage::Request(request) = message else { return None };
        let early = request.request.extensions().get::<Self>()?;
        let outcome = early.outcome.lock().take()?;
        // Another request has begun a new session meanwhile: that the old one is gone is no news, and the server has
        // done nothing.
        if outcome.is_of_lost_session() && early.session.as_ref() != session {
            return None;
        }
        renamed.add(early.number, request.id.clone());
        Some(outcome)
    }
}

impl PostOutcome {
    fn is_of_lost_session(&self) -> bool {
        matches!(self, Self::Begun(answer) if answer.status == StatusCode::NOT_FOUND)
    }
}

/// Requests of one connection that the SDK knows by another number than the server does: the latest of them.
#[derive(Debug, Default)]
pub(crate) struct RenamedIds(Mutex<BTreeMap<i64, RequestId>>);

impl RenamedIds {
    fn add(&self, number: i64, id: RequestId) {
        let mut all = self.0.lock();
        all.insert(number, id);
        // Numbers rise, so the first belongs to the oldest request.
        while all.len() > RENAMED_IDS_MAX {
            all.pop_first();
        }
    }

    /// Says of a request that is cancelled by which number the server knows it.
    pub(super) fn cancelled(&self, message: &mut ClientJsonRpcMessage) {
        let ClientJsonRpcMessage::Notification(told) = message else { return };
        let ClientNotification::CancelledNotification(cancelled) = &mut told.notification else { return };
        let all = self.0.lock();
        let known = all.iter().find(|(_, id)| cancelled.params.request_id.as_ref() == Some(id));
        if let Some((number, _)) = known {
            cancelled.params.request_id = Some(RequestId::Number(*number));
        }
    }

    /// The number of an answer as the SDK knows it.
    fn of(&self, id: &RequestId) -> Option<RequestId> {
        let NumberOrString::Number(number) = id else { return None };
        self.0.lock().get(number).cloned()
    }

    /// A message of the server as the SDK knows it.
    pub(super) fn message(&self, mut message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        match &mut message {
            ServerJsonRpcMessage::Response(response) => {
                response.id = self.of(&response.id).unwrap_or_else(|| response.id.clone());
            }
            ServerJsonRpcMessage::Error(error) => {
                error.id = error.id.take().map(|id| self.of(&id).unwrap_or(id));
            }
            _ => {}
        }
        message
    }

    /// The same of an event in a stream.
    pub(super) fn event(&self, mut event: Sse) -> Sse {
        event.data = event.data.map(|data| match self.text(&data) {
            Cow::Owned(renamed) => renamed,
            Cow::Borrowed(_) => data,
        });
        event
    }

    fn text<'a>(&self, data: &'a str) -> Cow<'a, str> {
        // Nearly always there is none, and texts of events may be long.
        if self.0.lock().is_empty() {
            return Cow::Borrowed(data);
        }
        let Ok(mut message) = serde_json::from_str::<Value>(data) else { return Cow::Borrowed(data) };
        // What has a method is a request of the server, whose numbers are its own.
        let number = message["id"].as_i64().filter(|_| message["method"].is_null());
        let Some(id) = number.and_then(|number| self.of(&RequestId::Number(number))) else {
            return Cow::Borrowed(data);
        };
        message["id"] = id.into_json_value();
        Cow::Owned(message.to_string())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn renamed() -> RenamedIds {
        let renamed = RenamedIds::default();
        renamed.add(1_000_000_007, RequestId::Number(3));
        renamed
    }

    fn event(message: &Value) -> Value {
        let event = renamed().event(Sse { data: Some(message.to_string()), ..Sse::default() });
        serde_json::from_str(&event.data.expect("data")).expect("JSON")
    }

    #[test]
    fn answers_are_renamed_and_nothing_else() {
        for key in ["result", "error"] {
            let said = |id: Value| json!({"jsonrpc": "2.0", "id": id, key: {"id": 1_000_000_007}});
            assert_eq!(event(&said(json!(1_000_000_007))), said(json!(3)));
            for other in [json!(1), json!("1000000007"), json!(null), json!(1_000_000_007.5)] {
                assert_eq!(event(&said(other.clone())), said(other));
            }
        }
        let asked = json!({"jsonrpc": "2.0", "id": 1_000_000_007, "method": "ping"});
        assert_eq!(event(&asked), asked, "a request of the server");
    }

    #[test]
    fn an_error_is_renamed_and_a_request_is_cancelled_by_the_number_that_the_server_knows() {
        let renamed = renamed();
        let said = json!({"jsonrpc": "2.0", "id": 1_000_000_007, "error": {"code": -1, "message": "no"}});
        let message = renamed.message(serde_json::from_value(said).expect("a message"));
        assert_eq!(serde_json::to_value(message).expect("JSON")["id"], 3);
        for (id, told) in [(3, 1_000_000_007), (4, 4)] {
            let said = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
            let mut message = serde_json::from_value(said).expect("a message");
            renamed.cancelled(&mut message);
            assert_eq!(serde_json::to_value(message).expect("JSON")["params"]["requestId"], told);
        }
    }

    #[test]
    fn the_latest_are_known() {
        let renamed = RenamedIds::default();
        (0..=RENAMED_IDS_MAX as i64).for_each(|number| renamed.add(number, RequestId::Number(number)));
        let is_known = |number| renamed.of(&RequestId::Number(number)).is_some();
        assert!(!is_known(0) && is_known(1) && is_known(RENAMED_IDS_MAX as i64));
    }

    proptest! {
        #[test]
        fn texts_that_are_no_messages_stay_as_they_are(text in ".{0,100}") {
            prop_assert_eq!(&*renamed().text(&text), &*text);
        }
    }
}
