//! What is said in a session with a server beside the answers: progress, log messages, questions and changes, each to
//! the call that it belongs to.
#![expect(deprecated, reason = "log messages are spoken by older servers, and passed on")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, LoggingMessageNotificationParam, ProgressNotificationParam,
    RequestId,
};
use rmcp::service::{InboundStreamOrigin, RequestContext};
use rmcp::{ErrorData, RoleClient};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use super::updates::Updates;
use crate::limits::{GIVEN_UP_HEARD_MAX, GIVEN_UP_OWNERS_MAX};
use crate::upstream::progress::ProgressListeners;

/// A message that a server logs.
pub(crate) type LoggedMessage = LoggingMessageNotificationParam;

/// What is said in a session beside the answers, and to whom.
#[derive(Default)]
pub(crate) struct SessionEvents {
    pub(crate) told: ProgressListeners<ProgressNotificationParam>,
    calls: Mutex<Calls>,
    /// Whether a call was given up since the server was last known to answer.
    is_in_doubt: AtomicBool,
    /// Whether the server is known not to answer any more.
    is_lost: AtomicBool,
    /// Woken when the server says that its lists have changed.
    pub(crate) lists_changed: Arc<Notify>,
    /// Who hears that a resource has changed, by its address: what it holds may be of this session alone.
    pub(crate) updated: Updates,
}

/// The calls of a session.
#[derive(Default)]
struct Calls {
    live: Vec<LiveCall>,
    /// Those that nobody waits for any more, one entry for each caller: the server may still speak in them.
    given_up: Vec<AbandonedCall>,
}

/// Calls of one caller that were given up.
struct AbandonedCall {
    /// `None`: of several, or of somebody who has nothing that calls have in common.
    owner: Option<String>,
    until: Instant,
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
    /// Whose call it is: the key of its [`SessionOwner`](super::sessions::SessionOwner).
    pub(crate) owner: Option<String>,
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
    pub(crate) fn new(lists_changed: Arc<Notify>) -> Self {
        Self { lists_changed, ..Self::default() }
    }

