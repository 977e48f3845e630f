//! `forecourt ask --via mcp`: one call of the tool that takes questions, with its progress and its questions; a promise
//! is waited for with the tool that tells of it. Which tools those are, and what they say, their protocol knows.

mod person;

use std::sync::Arc;

use forecourt_client::ask::{
    AddressedAgent, AnswerDisplay, AnswerEnd, AskArguments, AskCall, AskClient, AskOptions, AskTarget, AskTool,
    EndpointRules, pause, refuse_files,
};
use forecourt_client::output::{Failure, Outcome, print_json};
use forecourt_client::printable::line;
use forecourt_client::refusal;
use futures::future::BoxFuture;
use http::HeaderMap;
use http::header::{ACCEPT_LANGUAGE, AUTHORIZATION};

use self::person::TerminalPerson;
use crate::visit::{CallReply, ServerLocation, Visit, VisitError};
use crate::{NAME, target};

/// Characters of somebody else's sentence.
const WORDS_CHARS_MAX: usize = 500;

/// MCP, as `ask` knows it.
pub(crate) const CLIENT: AskClient = AskClient {
    name: NAME,
    options: AskOptions { task: true, answers: false, payment: false, resumption: false, domain: true },
    tool: None,
    run: boxed,
};

/// A function of its own, since a closure in a constant is compiled in the crate that uses the constant.
fn boxed(call: AskCall) -> BoxFuture<'static, Outcome> {
    Box::pin(run(call))
}

const ENDPOINTS: EndpointRules = EndpointRules {
    name: NAME,
    title: "MCP",
    of_agent: endpoint_of,
    of_host: target::PATH,
    typed: std::convert::identity,
};

/// Asks, and shows the answer; of a promise, what it comes to.
async fn run(call: AskCall) -> Outcome {
    let ask = &call.arguments;
    refuse_files(ask, NAME)?;
    let tool = *call.tools.first().ok_or_else(|| Failure::usage(format!("nothing can be asked over {NAME}")))?;
    let to = ENDPOINTS.connect(&call).await?;
    ask.check_token(&to.endpoint)?;
    let location = ServerLocation {
        egress: (*to.egress).clone(),
        purpose: to.purpose,
        url: to.endpoint.to_string(),
        headers: headers(ask)?,
    };
    let person = Arc::new(TerminalPerson::new());
    let visit = Visit::begin(&location, person).await.map_err(|error| failure(error, tool, &to))?;
    let outcome = tokio::select! {
        outcome = converse(&visit, tool, ask, &to) => outcome,
        _ = tokio::signal::ctrl_c() => Err(Failure::yours("stopped listening")),
    };
    // Also after Ctrl-C: the server would keep its session until that is idle for too long.
    visit.end().await;
    outcome
}

/// Calls the tool, and the one that tells of promises until there is more than a promise.
async fn converse(visit: &Visit, tool: &AskTool, ask: &AskArguments, to: &AskTarget) -> Outcome {
    let mut display = AnswerDisplay::new(to, ask);
    let (mut name, mut arguments) = match &ask.task {
        Some(token) => (tool.poll_name, (tool.poll)(token)),
        None => (tool.name, (tool.question)(ask)),
    };
    loop {
        let answer = visit.call(name, arguments).await.map_err(|error| failure(error, tool, to))?;
        match show(&mut display, &answer, tool, ask, to)? {
            // With `--json` the promise itself is the answer.
            AnswerEnd::Later(token, seconds) if !ask.json => {
                pause(seconds).await;
                (name, arguments) = (tool.poll_name, (tool.poll)(&token));
            }
            _ => return Ok(()),
        }
    }
}

/// Shows an answer: as the tool writes it, or by its words when the server's tool of that name is another one.
fn show(
    display: &mut AnswerDisplay<'_>,
    answer: &CallReply,
    tool: &AskTool,
    ask: &AskArguments,
    to: &AskTarget,
) -> Result<AnswerEnd, Failure> {
    if ask.json {
        print_json(&answer.raw)?;
    }
    if let Some(policy) = &answer.refusal {
        return Err(refusal::declined(policy, &to.label, &to.canonical_host));
    }
    if let Some(pieces) = (tool.answer)(&answer.structured) {
        return display.show(pieces);
    }
    if answer.is_error {
        return Err(Failure::yours(format!("{}: {}", to.label, line(&answer.text, WORDS_CHARS_MAX))));
    }
    let words = std::iter::once(answer.text.as_str()).chain(answer.more.iter().map(String::as_str));
    for words in words.filter(|words| !words.is_empty()) {
        display.show_words(&format!("{}\n", words.trim_end()))?;
    }
    Ok(AnswerEnd::Done)
}

fn endpoint_of(agent: &AddressedAgent) -> String {
    format!("https://{}{}/{}", agent.canonical_host, target::PATH, agent.local)
}

fn headers(ask: &AskArguments) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    headers.extend(ask.authorization()?.map(|value| (AUTHORIZATION, value)));
    headers.extend(ask.accept_language()?.map(|value| (ACCEPT_LANGUAGE, value)));
    Ok(headers)
}

fn failure(error: VisitError, tool: &AskTool, to: &AskTarget) -> Failure {
    let name = &to.label;
    match error {
        VisitError::Unconnected(reason) => to.unconnected(&reason),
        VisitError::SignIn => {
            Failure::yours(format!("{name} wants to know who asks")).hint("--token TOKEN says who you are")
        }
        VisitError::NoTool(known) => {
            let known = known.iter().map(|name| line(name, 64)).collect::<Vec<_>>().join(", ");
            Failure::yours(format!("{name} has no tool `{}`", tool.name)).hint(format!("its tools are {known}"))
        }
        VisitError::Refused(words) => Failure::yours(format!("{name}: {}", line(&words, WORDS_CHARS_MAX))),
        VisitError::NoMcp(reason) => {
            Failure::yours(format!("{name} speaks no MCP: {}", line(&reason, WORDS_CHARS_MAX)))
                .hint("is this an MCP endpoint, such as https://example.com/mcp?")
        }
        VisitError::Broken(reason) => {
            Failure::unreachable(format!("the answer broke off: {}", line(&reason, WORDS_CHARS_MAX)))
                .hint("what came before is not the whole answer; ask again")
        }
    }
}
