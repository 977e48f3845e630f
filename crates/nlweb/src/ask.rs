//! `forecourt ask --via nlweb`: one question, and its answer in items; a promise is waited for.

use forecourt_agents::sse_reader::SseReader;
use forecourt_client::ask::{
    AddressedAgent, AnswerDisplay, AnswerEnd, AnswerPiece, AskArguments, AskCall, AskClient, AskOptions, AskTarget,
    AskTool, EndpointRules, JSON, STREAM, pause, refuse_files,
};
use forecourt_client::output::{Failure, Outcome, print_json};
use forecourt_client::printable::line;
use forecourt_core::json;
use forecourt_egress::{UpstreamRequest, UpstreamResponse};
use futures::StreamExt;
use futures::future::BoxFuture;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use serde_json::Value;
use url::Url;

use crate::NAME;
use crate::client::{Question, ask_path, await_path, checkin, event, response};

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Characters of what somebody else calls the form of an answer.
const MEDIA_TYPE_CHARS_MAX: usize = 80;

/// What `--via` and cards call the transport of pages, beside which an agent is asked.
const PAGES: &str = "rest";

/// NLWeb, as `ask` knows it.
pub(crate) const CLIENT: AskClient = AskClient {
    name: NAME,
    options: AskOptions { task: true, answers: false, payment: false, resumption: false, domain: true },
    tool: Some(AskTool {
        name: "ask",
        poll_name: "await",
        question: |ask| question(ask, false),
        poll: checkin,
        answer: |structured| is_response(structured).then(|| response(structured)),
    }),
    run: boxed,
};

/// A function of its own, since a closure in a constant is compiled in the crate that uses the constant.
fn boxed(call: AskCall) -> BoxFuture<'static, Outcome> {
    Box::pin(run(call))
}

const ENDPOINTS: EndpointRules =
    EndpointRules { name: NAME, title: "NLWeb", of_agent: beside_its_page, of_host: "/ask", typed: at };

/// Asks, and shows the answer; of a promise, what it comes to.
async fn run(call: AskCall) -> Outcome {
    let ask = &call.arguments;
    refuse_files(ask, NAME)?;
    let to = ENDPOINTS.connect(&call).await?;
    ask.check_token(&to.endpoint)?;
    let mut exchange = Exchange { display: AnswerDisplay::new(&to, ask), ask, to: &to };
    let mut token = match &ask.task {
        Some(token) => token.clone(),
        None => match exchange.once(to.endpoint.path(), &question(ask, !ask.json)).await? {
            AnswerEnd::Done => return Ok(()),
            AnswerEnd::Later(..) if ask.json => return Ok(()),
            AnswerEnd::Later(token, seconds) => {
                pause(seconds).await;
                token
            }
        },
    };
    let path = await_path(to.endpoint.path());
    loop {
        match exchange.once(&path, &checkin(&token)).await? {
            AnswerEnd::Done => return Ok(()),
            AnswerEnd::Later(..) if ask.json => return Ok(()),
            AnswerEnd::Later(same, seconds) => {
                token = same;
                pause(seconds).await;
            }
        }
    }
}

/// Where an agent is asked: beside its page.
fn beside_its_page(agent: &AddressedAgent) -> String {
    let own = format!("https://{}/~{}", agent.canonical_host, agent.local);
    let page = agent.endpoint(PAGES).unwrap_or(&own);
    Url::parse(page).map_or_else(|_| page.to_owned(), |url| at(url).into())
}

/// Where the agent or the host at `url` is asked.
fn at(mut url: Url) -> Url {
    url.set_path(&ask_path(url.path()));
    url
}

/// The question as NLWeb has it.
fn question(ask: &AskArguments, streaming: bool) -> Value {
    let question =
        Question { text: ask.text.join(" "), conversation: ask.session.clone(), language: ask.lang.clone(), streaming };
    question.to_request()
}

fn is_response(structured: &Value) -> bool {
    structured.pointer("/_meta/response_type").is_some_and(Value::is_string)
}

/// One question, however often its answer is looked at.
struct Exchange<'a> {
    display: AnswerDisplay<'a>,
    ask: &'a AskArguments,
    to: &'a AskTarget,
}

impl Exchange<'_> {
    async fn once(&mut self, path: &str, body: &Value) -> Result<AnswerEnd, Failure> {
        let incoming = self.send(path, body).await?;
        self.read(incoming).await
    }

    async fn send(&self, path: &str, body: &Value) -> Result<UpstreamResponse, Failure> {
        let (ask, to) = (self.ask, self.to);
        let mut url = to.endpoint.clone();
        url.set_path(path);
        let mut request = UpstreamRequest::post(url.to_string(), body.to_string())
            .header(CONTENT_TYPE, JSON)
            .header(ACCEPT, if ask.json { JSON } else { STREAM });
        if let Some(value) = ask.authorization()? {
            request = request.header(AUTHORIZATION, value);
        }
        to.send(request).await.map_err(|error| to.unreachable(&error))
    }

    /// Shows a response, whole or as it comes.
    async fn read(&mut self, incoming: UpstreamResponse) -> Result<AnswerEnd, Failure> {
        let media_type = incoming.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if media_type.starts_with("text/event-stream") {
            return self.follow(incoming).await;
        }
        let (status, media_type) = (incoming.status.as_u16(), line(media_type, MEDIA_TYPE_CHARS_MAX));
        let bytes = incoming.body.collect().await;
        let bytes =
            bytes.map_err(|error| Failure::unreachable(format!("the answer broke off: {}", error.log_reason())))?;
        let body = json::parse(&bytes).ok().filter(|body| body["_meta"].is_object());
        let Some(body) = body else {
            let words = format!("{} answered {status} with {media_type}, not an answer", self.to.label);
            return Err(Failure::yours(words).hint("is this where an NLWeb agent is asked?"));
        };
        if self.ask.json {
            print_json(&body)?;
        }
        self.display.show(response(&body))
    }

    async fn follow(&mut self, mut incoming: UpstreamResponse) -> Result<AnswerEnd, Failure> {
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
                let pieces = event(&next.name, data);
                if pieces.iter().any(|piece| matches!(piece, AnswerPiece::Failure { .. })) {
                    // More may follow; what counts is said at the end.
                    failure = Some(pieces);
                    continue;
                }
                match pieces.last() {
                    Some(AnswerPiece::End { whole: false }) => return self.display.show(failure.unwrap_or_default()),
                    Some(AnswerPiece::End { whole: true }) => return self.display.show(pieces),
                    _ => drop(self.display.show(pieces)?),
                }
            }
        }
        Err(broken("it ended early".to_owned()))
    }
}
