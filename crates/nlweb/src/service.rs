//! A question carried to the host and back, the same for every way in which it comes.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::clock::whole_seconds;
use forecourt_core::policy::PaymentSubmission;
use forecourt_core::reply::ReplyAccumulator;
use forecourt_core::{
    CollectedReply, Ending, Error, Event, Handle, Language, LazyJson, Message, Noun, PolicyPart, Reply, Sender, TaskId,
    TaskState, ThreadId, Transport,
};
use forecourt_host::{Host, HostedAgent, Run, TaskAccess, TaskPermit};
use forecourt_identity::Verifier;
use forecourt_pages::Pages;
use forecourt_surface::failure::HostFailure;
use forecourt_surface::refusal;
use futures::StreamExt;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout};

use crate::action::Action;
use crate::api_error::{ApiError, code};
use crate::from_wire::{CONVERSATION, Envelope, STATE, message};
use crate::limits::FIRST_EVENT_WAIT;
use crate::response::{About, Outcome, Promise, Response, ending_code, sentences};
use crate::section::NlwebSettings;
use crate::site::ChosenAgent;
use crate::unfold::{End, Piece, Unfolding, Whose};
use crate::wire::{self, Ask, Await, Dialect};
use crate::{carried, kept, merged, site};

/// What the protocol is made of.
pub(crate) struct Service {
    pub(crate) host: Arc<Host>,
    pub(crate) verifier: Arc<Verifier>,
    /// Who may embed the search box.
    pub(crate) pages: Arc<Pages>,
    pub(crate) settings: NlwebSettings,
    pub(crate) actions: Arc<[Action]>,
}

/// Who asks, and how it came.
pub(crate) struct Asker {
    pub(crate) sender: Sender,
    pub(crate) hop: u32,
    /// What the transport says about languages.
    pub(crate) language: Option<Language>,
    pub(crate) via: Transport,
    /// A payment that came with the question.
    pub(crate) payment: Option<PaymentSubmission>,
}

/// A question on its way, and what its answer needs to know of it.
pub(crate) struct QuestionUnderWay {
    pub(crate) reply: Reply,
    pub(crate) about: About,
    pub(crate) language: Option<Language>,
    pub(crate) at: Instant,
    /// Who asked.
    pub(crate) sender: Sender,
}

impl Service {
    /// Who is asked. NLWeb 3.1. At the host's address a conversation that was begun with an agent by its
    /// name stays with it, and one that the caller carries with whoever was asked before.
    pub(crate) async fn resident(&self, own: Option<&Handle>, ask: &Ask) -> Result<ChosenAgent, ApiError> {
        let named = ask.query.site.as_deref();
        // A name in the request goes before the conversation: who names another agent wants that one.
        if let (None, None, Some(thread)) = (own, named, conversation(&ask.meta.session)) {
            let with = self.host.route(&thread).await.map_err(|error| self.fault(error))?;
            if let Some(resident) = with.and_then(|agent| self.host.directory().find(&agent)) {
                return Ok(ChosenAgent::one(resident));
            }
        }
        let carried = carried::site(&ask.meta.session).filter(|_| own.is_none());
        site::asked(&self.host, own, named.or(carried))
    }

    /// Remembers whom a conversation is with.
    async fn stay(&self, thread: Option<&ThreadId>, agent: &Handle, sender: &Sender) {
        if let Some(thread) = thread
            && let Err(error) = self.host.set_route(thread, agent, sender).await
        {
            tracing::warn!(%error, "whom a conversation is with was not kept");
        }
    }

    /// How long an answer is waited for before it becomes a promise.
    pub(crate) fn patience(&self) -> Run {
        Run::task_if_slow(self.promise_after())
    }

    /// The time after which an answer that is not there is promised.
    pub(crate) fn promise_after(&self) -> Duration {
        Duration::from_secs(self.settings.sync_wait_seconds)
    }

    /// Asks, and waits for the answer or for the promise of one.
    pub(crate) async fn ask(&self, chosen: ChosenAgent, ask: Ask, asker: Asker, run: Run) -> Response {
        match self.begin(chosen, ask, asker, run).await {
            Ok(begun) => self.answered(begun).await,
            Err(response) => *response,
        }
    }

