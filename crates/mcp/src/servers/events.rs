//! What is said in a session with a server beside the answers: progress, log messages, questions and changes, each to
//! the call that it belongs to.
#![expect(deprecated, reason = "log messages are spoken by older servers, and passed on")]

use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, LoggingMessageNotificationParam, ProgressNotificationParam,
    RequestId,
};
use rmcp::service::{InboundStreamOrigin, RequestContext};
use rmcp::{ErrorData, RoleClient};
use tokio::sync::{Notify, mpsc, oneshot};

use super::updates::Updates;
use crate::upstream::progress::ProgressListeners;

/// A message that a server logs.
pub(crate) type LoggedMessage = LoggingMessageNotificationParam;

/// What is said in a session beside the answers, and to whom.
#[derive(Default)]
pub(crate) struct SessionEvents {
    pub(crate) told: ProgressListeners<ProgressNotificationParam>,
    calls: Mutex<Vec<LiveCall>>,
    /// Woken when the server says that its lists have changed.
    pub(crate) lists_changed: Arc<Notify>,
    /// Who hears that a resource has changed, by its address.
    pub(crate) updated: Arc<Updates>,
}

/// A call that is under way.
struct LiveCall {
    number: u64,
    /// Known once it was sent.
    id: Option<RequestId>,
    links: CallLinks,
}

/// Where what is said during one call goes.
#[derive(Clone)]
pub(crate) struct CallLinks {
    pub(crate) told: mpsc::Sender<ProgressNotificationParam>,
    pub(crate) asked: mpsc::Sender<ServerQuestion>,
    pub(crate) logged: mpsc::Sender<LoggedMessage>,
}

/// A question of a server in the middle of a call, and where its answer goes. Dropped, it is declined.
pub(crate) struct ServerQuestion {
    pub(crate) request: ElicitRequestParams,
    pub(crate) answer: oneshot::Sender<ElicitResult>,
}

impl SessionEvents {
    pub(crate) fn new(lists_changed: Arc<Notify>, updated: Arc<Updates>) -> Self {
        Self { told: ProgressListeners::default(), calls: Mutex::default(), lists_changed, updated }
    }

    /// Begins a call, which lasts until what is given back is dropped.
    pub(crate) fn begin(&self, links: CallLinks) -> OpenCall<'_> {
        let mut calls = self.calls.lock();
        let number = calls.last().map_or(0, |last| last.number + 1);
        calls.push(LiveCall { number, id: None, links });
        OpenCall { events: self, number }
    }

    /// The call that something was said in: the one of the request on whose stream it came, else the only one. Where
    /// it can't be told, nobody's: an answer to somebody else's question is worse than none.
    fn links(&self, origin: Option<&InboundStreamOrigin>) -> Option<CallLinks> {
        let calls = self.calls.lock();
        if let Some(InboundStreamOrigin::OutboundRequest(id)) = origin
            && let Some(call) = calls.iter().find(|call| call.id.as_ref() == Some(id))
        {
            return Some(call.links.clone());
        }
        match calls.as_slice() {
            [only] => Some(only.links.clone()),
            _ => None,
        }
    }

    /// Passes a message that the server logs on to the call that caused it.
    pub(crate) fn log(&self, message: LoggedMessage) {
        match self.links(None) {
            // A client that is too slow misses some.
            Some(links) => drop(links.logged.try_send(message)),
            None => tracing::debug!("an MCP server logged something in no call that could be told"),
        }
    }

    /// Puts a question of the server to whoever it is asked.
    pub(crate) async fn question(
        &self,
        request: ElicitRequestParams,
        context: &RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(links) = self.links(context.extensions.get::<InboundStreamOrigin>()) else {
            tracing::warn!("an MCP server asked something in no call that could be told; the question is declined");
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let (answer, answered) = oneshot::channel();
        if links.asked.send(ServerQuestion { request, answer }).await.is_err() {
            return Ok(ElicitResult::new(ElicitationAction::Cancel));
        }
        Ok(answered.await.unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Decline)))
    }
}

/// A call among those of its session, until it is dropped.
pub(crate) struct OpenCall<'a> {
    events: &'a SessionEvents,
    number: u64,
}

impl OpenCall<'_> {
    /// The call was sent under this id.
    pub(crate) fn sent(&self, id: RequestId) {
        let mut calls = self.events.calls.lock();
        if let Some(call) = calls.iter_mut().find(|call| call.number == self.number) {
            call.id = Some(id);
        }
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.events.calls.lock().retain(|call| call.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links() -> (CallLinks, mpsc::Receiver<ServerQuestion>) {
        let (asked, questions) = mpsc::channel(1);
        (CallLinks { told: mpsc::channel(1).0, asked, logged: mpsc::channel(1).0 }, questions)
    }

    #[test]
    fn what_is_said_belongs_to_its_own_call_or_to_nobodys() {
        let events = SessionEvents::default();
        let origin = |id: i64| InboundStreamOrigin::OutboundRequest(RequestId::Number(id));
        assert!(events.links(Some(&origin(1))).is_none(), "there is no call");
        let ((one, _one), (other, _other)) = (links(), links());
        let first = events.begin(one.clone());
        assert!(events.links(None).is_some(), "there is one call");
        assert!(events.links(Some(&origin(1))).is_some(), "that is not known by its id yet");
        first.sent(RequestId::Number(1));
        let second = events.begin(other.clone());
        second.sent(RequestId::Number(2));
        assert!(events.links(None).is_none(), "it could be either's");
        assert!(events.links(Some(&InboundStreamOrigin::Unassociated)).is_none());
        let found = events.links(Some(&origin(2))).expect("the second");
        assert!(found.asked.same_channel(&other.asked) && !found.asked.same_channel(&one.asked));
        drop(second);
        assert!(events.links(None).expect("the first").asked.same_channel(&one.asked));
        drop(first);
        assert!(events.calls.lock().is_empty());
    }
}
