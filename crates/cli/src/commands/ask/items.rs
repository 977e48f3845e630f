//! `forecourt ask --via nlweb`: one question, and its answer in items; a promise is waited for.

use forecourt_agents::sse_reader::SseReader;
use forecourt_core::json;
use forecourt_egress::{Deadlines, UpstreamRequest, UpstreamResponse};
use futures::StreamExt;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use serde_json::Value;
use url::Url;

use super::told::{AnswerDisplay, End, no_files, question, wait};
use super::whom::Wire;
use super::{JSON, Line, NLWEB, PATIENCE, STREAM, bearer, check_token, unreachable};
use crate::args::Ask;
use crate::commands::printable::line;
use crate::output::{Failure, Outcome, print_json};
use forecourt::registry::discovery::ResolvedAgent;
use forecourt::registry::nlweb::{AgentEvent, ask_path, await_path, checkin, event, response};

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;

const WIRE: Wire = Wire { name: NLWEB, title: "NLWeb", of_agent: beside_its_page, of_host: "/ask", typed: at };

/// Asks, and shows the answer; of a promise, what it comes to.
pub(super) async fn run(ask: Ask) -> Outcome {
    no_files(&ask, NLWEB)?;
    let to = WIRE.connect(&ask).await?;
    check_token(&ask, &to.endpoint)?;
    let mut exchange = Exchange { shown: AnswerDisplay::new(&to, &ask), ask: &ask, to: &to };
    let mut token = match &ask.task {
        Some(token) => token.clone(),
        None => match exchange.once(to.endpoint.path(), &question(&ask, !ask.json)).await? {
            End::Done => return Ok(()),
            End::Later(..) if ask.json => return Ok(()),
            End::Later(token, seconds) => {
                wait(seconds).await;
                token
            }
        },
    };
    let path = await_path(to.endpoint.path());
    loop {
        match exchange.once(&path, &checkin(&token)).await? {
            End::Done => return Ok(()),
            End::Later(..) if ask.json => return Ok(()),
            End::Later(same, seconds) => {
                token = same;
                wait(seconds).await;
            }
        }
    }
}

/// Where an agent is asked: beside its page.
fn beside_its_page(agent: &ResolvedAgent) -> String {
    let own = format!("https://{}/~{}", agent.canonical_host, agent.acct.local());
    let page = agent.rest_endpoint().unwrap_or(&own);
    Url::parse(page).map_or_else(|_| page.to_owned(), |url| at(url).into())
}

/// Where the agent or the host at `url` is asked.
fn at(mut url: Url) -> Url {
    url.set_path(&ask_path(url.path()));
    url
}

/// One question, however often its answer is looked at.
struct Exchange<'a> {
    shown: AnswerDisplay<'a>,
    ask: &'a Ask,
    to: &'a Line,
}

impl Exchange<'_> {
    async fn once(&mut self, path: &str, body: &Value) -> Result<End, Failure> {
        let incoming = self.send(path, body).await?;
        self.read(incoming).await
    }

    async fn send(&self, path: &str, body: &Value) -> Result<UpstreamResponse, Failure> {
        let (ask, to) = (self.ask, self.to);
        let mut url = to.endpoint.clone();
        url.set_path(path);
        let bounds = to.purpose.deadlines(to.egress.config());
        let mut request = UpstreamRequest::post(url.to_string(), body.to_string())
            .header(CONTENT_TYPE, JSON)
            .header(ACCEPT, if ask.json { JSON } else { STREAM })
            .within(Deadlines { first_byte: PATIENCE, total: PATIENCE, ..bounds });
        if let Some(value) = bearer(ask)? {
            request = request.header(AUTHORIZATION, value);
        }
        to.egress.send(to.purpose, request).await.map_err(|error| unreachable(to, &error))
    }

    /// Shows a response, whole or as it comes.
    async fn read(&mut self, incoming: UpstreamResponse) -> Result<End, Failure> {
        let media_type = incoming.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if media_type.starts_with("text/event-stream") {
            return self.follow(incoming).await;
        }
        let (status, media_type) = (incoming.status.as_u16(), line(media_type, 80));
        let bytes = incoming.body.collect().await;
        let bytes =
            bytes.map_err(|error| Failure::unreachable(format!("the answer broke off: {}", error.log_reason())))?;
        let body = json::parse(&bytes).ok().filter(|body| body["_meta"].is_object());
        let Some(body) = body else {
            let words = format!("{} answered {status} with {media_type}, not an answer", self.to.shown);
            return Err(Failure::yours(words).hint("is this where an NLWeb agent is asked?"));
        };
        if self.ask.json {
            print_json(&body)?;
        }
        self.shown.told(response(&body))
    }

    async fn follow(&mut self, mut incoming: UpstreamResponse) -> Result<End, Failure> {
        let broken = |reason: String| {
            Failure::unreachable(format!("the answer broke off: {reason}"))
                .hint("what came before is not the whole answer; ask again")
        };
        let mut reader = SseReader::new(EVENT_BYTES_MAX);
        let mut failure = None;
        while let Some(chunk) = incoming.body.next().await {
            let chunk = chunk.map_err(|error| broken(error.log_reason()))?;
            reader.push(&chunk).map_err(|error| broken(error.to_string()))?;
            while let Some(next) = reader.next_event() {
                let data = json::parse(next.data.as_bytes()).unwrap_or_default();
                let told = event(&next.name, data);
                if told.iter().any(|told| matches!(told, AgentEvent::Failure { .. })) {
                    // More may follow; what counts is said at the end.
                    failure = Some(told);
                    continue;
                }
                match told.last() {
                    Some(AgentEvent::End { whole: false }) => return self.shown.told(failure.unwrap_or_default()),
                    Some(AgentEvent::End { whole: true }) => return self.shown.told(told),
                    _ => drop(self.shown.told(told)?),
                }
            }
        }
        Err(broken("it ended early".to_owned()))
    }
}