    /// Hands a question to its agent, or to several at once.
    pub(crate) async fn begin(
        &self,
        chosen: ChosenAgent,
        ask: Ask,
        asker: Asker,
        run: Run,
    ) -> Result<QuestionUnderWay, Box<Response>> {
        let at = Instant::now();
        let sender = asker.sender.clone();
        let message = self.message(&ask, &chosen, &chosen.resident, asker);
        let language = message.language.clone();
        let begun = match chosen.beside.is_empty() {
            true => self.host.receive(message, run).await,
            false => Box::pin(merged::receive(&self.host, self.for_each(message, &ask, &chosen))).await,
        };
        let Ask { query, style, meta, notes, .. } = ask;
        let question = query.text.clone();
        let mut about = About { notes, question, request_id: meta.request_id, ..About::plain(style) };
        match begun {
            Ok(reply) => {
                // Who was asked by name is asked on.
                let named = reply.thread.as_ref().filter(|_| query.site.is_some() && meta.remember);
                self.stay(named, chosen.resident.card.handle(), &sender).await;
                about.session = match chosen.beside.is_empty() || !meta.remember {
                    true => session(meta.session, reply.thread.as_ref()),
                    false => session(carried::carry(meta.session, &query, chosen.share(style.limit)), None),
                };
                about.language = Some(reply.language.clone());
                Ok(QuestionUnderWay { reply, about, language, at, sender })
            }
            Err(error) => {
                about.session = session(meta.session, None);
                let outcome = Outcome::fault(&self.fault(error), language.as_ref());
                Err(Box::new(Response { about, outcome }))
            }
        }
    }

    fn message(&self, ask: &Ask, chosen: &ChosenAgent, resident: &HostedAgent, asker: Asker) -> Message {
        let Asker { sender, hop, language, via, payment } = asker;
        let id = kept::message_id(ask.style, &**self.host.entropy());
        let received_at = self.host.clock().now();
        let envelope = Envelope { sender, hop, language, via, id, received_at, payment };
        message(ask, &resident.card, chosen.host.as_deref(), envelope)
    }

    /// The same for each of several agents. None of them keeps the conversation: what came before is what
    /// the caller tells, or carries.
    fn for_each(&self, first: Message, ask: &Ask, chosen: &ChosenAgent) -> Vec<Message> {
        let history = match ask.context.prev.is_empty() {
            true => carried::turns(&ask.meta.session).into(),
            false => first.history.clone(),
        };
        let all = std::iter::once(&chosen.resident).chain(&chosen.beside);
        let mut search = first.search.clone();
        // Together they give as many as one agent would.
        search.narrowing.results = chosen.share(search.narrowing.results);
        let to = |resident: &Arc<HostedAgent>| Message {
            search: search.clone(),
            recipient: resident.card.handle().clone(),
            history: history.clone(),
            thread: None,
            unrecorded: true,
            ..first.clone()
        };
        all.map(to).collect()
    }

    /// What a question has come to by now: its answer, or the promise of one.
    pub(crate) async fn answered(&self, begun: QuestionUnderWay) -> Response {
        let QuestionUnderWay { mut reply, mut about, language, at, sender } = begun;
        let whose = self.whose(reply.agent.clone(), None);
        let mut gathered = ReplyAccumulator::default();
        let collected = loop {
            match reply.events.next().await {
                Some(Event::Task(id)) => {
                    // What was said until now is being written down, and the promise would like to tell of it.
                    drop(timeout(FIRST_EVENT_WAIT, reply.events.next()).await);
                    return self.promised_now(&id, &sender, about, language.as_ref()).await;
                }
                Some(event) => {
                    if let Some(ending) = gathered.take(event) {
                        break gathered.finish(ending);
                    }
                }
                None => break gathered.finish(Ending::unfinished()),
            }
        };
        let outcome = self.outcome(collected, &whose, &mut about, language.as_ref());
        about.usage = reply.usage.so_far();
        about.millis = u64::try_from(at.elapsed().as_millis()).ok();
        Response { about, outcome }
    }

    /// What a task has come to that a question of this sender became.
    pub(crate) async fn promised_now(
        &self,
        id: &TaskId,
        sender: &Sender,
        about: About,
        language: Option<&Language>,
    ) -> Response {
        match self.host.task(id, TaskAccess::As(sender)).await {
            Ok(task) => self.stands(&task, about, language).await,
            Err(error) => Response { about, outcome: Outcome::fault(&self.fault(error), language) },
        }
    }

    /// Whose items an answer holds.
    pub(crate) fn whose(&self, agent: Handle, task: Option<TaskId>) -> Whose {
        Whose { agent, base: self.host.site().base.clone(), task }
    }

