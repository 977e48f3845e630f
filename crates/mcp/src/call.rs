//! One call of a tool: its progress, its questions and its result.

use std::borrow::Cow;
use std::ops::ControlFlow;

use forecourt_core::ids;
use forecourt_core::limits::HOPS_MAX;
use forecourt_core::policy::PaymentSubmission;
use forecourt_core::reply::{Progress, Question};
use forecourt_surface::tool::{ElicitedAnswer, Tool, ToolCall, ToolEvent, ToolOutput};
use futures::StreamExt;
use http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, InputRequiredResult, InputResponses,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestMetaObject,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use crate::NAME;
use crate::caller::Caller;
use crate::content::{failed, note, result};
use crate::elicit::{self, Modes};
use crate::fields::SESSION;
use crate::forms::{Form, forms};
use crate::limits::{ANSWER_TIME_MAX, QUESTIONS_PER_CALL_MAX};
use crate::offer::{Offer, OfferedTool};
use crate::servers::FoundTool;
use crate::waiting::{Next, Seal, Waiting};
use crate::{log, payment, tasks};

/// Carries out a call, as often as its questions are answered.
pub(crate) async fn call(
    offer: &Offer,
    offered: &OfferedTool,
    caller: &Caller,
    mut params: CallToolRequestParams,
    client: &Client<'_>,
) -> Result<CallToolResponse, ErrorData> {
    let rounds =
        Rounds { offer, name: &offered.tool.name, offered: Some(offered), promises_output: false, caller, client };
    let arguments = Value::Object(params.arguments.take().unwrap_or_default());
    let mut state = match rounds.begin(params, arguments)? {
        ControlFlow::Continue(state) => state,
        ControlFlow::Break(response) => return Ok(response),
    };
    loop {
        let output = run(&offered.tool, rounds.tool_call(&mut state), caller, client.context).await?;
        // Before any question is put: a task asks by its own means (`tasks/get`, `tasks/update`).
        if client.asking.gives_tasks
            && let Some(created) = tasks::created(&offer.host, caller, &output).await
        {
            return Ok(created.into());
        }
        if !client.asking.may_ask() {
            return Ok(rounds.response(output));
        }
        if let ControlFlow::Break(response) = rounds.ask(&mut state, output).await? {
            return Ok(response);
        }
    }
}

/// One call, round after round: the tool is called, asks, and is called again with what was answered.
pub(crate) struct Rounds<'a> {
    offer: &'a Offer,
    /// What the tool is called by.
    name: &'a str,
    /// The tool, where it is one of this host.
    offered: Option<&'a OfferedTool>,
    /// Whether it is one of a server that promises results of another form than refusals have.
    promises_output: bool,
    caller: &'a Caller,
    client: &'a Client<'a>,
}

/// What a call takes into its next round.
pub(crate) struct CallState {
    pub(crate) arguments: Value,
    /// Answers that came with the call, as far as nobody asked for them yet.
    responses: InputResponses,
    answered: Option<ElicitedAnswer>,
    pub(crate) visited: Option<Value>,
    pub(crate) payment: Option<PaymentSubmission>,
    round: usize,
}

impl<'a> Rounds<'a> {
    /// The rounds of a call of a server's tool, up to its gate.
    pub(crate) fn of_server(
        offer: &'a Offer,
        found: &FoundTool<'a>,
        caller: &'a Caller,
        client: &'a Client<'a>,
    ) -> Self {
        let promises_output = found.tool.promises_output();
        Self { offer, name: found.name, offered: None, promises_output, caller, client }
    }
}

