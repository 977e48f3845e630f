//! One request to a server behind this host, from its place in line to its end: what is told, logged and asked on the
//! way comes out step by step.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Ending, PaymentReceipt, in_place};
use forecourt_host::ForwardPermit;
use futures::future::BoxFuture;
use http::HeaderValue;
use rmcp::model::{
    ClientRequest, ElicitRequestParams, ElicitResult, InputRequest, InputRequiredResult, InputResponses,
    ProgressNotificationParam, ServerResult,
};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::credentials::Credentials;
use super::events::{CallLinks, LoggedMessage, ServerQuestion};
use super::judged::CallGuards;
use super::places::CallPlace;
use super::upstream::{Asker, SessionLease, Upstream};
use crate::elicit::PAGE;
use crate::limits::{ANSWER_TIME_MAX, LOGS_WAITING_MAX, PROGRESS_WAITING_MAX, SERVER_QUESTIONS_MAX};
use crate::upstream::call_error::CallError;

/// Makes a request, with the answers to the questions of the server so far.
pub(crate) type MakeRequest = Box<dyn Fn(Option<InputResponses>, Option<String>) -> ClientRequest + Send + Sync>;

/// A request that may be put more than once: after each question of the server with the answers to it.
pub(crate) struct ServerRequest {
    pub(crate) make: MakeRequest,
    /// Whether it may be put without the SDK: nobody hears of its progress, and nothing of it stands in fields that the
    /// SDK knows how to write.
    pub(crate) is_plain: bool,
}

/// A request that is under way. Dropped, it is given up.
pub(crate) struct ServerCall {
    result: BoxFuture<'static, Result<ServerResult, CallFailure>>,
    told: mpsc::Receiver<ProgressNotificationParam>,
    logged: mpsc::Receiver<LoggedMessage>,
    asked: mpsc::Receiver<ServerQuestion>,
    wants: mpsc::Receiver<RoundQuestion>,
    timer: Timer,
    guards: CallGuards,
    upstream: Arc<Upstream>,
    /// The receipt of what is paid for it.
    receipt: PaymentReceipt,
}

/// Why a request has no result: what went wrong, and what its caller is told.
pub(crate) struct CallFailure {
    pub(crate) error: CallError,
    pub(crate) ending: Ending,
}

/// How a request went on.
pub(crate) enum CallStep {
    Told(ProgressNotificationParam),
    Logged(LoggedMessage),
    Asks(OpenQuestion),
    Ended(Box<Result<ServerResult, CallFailure>>),
}

/// What a person is asked, by keys. Dropped, it is declined. Either way the server has its whole time again for what
/// comes next.
pub(crate) struct OpenQuestion {
    pub(crate) requests: Vec<(String, ElicitRequestParams)>,
    answer: Option<AnswerTo>,
    timer: Timer,
}

enum AnswerTo {
    /// A server that asks in the middle, and waits.
    Middle(oneshot::Sender<ElicitResult>),
    /// One that is asked again, with the answers.
    Round(oneshot::Sender<BTreeMap<String, ElicitResult>>),
}

/// The questions of one round.
struct RoundQuestion {
    requests: Vec<(String, ElicitRequestParams)>,
    answer: oneshot::Sender<BTreeMap<String, ElicitResult>>,
}

impl OpenQuestion {
    /// Gives the answers.
    pub(crate) fn answered(mut self, mut answers: BTreeMap<String, ElicitResult>) {
        // Sending fails where the request has ended meanwhile.
        match self.answer.take() {
            Some(AnswerTo::Middle(answer)) => {
                if let Some(result) = answers.remove(PAGE) {
                    drop(answer.send(result));
                }
            }
            Some(AnswerTo::Round(answer)) => drop(answer.send(answers)),
            None => {}
        }
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.timer.begin();
    }
}

/// Until when a server may take. While a person thinks, the person's time counts.
#[derive(Clone)]
struct Timer {
    until: watch::Sender<Instant>,
    time_max: Duration,
}

impl Timer {
    fn new(time_max: Duration) -> Self {
        Self { until: watch::Sender::new(Instant::now() + time_max), time_max }
    }

    fn begin(&self) {
        self.until.send_replace(Instant::now() + self.time_max);
    }

    fn wait_for_person(&self) {
        self.until.send_replace(Instant::now() + ANSWER_TIME_MAX);
    }

    async fn over(self) {
        let mut until = self.until.subscribe();
        loop {
            let now = *until.borrow_and_update();
            tokio::select! {
                () = sleep_until(now) => return,
                // It can't fail: a sender is held here.
                _ = until.changed() => {}
            }
        }
    }
}