    /// What came of a question, in NLWeb's words.
    fn outcome(
        &self,
        collected: CollectedReply,
        whose: &Whose,
        about: &mut About,
        language: Option<&Language>,
    ) -> Outcome {
        let mut unfolding = Unfolding::new(about.style, sentences(language), whose.shelf(&self.actions));
        // What a search says of its items is known before them.
        let told = collected.findings.map(Event::Findings);
        let parts = collected.parts.into_iter().map(|part| match part.as_text() {
            Some(text) => Event::Text(text.to_owned()),
            None => Event::Part(part),
        });
        let mut pieces = Vec::new();
        told.into_iter().chain(parts).for_each(|event| pieces.extend(unfolding.take(event)));
        // What an ending says is among the parts already.
        let ending = match collected.ending {
            Ending::Message(_) => Ending::Complete,
            other => other,
        };
        let (last, end) = unfolding.finish(ending);
        pieces.extend(last);
        about.tell(unfolding.findings());
        match end {
            End::Answer => {
                let said = unfolding.worded();
                Outcome::Answer { results: sorted(pieces, &mut about.notes), said }
            }
            other => ended(other, language),
        }
    }

    /// A promise as it stands. NLWeb 4.2.
    pub(crate) async fn awaited(
        &self,
        own: Option<&Handle>,
        awaited: Await,
        sender: &Sender,
        language: Option<&Language>,
    ) -> Response {
        let Await { token, action, dialect, meta, notes } = awaited;
        let mut about = About { notes, request_id: meta.request_id, ..About::plain(wire::Style::plain(dialect)) };
        let found = match self.promised(own, &token, sender).await {
            Ok(task) if action == wire::Action::Cancel => self.cancelled(task).await,
            other => other,
        };
        match found {
            Ok(task) => {
                about.style = kept::style(&task, dialect);
                about.session = session(meta.session, task.thread.as_ref());
                self.stands(&task, about, language).await
            }
            Err(fault) => {
                about.session = session(meta.session, None);
                Response { about, outcome: Outcome::fault(&fault, language) }
            }
        }
    }

    /// What a task has come to that began with a question, as that would have been answered.
    pub(crate) async fn come_to(&self, task: &TaskPermit) -> Response {
        let style = kept::style(task, Dialect::V0_55);
        let session = session(Map::new(), task.thread.as_ref());
        self.stands(task, About { session, ..About::plain(style) }, None).await
    }

    /// The task behind a token, if it is this sender's to see.
    async fn promised(&self, own: Option<&Handle>, token: &str, sender: &Sender) -> Result<TaskPermit, ApiError> {
        let id = TaskId::parse(token).ok_or(ApiError::NoPromise)?;
        let task = self.host.task(&id, TaskAccess::As(sender)).await.map_err(|error| self.fault(error))?;
        // At the endpoint of one agent the tasks of others look as if they did not exist.
        let here = own.is_none_or(|own| *own == task.agent);
        if here { Ok(task) } else { Err(ApiError::NoPromise) }
    }

    /// The task after it was given up. One that has ended stays as it is.
    async fn cancelled(&self, task: TaskPermit) -> Result<TaskPermit, ApiError> {
        match task.cancel().await {
            Ok(task) => Ok(task),
            // It ended first: the caller gets what came of it instead of an error.
            Err(Error::Conflict { .. }) => task.reload().await.map_err(|error| self.fault(error)),
            Err(error) => Err(self.fault(error)),
        }
    }

    /// What a task has come to.
    async fn stands(&self, task: &TaskPermit, mut about: About, language: Option<&Language>) -> Response {
        let outcome = match (&task.outcome, task.state) {
            (_, TaskState::Submitted | TaskState::Working) => Outcome::Promise(self.promise(task).await),
            (Some(outcome), _) => {
                let whose = self.whose(task.agent.clone(), Some(task.id.clone()));
                about.usage.clone_from(&outcome.usage);
                self.outcome(outcome.clone(), &whose, &mut about, language)
            }
            (None, TaskState::Canceled) => ended(End::Unanswered(Box::new(Ending::Canceled)), language),
            (None, _) => Outcome::fault(&ApiError::Internal, language),
        };
        Response { about, outcome }
    }

    /// NLWeb 4.1.2: how far the work has come, as the agent says, and how long it may still take.
    async fn promise(&self, task: &TaskPermit) -> Promise {
        let progress = task.progress().await.ok().flatten();
        let fraction = progress.as_ref().and_then(|progress| progress.fraction);
        let fraction = fraction.filter(|fraction| (0.0..=1.0).contains(fraction));
        let since = self.host.clock().now().duration_since(task.created_at).unsigned_abs();
        Promise {
            token: task.id.expose().to_owned(),
            estimated_time: Some(left(since, fraction)),
            message: progress.and_then(|progress| progress.note),
            progress: fraction,
        }
    }

    /// What the host objects to, in NLWeb's words.
    fn fault(&self, error: Error) -> ApiError {
        fault_of(error, || site::known(&self.host))
    }
}