impl Rounds<'_> {
    /// What the first round begins with: where the call goes on from an earlier one, with the answers to that. Breaks
    /// with the response when answers are missing still, or the person declined.
    pub(crate) fn begin(
        &self,
        params: CallToolRequestParams,
        arguments: Value,
    ) -> Result<ControlFlow<CallToolResponse, CallState>, ErrorData> {
        let mut state = CallState {
            arguments,
            responses: params.input_responses.unwrap_or_default(),
            answered: None,
            visited: None,
            payment: payment::submitted(params.meta.as_ref(), self.client.context),
            round: 0,
        };
        let Some(sealed) = params.request_state else { return Ok(ControlFlow::Continue(state)) };
        let waiting: Waiting = self.seal(&state).open(&sealed)?;
        state.round = waiting.round;
        let forms = waiting.forms();
        state.visited = waiting.visited();
        match waiting.take(forms, &mut state.responses)? {
            Next::Goes(answers) => state.answered = answers,
            Next::Declined => return Ok(ControlFlow::Break(self.response(declined()))),
            Next::Lacks(waiting, forms) => {
                let lacks = || ErrorData::invalid_params("inputResponses lacks what was asked for", None);
                // A form that was forgotten is put once more. A page has no fields: to call again without having been
                // there is an error.
                let is_asked = forms.iter().all(|form| !form.fields.is_empty());
                let close = || self.seal(&state).close(&waiting);
                let sealed = is_asked.then(close).flatten().ok_or_else(lacks)?;
                return Ok(ControlFlow::Break(input_required(forms, sealed).into()));
            }
        }
        Ok(ControlFlow::Continue(state))
    }

    /// The call of the tool in this round.
    fn tool_call(&self, state: &mut CallState) -> ToolCall {
        // Only who can be asked something calls the tool a second time with the same arguments.
        let may_ask = self.client.asking.may_ask();
        ToolCall {
            arguments: if may_ask { state.arguments.clone() } else { state.arguments.take() },
            sender: self.caller.sender.clone(),
            hop: self.caller.hop,
            language: self.caller.language.clone(),
            via: NAME,
            gives_tasks: self.client.asking.gives_tasks,
            answered: state.answered.take().map(Box::new),
            visited: state.visited.take().map(Box::new),
            payment: state.payment.take().map(Box::new),
        }
    }

    /// Asks the person what the tool wants to know. Breaks with the response when it wants nothing, when the client is
    /// to call again with the answers, or when nobody answers.
    pub(crate) async fn ask(
        &self,
        state: &mut CallState,
        output: ToolOutput,
    ) -> Result<ControlFlow<CallToolResponse>, ErrorData> {
        let asking = &self.client.asking;
        // The newest revision knows the person's visit by the call itself.
        let id = if asking.in_rounds { String::new() } else { ids::mint(&**self.offer.host.entropy()) };
        let wish = wish(&output, asking.modes, id);
        let Some(forms) = wish.filter(|_| state.round < QUESTIONS_PER_CALL_MAX) else {
            return Ok(ControlFlow::Break(self.response(output)));
        };
        state.round += 1;
        // Who knows what will be asked may have answered with the call. A condition that was met and not used stays met.
        let waiting = Waiting::for_answers(&output, state.visited.take(), state.round);
        let page = waiting.visited();
        let (mut waiting, forms) = match waiting.take(forms, &mut state.responses)? {
            Next::Goes(answers) => {
                (state.answered, state.visited) = (answers, page);
                return Ok(ControlFlow::Continue(()));
            }
            Next::Declined => return Ok(ControlFlow::Break(self.response(declined()))),
            Next::Lacks(waiting, forms) => (waiting, forms),
        };
        let Some(context) = self.client.context.filter(|_| !asking.in_rounds) else {
            let sealed = self.seal(state).close(&waiting);
            let ask = |sealed| input_required(forms, sealed).into();
            return Ok(ControlFlow::Break(sealed.map_or_else(|| self.response(output), ask)));
        };
        for form in forms {
            let answer =
                context.peer.create_elicitation_with_timeout(form.request.clone(), Some(ANSWER_TIME_MAX)).await;
            match answer.ok().and_then(elicit::accepted) {
                Some(values) => drop(waiting.answers.insert(form.key.clone(), form.answers(values))),
                None => return Ok(ControlFlow::Break(self.response(output))),
            }
        }
        (state.answered, state.visited) = (waiting.answered(), page);
        Ok(ControlFlow::Continue(()))
    }

    /// The seal of what this call remembers.
    fn seal(&self, state: &CallState) -> Seal<'_> {
        Seal::new(self.offer, self.name, self.caller, &state.arguments)
    }

    /// What the tool came to, as the client is told.
    pub(crate) fn response(&self, mut output: ToolOutput) -> CallToolResponse {
        if let Some(offered) = self.offered {
            output = offered.conforming(output);
        } else if self.promises_output && !output.structured.is_null() {
            // Clients hold what this host says instead of the server to the server's promise, too.
            note(&mut output.meta, "error", output.structured.take());
        }
        result(output, self.caller.language.as_ref()).into()
    }
}