/// Ends a call: it is charged for where it has a result, and its result is withheld where that fails.
async fn ended(
    mut permit: ForwardPermit,
    outcome: Result<ServerResult, CallFailure>,
) -> Result<ServerResult, CallFailure> {
    if let Ok(ServerResult::CallToolResult(result)) = &outcome
        && result.is_error == Some(true)
    {
        permit.fail();
    }
    let ending = outcome.as_ref().err().map_or(Ending::Complete, |failure| failure.ending.clone());
    match (permit.end(ending).await, outcome) {
        (Ending::Complete, Ok(result)) => Ok(result),
        (ending, Ok(_)) => Err(CallFailure { error: CallError::Unasked(ending.clone()), ending }),
        (ending, Err(failure)) => Err(CallFailure { ending, ..failure }),
    }
}

impl ServerCall {
    /// The request of a caller that was let through.
    pub(crate) fn new(upstream: Arc<Upstream>, permit: ForwardPermit, asker: Asker, request: ServerRequest) -> Self {
        let (timer, receipt) = (Timer::new(upstream.time_max), permit.receipt().clone());
        let (told, hears_told) = mpsc::channel(PROGRESS_WAITING_MAX);
        let (logged, hears_logged) = mpsc::channel(LOGS_WAITING_MAX);
        let (asked, hears_asked) = mpsc::channel(1);
        let (want, wants) = mpsc::channel(1);
        let owner = asker.owner.as_ref().map(|owner| owner.key.clone());
        let links = CallLinks { owner, told, asked, logged };
        let guards = CallGuards(permit.reply_guards().cloned());
        let (judging, server) = (guards.clone(), upstream.clone());
        let is_over = timer.clone().over();
        let result = in_place(move || async move {
            let mut permit = permit;
            let work = Work { upstream: &upstream, asker: &asker, links, want };
            let outcome = tokio::select! {
                outcome = work.carry(&mut permit, &request) => outcome,
                () = is_over => Err(CallError::TooLate),
            };
            upstream.note(&outcome);
            let outcome = judging.outcome(outcome).await.map_err(|error| CallFailure::new(error, &upstream));
            ended(permit, outcome).await
        });
        Self {
            result,
            told: hears_told,
            logged: hears_logged,
            asked: hears_asked,
            wants,
            timer,
            guards,
            upstream: server,
            receipt,
        }
    }

    /// The receipt of what was paid for it, known once it has ended.
    pub(crate) fn receipt(&self) -> Option<Map<String, Value>> {
        self.receipt.get().cloned()
    }

    /// What happens next, as the caller may know it.
    pub(crate) async fn step(&mut self) -> CallStep {
        let (step, guards) = (self.next().await, self.guards.clone());
        // The call ends with what is held back: whoever has the end drops the rest.
        let upstream = self.upstream.clone();
        let ended = move |held_back| CallStep::Ended(Box::new(Err(CallFailure::new(held_back, &upstream))));
        judged(&guards, step).await.unwrap_or_else(ended)
    }

    async fn next(&mut self) -> CallStep {
        let (requests, answer) = tokio::select! {
            // What was told before the end is passed on before it.
            biased;
            Some(told) = self.told.recv() => return CallStep::Told(told),
            Some(logged) = self.logged.recv() => return CallStep::Logged(logged),
            Some(ServerQuestion { request, answer }) = self.asked.recv() => {
                (vec![(PAGE.to_owned(), request)], AnswerTo::Middle(answer))
            }
            Some(RoundQuestion { requests, answer }) = self.wants.recv() => (requests, AnswerTo::Round(answer)),
            result = &mut self.result => return CallStep::Ended(Box::new(result)),
        };
        self.timer.wait_for_person();
        CallStep::Asks(OpenQuestion { requests, answer: Some(answer), timer: self.timer.clone() })
    }
}

impl CallFailure {
    /// What a caller of `upstream` is told of an error.
    pub(crate) fn new(error: CallError, upstream: &Upstream) -> Self {
        let who = format!("The server `{}` behind this host", upstream.name);
        let ending = error.ending(&who, &upstream.name, &*upstream.clock);
        Self { error, ending }
    }
}

/// What is said on the way, as the caller may know it.
async fn judged(guards: &CallGuards, step: CallStep) -> Result<CallStep, CallError> {
    match step {
        CallStep::Told(told) => guards.said(told).await.map(CallStep::Told),
        CallStep::Logged(message) => guards.said(message).await.map(CallStep::Logged),
        CallStep::Asks(mut asked) => {
            for (_, request) in &mut asked.requests {
                *request = guards.said(request.clone()).await?;
            }
            Ok(CallStep::Asks(asked))
        }
        // It was judged when it came.
        ended @ CallStep::Ended(_) => Ok(ended),
    }
}

