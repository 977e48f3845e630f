//! What a program is told of a message beside the message itself.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::clock::after;
use forecourt_core::{Admitted, Clock, ThreadId};
use forecourt_telemetry::{RequestLines, outgoing};
use serde_json::{Value, json};

/// Where a message comes from and where it belongs. Made as the message comes in, while its request is at hand.
pub(crate) struct MessageFields {
    clock: Arc<dyn Clock>,
    /// Names the conversation for this agent alone.
    pub(crate) conversation: Option<String>,
    /// The trace that it belongs to. W3C Trace Context.
    traceparent: Option<String>,
    /// By what the log knows the request.
    request: Option<String>,
}

impl MessageFields {
    /// Those of a message that is answered now, on this thread.
    pub(crate) fn of(admitted: &Admitted, clock: Arc<dyn Clock>) -> Self {
        let agent = admitted.card().handle().as_str();
        Self {
            clock,
            conversation: admitted.message().thread.as_ref().map(|thread| conversation(agent, thread)),
            traceparent: outgoing().map(|context| context.traceparent),
            request: RequestLines::current().map(|lines| lines.id()),
        }
    }

    /// The message as JSON, for a program that has so much time for its answer.
    pub(crate) fn message(&self, admitted: &Admitted, total: Duration) -> Value {
        let mut message = admitted.message().to_json(&admitted.card().address);
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                message[key] = value;
            }
        };
        set("state", admitted.message().state.kept().cloned());
        let answers = &admitted.message().answers;
        set("answers", (!answers.is_empty()).then(|| json!(answers)));
        set("conversation", self.conversation.as_deref().map(Value::from));
        set("deadline", Some(after(self.clock.now(), total).to_string().into()));
        set("timeout_ms", Some(u64::try_from(total.as_millis()).unwrap_or(u64::MAX).into()));
        set("traceparent", self.traceparent.as_deref().map(Value::from));
        set("request", self.request.as_deref().map(Value::from));
        message
    }
}

/// The name of a conversation with an agent. A digest, since the key may hold whose it is.
fn conversation(agent: &str, thread: &ThreadId) -> String {
    let named = digest(&SHA256, format!("{agent}\0{}", thread.key()).as_bytes());
    URL_SAFE_NO_PAD.encode(&named.as_ref()[..16])
}