/// The tool that a call names at an endpoint. Fails for what is not there, and for calls of calls without end.
pub(crate) fn callable<'a>(offer: &'a Offer, caller: &Caller, name: &str) -> Result<&'a OfferedTool, ErrorData> {
    if caller.hop >= HOPS_MAX {
        let words = format!("at most {HOPS_MAX} agents may call each other in a row");
        return Err(ErrorData::invalid_request(words, None));
    }
    let missing = || ErrorData::invalid_params("there is no tool of this name here; tools/list names them", None);
    offer.find(caller.agent.as_ref(), name).map(|offered| &**offered).ok_or_else(missing)
}

/// Runs a tool to its end. A call that is cancelled, or whose client is gone, drops the tool's work.
async fn run(
    tool: &Tool,
    call: ToolCall,
    caller: &Caller,
    context: Option<&RequestContext<RoleServer>>,
) -> Result<ToolOutput, ErrorData> {
    let mut events = (tool.call)(call);
    let mut told = ToldProgress::new(context.and_then(|context| context.meta.get_progress_token()));
    loop {
        let next = match context {
            Some(context) => tokio::select! {
                next = events.next() => next,
                () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
            },
            None => events.next().await,
        };
        if let Some(event) = &next {
            caller.verdict.tell(event);
        }
        match next {
            Some(ToolEvent::Progress(progress)) => {
                let Some(context) = context else { continue };
                log::tell(tool, &progress, caller.log, context).await;
                if let Some(notification) = told.next(progress) {
                    // A client that is gone is found out by the call itself.
                    let _ = context.peer.notify_progress(notification).await;
                }
            }
            Some(ToolEvent::Done(called)) => return Ok(*called),
            None => return Ok(failed("The tool stopped before its answer was whole.")),
        }
    }
}

/// What a client was told of the progress of its call.
struct ToldProgress {
    token: Option<ProgressToken>,
    last: f64,
}

impl ToldProgress {
    fn new(token: Option<ProgressToken>) -> Self {
        Self { token, last: 0.0 }
    }

    /// The next notification: its number rises, whatever the tool says. `None` when nobody asked, or
    /// when it can't rise any more.
    fn next(&mut self, progress: Progress) -> Option<ProgressNotificationParam> {
        let token = self.token.clone()?;
        let told = progress.fraction.filter(|fraction| *fraction > self.last).map(|fraction| fraction.min(1.0));
        // Progress must rise with every notification. A step of what is left rises and does not reach the total.
        let next = told.unwrap_or(self.last + (1.0 - self.last) / 100.0);
        if next <= self.last {
            return None;
        }
        self.last = next;
        let notification = ProgressNotificationParam::new(token, self.last).with_total(1.0);
        Some(match progress.note {
            Some(note) => notification.with_message(note),
            None => notification,
        })
    }
}

/// The client of one call.
pub(crate) struct Client<'a> {
    pub(crate) asking: Asking,
    /// Where it is told and asked things on the way. `None`: it is given nothing but the answer, and who goes
    /// away drops the call.
    pub(crate) context: Option<&'a RequestContext<RoleServer>>,
    /// What it says beside the parameters of its request.
    pub(crate) meta: &'a RequestMetaObject,
}

impl<'a> Client<'a> {
    /// Whether it is told of the progress of its call.
    pub(crate) fn hears_progress(&self) -> bool {
        self.context.is_some_and(|context| context.meta.get_progress_token().is_some())
    }

    /// Its session with this host, if it has one.
    pub(crate) fn session(&self) -> Option<String> {
        let head = self.context?.extensions.get::<Parts>()?;
        head.headers.get(&SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned)
    }