/// Where a request is that the server answers with questions: it is put once more with what this holds, and with the
/// same where the token was renewed in between.
#[derive(Default)]
struct Round {
    /// How often the server has asked.
    number: usize,
    responses: Option<InputResponses>,
    state: Option<String>,
}

/// The work of one request.
struct Work<'a> {
    upstream: &'a Upstream,
    asker: &'a Asker,
    links: CallLinks,
    want: mpsc::Sender<RoundQuestion>,
}

impl Work<'_> {
    async fn carry(&self, permit: &mut ForwardPermit, request: &ServerRequest) -> Result<ServerResult, CallError> {
        let mut credentials = Credentials::of(self.upstream, self.asker).await?;
        let mut round = Round::default();
        loop {
            let before = round.number;
            let outcome = self.carry_with(permit, request, &mut round, credentials.shown()).await;
            if !credentials.are_refused(&outcome) {
                return outcome;
            }
            if round.number > before {
                credentials.were_taken();
            }
            // Once the server has asked for something it is at work, and what the call was let through by is used.
            if round.number == 0 {
                permit.take_back();
            }
            credentials.renew().await?;
        }
    }

    async fn carry_with(
        &self,
        permit: &mut ForwardPermit,
        request: &ServerRequest,
        round: &mut Round,
        shown: Option<HeaderValue>,
    ) -> Result<ServerResult, CallError> {
        let place = self.upstream.place(self.asker).await?;
        let lease = self.upstream.session_with(self.asker, shown).await?;
        permit.begin();
        let outcome = self.rounds(permit, &lease, (request, round), place).await;
        match &outcome {
            Err(error) if !error.leaves_connection() => self.upstream.give_up(&lease).await,
            Ok(_) if !self.upstream.has_listed() => Box::pin(self.upstream.list_by(&lease)).await,
            _ => {}
        }
        outcome
    }

    /// Puts the request, and puts it again with the answers as often as the server asks for some.
    async fn rounds(
        &self,
        permit: &ForwardPermit,
        lease: &SessionLease,
        (request, round): (&ServerRequest, &mut Round),
        mut place: CallPlace,
    ) -> Result<ServerResult, CallError> {
        while round.number <= SERVER_QUESTIONS_MAX {
            let put = (request.make)(round.responses.clone(), round.state.clone());
            match lease.session.ask(permit, put, request.is_plain, self.links.clone()).await? {
                ServerResult::InputRequiredResult(required) => {
                    let state = required.request_state.clone();
                    // The server does nothing while a person thinks.
                    drop(place);
                    let responses = Box::pin(self.answers(required)).await?;
                    *round = Round { number: round.number + 1, responses, state };
                    place = self.upstream.place(self.asker).await?;
                }
                result => return Ok(result),
            }
        }
        Err(CallError::Unmet("more answers than one call may"))
    }

    /// What the person says to what a server needs.
    async fn answers(&self, required: InputRequiredResult) -> Result<Option<InputResponses>, CallError> {
        let Some(wanted) = required.input_requests.filter(|wanted| !wanted.is_empty()) else { return Ok(None) };
        let mut requests = Vec::new();
        for (key, wanted) in wanted {
            match wanted {
                InputRequest::Elicitation(asked) => requests.push((key, asked.params)),
                InputRequest::CreateMessage(_) => return Err(CallError::Unmet("words of a model (sampling)")),
                _ => return Err(CallError::Unmet("folders of the caller (roots)")),
            }
        }
        let is_askable = |request: &ElicitRequestParams| match request {
            ElicitRequestParams::UrlElicitationParams { .. } => self.asker.modes.url,
            _ => self.asker.modes.form,
        };
        if !requests.iter().all(|(_, request)| is_askable(request)) {
            return Err(CallError::Unmet("an answer of a person, whom your client can't ask"));
        }
        let (answer, answered) = oneshot::channel();
        // It fails where nobody steps on with this request, which is dropped then.
        let _ = self.want.send(RoundQuestion { requests, answer }).await;
        let answers = answered.await.map_err(|_| CallError::Unmet("an answer that nobody gave"))?;
        let written = |(key, result)| Some((key, serde_json::to_value::<ElicitResult>(result).ok()?));
        Ok(Some(answers.into_iter().filter_map(written).collect()))
    }
}