/// What a host objects to whose agents are `known`.
fn fault_of(error: Error, known: impl FnOnce() -> String) -> ApiError {
    match error {
        Error::NotFound { what: Noun::Agent } => ApiError::NoAgent(known()),
        Error::NotFound { what: Noun::Task | Noun::Thread | Noun::Artifact } => ApiError::NoPromise,
        Error::Gone { .. } => ApiError::Gone(error.to_string()),
        Error::Conflict { what, state } => ApiError::Invalid(format!("the {what} is {}", state.name())),
        Error::Invalid { field, reason } => ApiError::Invalid(format!("{field}: {reason}")),
        Error::Full { bound } => ApiError::Full(bound),
        Error::Unavailable { retry_after } => ApiError::Unavailable(whole_seconds(retry_after)),
        Error::Internal(cause) => {
            tracing::error!(%cause, "a question failed");
            ApiError::Internal
        }
    }
}

/// A failure of the host as NLWeb spells it, for the table of errors.
pub(crate) fn spelling(failure: HostFailure) -> Option<String> {
    match failure {
        HostFailure::Error(error) => {
            let fault = fault_of(error, String::new);
            Some(format!("{} `{}`", fault.status().as_u16(), fault.code()))
        }
        HostFailure::Refused(part) => Some(refusal::status(&part.kind).as_u16().to_string()),
        HostFailure::Ended(ending) => Some(format!("200 `{}`", ending_code(&ending))),
        // Endpoints are not called over NLWeb.
        HostFailure::Call(_) => None,
    }
}

/// A refusal of a request before its question was looked at.
pub(crate) fn turned_away(part: Box<PolicyPart>, style: wire::Style, language: Option<&Language>) -> Response {
    Response { about: About::plain(style), outcome: ended(End::Refused(part), language) }
}

/// A fault of a request, in the version that it speaks.
pub(crate) fn wrong(fault: &ApiError, dialect: Dialect, language: Option<&Language>) -> Response {
    Response { about: About::plain(wire::Style::plain(dialect)), outcome: Outcome::fault(fault, language) }
}

/// How an answer ended that is none. NLWeb 4.1.3, 4.1.4; design 23.
pub(crate) fn ended(end: End, language: Option<&Language>) -> Outcome {
    match end {
        End::Answer => Outcome::Answer { results: Vec::new(), said: String::new() },
        End::Nothing(message) => Outcome::failure(code::NO_RESULTS, message),
        End::Question(question) => Outcome::Elicitation(question),
        End::Refused(part) => {
            let message = refusal::words(&part, language);
            Outcome::Refused { part, message }
        }
        End::Unanswered(ending) => {
            let message = match &*ending {
                Ending::Canceled => sentences(language).failure_cancelled(),
                ending => ending.reason().unwrap_or_default().into_owned(),
            };
            Outcome::Unanswered { ending, message }
        }
    }
}

/// The items of an answer in their order; what could not be shown becomes a note.
fn sorted(pieces: Vec<Piece>, notes: &mut Vec<String>) -> Vec<LazyJson> {
    let mut items = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match piece {
            Piece::Item(at, item) => items.push((at, item)),
            Piece::Trouble(why) => notes.push(why),
        }
    }
    items.sort_by_key(|(at, _)| *at);
    items.into_iter().map(|(_, item)| item).collect()
}

/// Seconds that work may still take: by the fraction that is done, else as long again as it has taken.
fn left(since: Duration, fraction: Option<f64>) -> u64 {
    let since = since.as_secs_f64();
    let left = match fraction {
        Some(fraction) if fraction > 0.0 => since * (1.0 - fraction) / fraction,
        _ => since,
    };
    (left.ceil() as u64).max(1)
}

/// The conversation that a session names, if it can be one of ours.
fn conversation(session: &Map<String, Value>) -> Option<ThreadId> {
    ThreadId::parse(session.get(CONVERSATION)?.as_str()?)
}

/// What the caller sends along next time: all that it sent, and the conversation, if there is one. A
/// conversation that is not ours is never given back as if it were.
pub(crate) fn session(mut sent: Map<String, Value>, thread: Option<&ThreadId>) -> Map<String, Value> {
    sent.remove(CONVERSATION);
    // A state is used once; sent again it would have every later question refused.
    sent.remove(STATE);
    if let Some(thread) = thread {
        sent.insert(CONVERSATION.to_owned(), thread.expose().into());
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_1_2_the_estimate_goes_by_what_is_done() {
        let of = |seconds: u64, fraction| left(Duration::from_secs(seconds), fraction);
        assert_eq!((of(10, Some(0.5)), of(10, Some(0.1)), of(10, Some(1.0))), (10, 90, 1));
        assert_eq!((of(10, None), of(0, None), of(10, Some(0.0))), (10, 1, 10));
    }
}