    /// One that the SDK talks to.
    pub(crate) fn in_session(context: &'a RequestContext<RoleServer>, declared: Option<&ClientCapabilities>) -> Self {
        let asking = Asking::new(context.protocol_version().as_ref(), declared);
        // The SDK takes the metadata out of the parameters.
        Self { asking, context: Some(context), meta: &context.meta }
    }

    /// One of 2026-07-28 that wants the answer and nothing on the way.
    pub(crate) fn waiting(declared: &ClientCapabilities, meta: &'a RequestMetaObject) -> Self {
        Self { asking: Asking::new(Some(&ProtocolVersion::V_2026_07_28), Some(declared)), context: None, meta }
    }
}

/// What a client can take beside a result, and how questions reach the person behind it.
pub(crate) struct Asking {
    pub(crate) modes: Modes,
    /// Whether a result says what is needed, and the client calls again. Before 2026-07-28 the server
    /// asks in the middle of the call.
    pub(crate) in_rounds: bool,
    /// Whether a call may end with a task that the client goes on with.
    gives_tasks: bool,
}

impl Asking {
    /// Whether the person behind the client can be asked anything.
    pub(crate) fn may_ask(&self) -> bool {
        self.modes.form || self.modes.url
    }

    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        Self::new(context.protocol_version().as_ref(), context.client_capabilities().as_ref())
    }

    fn new(version: Option<&ProtocolVersion>, declared: Option<&ClientCapabilities>) -> Self {
        let in_rounds = version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let gives_tasks = in_rounds && declared.is_some_and(ClientCapabilities::supports_tasks);
        Self { modes: Modes::of(declared), in_rounds, gives_tasks }
    }
}

/// What a call would like from the person, if the client can put it to one.
fn wish(called: &ToolOutput, modes: Modes, id: String) -> Option<Vec<Form>> {
    let question = called.question.as_ref().filter(|_| modes.form);
    let refusal = called.refusal.as_deref().filter(|_| modes.url);
    match (question, refusal) {
        (Some(question), _) => forms(&with_words_before(question, &called.structured)),
        (None, Some(part)) => elicit::page(part, id).map(|page| vec![page]),
        (None, None) => None,
    }
}

/// A question with what was said before it: a person who is asked in the middle of a call sees nothing else of it.
fn with_words_before<'a>(question: &'a Question, structured: &Value) -> Cow<'a, Question> {
    match structured["text"].as_str().map(str::trim) {
        Some(words) if !words.is_empty() && !question.text.contains(words) => Cow::Owned(Question {
            text: format!("{words}\n\n{}", question.text),
            questions: question.questions.clone(),
        }),
        _ => Cow::Borrowed(question),
    }
}

fn input_required(forms: Vec<Form>, state: String) -> InputRequiredResult {
    InputRequiredResult::new(Some(elicit::requests(forms)), Some(state))
}

fn declined() -> ToolOutput {
    failed("The person did not answer, so the call was given up.")
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    #[test]
    fn s5_progress_rises_whatever_the_tool_says() {
        let mut told = ToldProgress::new(Some(ProgressToken(NumberOrString::Number(7))));
        let mut last = 0.0;
        for fraction in [Some(0.1), None, Some(0.05), Some(0.5), None, None, Some(1.0)] {
            let next = told.next(Progress { fraction, note: None }).expect("somebody asked");
            assert!(next.progress > last && next.progress <= 1.0, "{}", next.progress);
            last = next.progress;
        }
    }

    #[test]
    fn s5_progress_ends_at_its_total() {
        for whole in [1.0, 7.0, f64::INFINITY] {
            let mut told = ToldProgress::new(Some(ProgressToken(NumberOrString::Number(7))));
            let mut next = |fraction| told.next(Progress { fraction, note: None }).map(|next| next.progress);
            assert_eq!(next(Some(whole)), Some(1.0));
            assert_eq!((next(None), next(Some(whole))), (None, None));
        }
    }

    #[test]
    fn s5_without_a_token_nothing_is_told() {
        assert!(ToldProgress::new(None).next(Progress { fraction: Some(0.5), note: None }).is_none());
    }
}