    /// Begins a call, which lasts until what is given back is dropped.
    pub(crate) fn begin(&self, links: CallLinks) -> OpenCall<'_> {
        let mut calls = self.calls.lock();
        let number = calls.live.last().map_or(0, |last| last.number + 1);
        calls.live.push(LiveCall { number, id: None, links });
        OpenCall { events: self, number, is_answered: false }
    }

    /// Whether it is not known that the server still answers.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.is_in_doubt.load(Ordering::Relaxed)
    }

    /// Whether the server is known not to answer any more.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// The server does not answer any more.
    pub(super) fn lost(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }

    /// The server has answered something.
    pub(super) fn answered(&self) {
        self.is_in_doubt.store(false, Ordering::Relaxed);
    }

    /// The call that something was said in: the one of the request on whose stream it came, else the only one, unless
    /// it may belong to one of somebody else that was given up. Where it can't be told, nobody's: an answer to somebody
    /// else's question is worse than none.
    fn links(&self, origin: Option<&InboundStreamOrigin>) -> Option<CallLinks> {
        let calls = self.calls.lock();
        if let Some(InboundStreamOrigin::OutboundRequest(id)) = origin
            && let Some(call) = calls.live.iter().find(|call| call.id.as_ref() == Some(id))
        {
            return Some(call.links.clone());
        }
        let [only] = calls.live.as_slice() else { return None };
        let owner = &only.links.owner;
        let is_others =
            |one: &AbandonedCall| one.until > Instant::now() && (one.owner.is_none() || one.owner != *owner);
        (!calls.given_up.iter().any(is_others)).then(|| only.links.clone())
    }

    /// Passes a message that the server logs on to the call that caused it.
    pub(crate) fn log(&self, message: LoggedMessage, origin: Option<&InboundStreamOrigin>) {
        match self.links(origin) {
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

impl Calls {
    /// Remembers that a call was given up in which the server may still speak.
    fn give_up(&mut self, owner: Option<String>) {
        let until = Instant::now() + GIVEN_UP_HEARD_MAX;
        self.given_up.retain(|one| one.until > Instant::now() && one.owner != owner);
        // Of so many it is not told any more whose each was.
        let owner = if self.given_up.len() < GIVEN_UP_OWNERS_MAX { owner } else { None };
        if owner.is_none() {
            self.given_up.clear();
        }
        self.given_up.push(AbandonedCall { owner, until });
    }
}

/// A call among those of its session, until it is dropped.
pub(crate) struct OpenCall<'a> {
    events: &'a SessionEvents,
    number: u64,
    is_answered: bool,
}

impl OpenCall<'_> {
    /// The call was sent under this id.
    pub(crate) fn sent(&self, id: RequestId) {
        let mut calls = self.events.calls.lock();
        if let Some(call) = calls.live.iter_mut().find(|call| call.number == self.number) {
            call.id = Some(id);
        }
    }

    /// The server has answered: it says no more in this call.
    pub(crate) fn answered(mut self) {
        self.is_answered = true;
        self.events.answered();
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        let mut calls = self.events.calls.lock();
        let Some(at) = calls.live.iter().position(|call| call.number == self.number) else { return };
        let call = calls.live.remove(at);
        if !self.is_answered && call.id.is_some() {
            calls.give_up(call.links.owner);
            self.events.is_in_doubt.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links_of(owner: &str) -> (CallLinks, mpsc::Receiver<ServerQuestion>) {
        let (asked, questions) = mpsc::channel(1);
        let owner = Some(owner.to_owned());
        (CallLinks { owner, told: mpsc::channel(1).0, asked, logged: mpsc::channel(1).0 }, questions)
    }

    fn links() -> (CallLinks, mpsc::Receiver<ServerQuestion>) {
        links_of("alice")
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
        second.answered();
        assert!(events.links(None).expect("the first").asked.same_channel(&one.asked));
        first.answered();
        assert!(events.calls.lock().live.is_empty() && events.calls.lock().given_up.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_said_in_a_call_that_was_given_up_is_not_heard_by_somebody_else() {
        let events = SessionEvents::default();
        let call = |owner: &str, id: i64| {
            let call = events.begin(links_of(owner).0);
            call.sent(RequestId::Number(id));
            call
        };
        drop(events.begin(links().0));
        assert!(!events.is_in_doubt(), "it never went off");
        drop(call("alice", 1));
        assert!(events.is_in_doubt());
        let bobs = call("bob", 2);
        assert!(events.links(None).is_none(), "it may be alice's");
        let origin = InboundStreamOrigin::OutboundRequest(RequestId::Number(2));
        assert!(events.links(Some(&origin)).is_some(), "it is known to be bob's");
        bobs.answered();
        assert!(!events.is_in_doubt());
        let hers = call("alice", 3);
        assert!(events.links(None).is_some(), "alice's own");
        hers.answered();
        tokio::time::advance(GIVEN_UP_HEARD_MAX).await;
        let _bobs = call("bob", 4);
        assert!(events.links(None).is_some(), "the server has had its time");
    }

    #[tokio::test(start_paused = true)]
    async fn callers_who_gave_up_are_remembered_one_by_one_up_to_so_many() {
        let mut calls = Calls::default();
        let owners = |calls: &Calls| calls.given_up.iter().map(|one| one.owner.is_some()).collect::<Vec<_>>();
        for n in 0..GIVEN_UP_OWNERS_MAX {
            calls.give_up(Some(n.to_string()));
            calls.give_up(Some(n.to_string()));
        }
        assert_eq!(owners(&calls), [true; GIVEN_UP_OWNERS_MAX]);
        calls.give_up(Some("one more".to_owned()));
        assert_eq!(owners(&calls), [false], "all together");
    }
}
