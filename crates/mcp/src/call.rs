//! One call of a tool: its progress, its questions and its result.

use forecourt_core::ids;
use forecourt_core::limits::HOPS_MAX;
use forecourt_core::reply::Progress;
use forecourt_surface::tool::{Tool, ToolCall, ToolEvent, ToolOutput};
use futures::StreamExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, InputRequiredResult, ProgressNotificationParam,
    ProgressToken, ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use crate::NAME;
use crate::caller::Caller;
use crate::content::{conforming, failed, result};
use crate::elicit::{self, Modes};
use crate::forms::{Form, forms};
use crate::limits::{ANSWER_TIME_MAX, QUESTIONS_PER_CALL_MAX};
use crate::offer::{Offer, OfferedTool};
use crate::waiting::{Next, Seal, Waiting};
use crate::{log, payment, tasks};

/// Carries out a call, as often as its questions are answered.
pub(crate) async fn call(
    offer: &Offer,
    offered: &OfferedTool,
    caller: &Caller,
    params: CallToolRequestParams,
    client: &Client<'_>,
) -> Result<CallToolResponse, ErrorData> {
    let mut arguments = params.arguments.map_or_else(|| Value::Object(Default::default()), Value::Object);
    let ended = |called| result(conforming(called, offered), caller.language.as_ref()).into();
    let asking = &client.asking;
    // Only who can be asked something calls the tool a second time with the same arguments.
    let may_ask = asking.modes.form || asking.modes.url;
    let mut responses = params.input_responses.unwrap_or_default();
    let (mut answered, mut visited, mut round) = (None, None, 0);
    let mut payment = payment::submitted(params.meta.as_ref(), client.context);
    if let Some(state) = params.request_state {
        let waiting = Seal::new(offer, &offered.tool, caller, &arguments).open(&state)?;
        round = waiting.round;
        let forms = waiting.forms();
        visited = waiting.visited();
        match waiting.take(forms, &mut responses)? {
            Next::Goes(answers) => answered = answers,
            Next::Declined => return Ok(ended(declined())),
            Next::Lacks(waiting, forms) => {
                let lacks = || ErrorData::invalid_params("inputResponses lacks what was asked for", None);
                let asked = forms.iter().all(|form| !form.fields.is_empty());
                let close = || Seal::new(offer, &offered.tool, caller, &arguments).close(&waiting);
                let sealed = asked.then(close).flatten().ok_or_else(lacks)?;
                return Ok(input_required(forms, sealed).into());
            }
        }
    }
    loop {
        let once = ToolCall {
            arguments: if may_ask { arguments.clone() } else { arguments.take() },
            sender: caller.sender.clone(),
            hop: caller.hop,
            language: caller.language.clone(),
            via: NAME,
            gives_tasks: asking.gives_tasks,
            answered: answered.take().map(Box::new),
            visited: visited.take().map(Box::new),
            payment: payment.take().map(Box::new),
        };
        let called = run(&offered.tool, once, caller, client.context).await?;
        if asking.gives_tasks
            && let Some(created) = tasks::created(&offer.host, caller, &called).await
        {
            return Ok(created.into());
        }
        if !may_ask {
            return Ok(ended(called));
        }
        // The newest revision knows the person's visit by the call itself.
        let id = if asking.in_rounds { String::new() } else { ids::mint(&**offer.host.entropy()) };
        let wish = wish(&called, asking.modes, id);
        let Some(forms) = wish.filter(|_| round < QUESTIONS_PER_CALL_MAX) else { return Ok(ended(called)) };
        round += 1;
        // Who knows what will be asked may have answered with the call.
        let waiting = Waiting::for_answers(&called, round);
        let page = waiting.visited();
        let (mut waiting, forms) = match waiting.take(forms, &mut responses)? {
            Next::Goes(answers) => {
                (answered, visited) = (answers, page);
                continue;
            }
            Next::Declined => return Ok(ended(declined())),
            Next::Lacks(waiting, forms) => (waiting, forms),
        };
        let Some(context) = client.context.filter(|_| !asking.in_rounds) else {
            let sealed = Seal::new(offer, &offered.tool, caller, &arguments).close(&waiting);
            return Ok(sealed.map_or_else(|| ended(called), |sealed| input_required(forms, sealed).into()));
        };
        for form in forms {
            let asked = context.peer.create_elicitation_with_timeout(form.request.clone(), Some(ANSWER_TIME_MAX)).await;
            match asked.ok().and_then(elicit::accepted) {
                Some(said) => drop(waiting.answers.insert(form.key.clone(), form.answers(said))),
                None => return Ok(ended(called)),
            }
        }
        (answered, visited) = (waiting.answered(), page);
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
        let said = progress.fraction.filter(|fraction| *fraction > self.last).map(|fraction| fraction.min(1.0));
        let next = said.unwrap_or(self.last + (1.0 - self.last) / 100.0);
        if next <= self.last {
            return None;
        }
        self.last = next;
        let told = ProgressNotificationParam::new(token, self.last).with_total(1.0);
        Some(match progress.note {
            Some(note) => told.with_message(note),
            None => told,
        })
    }
}

/// The client of one call.
pub(crate) struct Client<'a> {
    pub(crate) asking: Asking,
    /// Where it is told and asked things on the way. `None`: it is given nothing but the answer, and who goes
    /// away drops the call.
    context: Option<&'a RequestContext<RoleServer>>,
}

impl<'a> Client<'a> {
    /// One that the SDK talks to.
    pub(crate) fn in_session(context: &'a RequestContext<RoleServer>, declared: Option<&ClientCapabilities>) -> Self {
        Self { asking: Asking::new(context.protocol_version().as_ref(), declared), context: Some(context) }
    }

    /// One of 2026-07-28 that wants the answer and nothing on the way.
    pub(crate) fn waiting(declared: &ClientCapabilities) -> Self {
        Self { asking: Asking::new(Some(&ProtocolVersion::V_2026_07_28), Some(declared)), context: None }
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
        (Some(question), _) => forms(question),
        (None, Some(part)) => elicit::page(part, id).map(|page| vec![page]),
        (None, None) => None,
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
