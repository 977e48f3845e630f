//! `forecourt ask --via mcp`: one call of the tool `ask`, with its progress and its questions; a promise is
//! waited for with the tool `await`.

pub(super) mod person;

use std::sync::Arc;

use http::HeaderMap;
use http::header::{ACCEPT_LANGUAGE, AUTHORIZATION};
use serde_json::Value;
use url::Position;

use self::person::Terminal;
use super::answer::refused;
use super::told::{AnswerDisplay, End, no_files, question, wait};
use super::whom::Wire;
use super::{Line, MCP, bearer, check_token, field, is_here};
use crate::args::Ask;
use crate::commands::printable::line;
use crate::commands::way;
use crate::output::{Failure, Outcome, print_json};
use forecourt::registry::discovery::ResolvedAgent;
use forecourt::registry::mcp::{CallReply, ServerLocation, Trouble, Visit};
use forecourt::registry::nlweb::{checkin, response};

const WIRE: Wire =
    Wire { name: MCP, title: "MCP", of_agent: its_endpoint, of_host: "/mcp", typed: std::convert::identity };
/// The tools of NLWeb's appendix A.
const ASK: &str = "ask";
const AWAIT: &str = "await";
/// Characters of somebody else's sentence.
const WORDS_CHARS_MAX: usize = 500;

/// Asks, and shows the answer; of a promise, what it comes to.
pub(super) async fn run(ask: Ask) -> Outcome {
    no_files(&ask, MCP)?;
    let to = WIRE.connect(&ask).await?;
    check_token(&ask, &to.endpoint)?;
    let place = ServerLocation {
        egress: (*to.egress).clone(),
        purpose: to.purpose,
        url: to.endpoint.to_string(),
        headers: headers(&ask)?,
    };
    let visit = Visit::begin(&place, Arc::new(Terminal::new())).await.map_err(|trouble| explained(trouble, &to))?;
    let answered = tokio::select! {
        answered = conversation(&visit, &ask, &to) => answered,
        _ = tokio::signal::ctrl_c() => Err(Failure::yours("stopped listening")),
    };
    visit.end().await;
    answered
}

/// Calls `ask`, and `await` until there is more than a promise.
async fn conversation(visit: &Visit, ask: &Ask, to: &Line) -> Outcome {
    let mut shown = AnswerDisplay::new(to, ask);
    let (mut tool, mut arguments) = match &ask.task {
        Some(token) => (AWAIT, checkin(token)),
        None => (ASK, question(ask, false)),
    };
    loop {
        let answer = visit.call(tool, arguments).await.map_err(|trouble| explained(trouble, to))?;
        match show(&mut shown, &answer, ask, to)? {
            End::Later(token, seconds) if !ask.json => {
                wait(seconds).await;
                (tool, arguments) = (AWAIT, checkin(&token));
            }
            _ => return Ok(()),
        }
    }
}

/// Shows an answer: as NLWeb tells it, or by its words when the server's `ask` is another one.
fn show(shown: &mut AnswerDisplay<'_>, answer: &CallReply, ask: &Ask, to: &Line) -> Result<End, Failure> {
    if ask.json {
        print_json(&answer.raw)?;
    }
    if let Some(policy) = &answer.refusal {
        return Err(refused(policy, to));
    }
    if is_nlweb(&answer.structured) {
        return shown.told(response(&answer.structured));
    }
    if answer.is_error {
        return Err(Failure::yours(format!("{}: {}", to.shown, line(&answer.text, WORDS_CHARS_MAX))));
    }
    let words = std::iter::once(answer.text.as_str()).chain(answer.more.iter().map(String::as_str));
    for words in words.filter(|words| !words.is_empty()) {
        shown.say(&format!("{}\n", words.trim_end()))?;
    }
    Ok(End::Done)
}

fn is_nlweb(structured: &Value) -> bool {
    structured.pointer("/_meta/response_type").is_some_and(Value::is_string)
}

fn its_endpoint(agent: &ResolvedAgent) -> String {
    format!("https://{}{}/{}", agent.canonical_host, WIRE.of_host, agent.acct.local())
}

fn headers(ask: &Ask) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    headers.extend(bearer(ask)?.map(|value| (AUTHORIZATION, value)));
    if let Some(language) = &ask.lang {
        headers.insert(ACCEPT_LANGUAGE, field("--lang", language)?);
    }
    Ok(headers)
}

fn explained(trouble: Trouble, to: &Line) -> Failure {
    let name = &to.shown;
    match trouble {
        Trouble::Unconnected(reason) => {
            way::unconnected(&to.endpoint[Position::BeforeHost..Position::AfterPort], &reason, is_here(&to.endpoint))
        }
        Trouble::SignIn => {
            Failure::yours(format!("{name} wants to know who asks")).hint("--token TOKEN says who you are")
        }
        Trouble::NoTool(known) => {
            let known = known.iter().map(|name| line(name, 64)).collect::<Vec<_>>().join(", ");
            Failure::yours(format!("{name} has no tool `{ASK}`")).hint(format!("its tools are {known}"))
        }
        Trouble::Refused(words) => Failure::yours(format!("{name}: {}", line(&words, WORDS_CHARS_MAX))),
        Trouble::Speechless(reason) => {
            Failure::yours(format!("{name} speaks no MCP: {}", line(&reason, WORDS_CHARS_MAX)))
                .hint("is this an MCP endpoint, such as https://example.com/mcp?")
        }
        Trouble::Broken(reason) => {
            Failure::unreachable(format!("the answer broke off: {}", line(&reason, WORDS_CHARS_MAX)))
                .hint("what came before is not the whole answer; ask again")
        }
    }
}
