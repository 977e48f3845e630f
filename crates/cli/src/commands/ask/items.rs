//! `forecourt ask --via nlweb`: one question, and its answer in items; a promise is waited for.

use std::time::Duration;

use forecourt_agents::sse_reader::SseReader;
use forecourt_core::json;
use forecourt_egress::{Deadlines, Incoming, Outgoing, Purpose};
use futures::StreamExt;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use serde_json::Value;
use url::{Position, Url};

use super::answer::{reading, refused};
use super::{JSON, Line, NLWEB, PATIENCE, STREAM, bearer, check_token, unreachable, way_out};
use crate::args::Ask;
use crate::commands::named::Named;
use crate::commands::printable::{Words, line};
use crate::commands::way::Way;
use crate::output::{Failure, Outcome, print_json};
use crate::registry::nlweb::{Question, Told, ask_path, await_path, checkin, event, response};

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Characters of a token or an address that is shown.
const ID_CHARS_MAX: usize = 300;
/// Characters of somebody else's sentence about an item.
const ITEM_CHARS_MAX: usize = 200;
/// Seconds between looks at a promise.
const LOOKS: std::ops::RangeInclusive<u64> = 1..=10;

/// What a response comes to.
enum End {
    /// The answer, or a question back.
    Done,
    /// A promise: what to check on it by, and seconds until then.
    Later(String, u64),
}

/// Asks, and shows the answer; of a promise, what it comes to.
pub(super) async fn run(ask: Ask) -> Outcome {
    if !ask.attach.is_empty() {
        return Err(Failure::yours(format!("files can't be sent over {NLWEB}")).hint("--via rest sends files"));
    }
    let to = connect(&ask).await?;
    check_token(&ask, &to.endpoint)?;
    let mut shown = Shown { words: Words::new(), to: &to, ask: &ask, spoke: false, promised: false };
    let mut token = match &ask.task {
        Some(token) => token.clone(),
        None => match shown.read(send(&ask, &to, to.endpoint.path(), &question(&ask)).await?).await? {
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
        match shown.read(send(&ask, &to, &path, &checkin(&token)).await?).await? {
            End::Done => return Ok(()),
            End::Later(..) if ask.json => return Ok(()),
            End::Later(same, seconds) => {
                token = same;
                wait(seconds).await;
            }
        }
    }
}

fn question(ask: &Ask) -> Value {
    let question = Question {
        text: ask.text.join(" "),
        conversation: ask.session.clone(),
        language: ask.lang.clone(),
        streaming: !ask.json,
    };
    question.to_request()
}

async fn wait(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds.clamp(*LOOKS.start(), *LOOKS.end()))).await;
}

async fn send(ask: &Ask, to: &Line, path: &str, body: &Value) -> Result<Incoming, Failure> {
    let mut url = to.endpoint.clone();
    url.set_path(path);
    let bounds = to.purpose.deadlines(to.egress.config());
    let mut request = Outgoing::post(url.to_string(), body.to_string())
        .header(CONTENT_TYPE, JSON)
        .header(ACCEPT, if ask.json { JSON } else { STREAM })
        .within(Deadlines { first_byte: PATIENCE, total: PATIENCE, ..bounds });
    if let Some(value) = bearer(ask)? {
        request = request.header(AUTHORIZATION, value);
    }
    to.egress.send(to.purpose, request).await.map_err(|error| unreachable(to, &error))
}

async fn connect(ask: &Ask) -> Result<Line, Failure> {
    match Named::parse(&ask.agent)? {
        Named::Url(url) => {
            let egress = std::sync::Arc::new(way_out(&url, ask)?);
            let canonical_host = url[Position::BeforeHost..Position::AfterPort].to_owned();
            let shown = url.to_string();
            Ok(Line { egress, purpose: Purpose::Upstream, endpoint: at(url), canonical_host, shown })
        }
        Named::Agent(acct, port) => {
            let way = Way::to(acct.domain(), port, ask.data.as_deref())?;
            let agent = way.resolve(&acct).await?;
            if !agent.protocols().any(|name| name == NLWEB) {
                let spoken = agent.protocols().map(|name| line(name, 40)).collect::<Vec<_>>().join(", ");
                return Err(Failure::yours(format!("{acct} is not available over NLWeb"))
                    .hint(format!("its card says that it speaks {spoken}")));
            }
            // No document says where; this is where it is beside the page of an agent.
            let own = format!("https://{}/~{}", agent.canonical_host, acct.local());
            let page = Url::parse(agent.rest_endpoint().unwrap_or(&own));
            let endpoint = at(page.map_err(|error| Failure::yours(error.to_string()))?);
            let canonical_host = agent.canonical_host.clone();
            Ok(Line {
                egress: way.egress,
                purpose: Purpose::RemoteAgent,
                endpoint,
                canonical_host,
                shown: acct.to_string(),
            })
        }
        Named::Domain(domain, port) => {
            let way = Way::to(&domain, port, ask.data.as_deref())?;
            let url = Url::parse(&format!("https://{domain}:{}/", way.port));
            let endpoint = at(url.map_err(|error| Failure::yours(error.to_string()))?);
            let canonical_host = endpoint[Position::BeforeHost..Position::AfterPort].to_owned();
            let shown = domain.to_string();
            Ok(Line { egress: way.egress, purpose: Purpose::RemoteAgent, endpoint, canonical_host, shown })
        }
    }
}

/// Where the agent or the host at `url` is asked.
fn at(mut url: Url) -> Url {
    url.set_path(&ask_path(url.path()));
    url
}

/// What was shown so far.
struct Shown<'a> {
    words: Words,
    to: &'a Line,
    ask: &'a Ask,
    /// Whether words were the last thing that was said.
    spoke: bool,
    promised: bool,
}

impl Shown<'_> {
    /// Shows a response, whole or as it comes.
    async fn read(&mut self, incoming: Incoming) -> Result<End, Failure> {
        let media_type = incoming.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if media_type.starts_with("text/event-stream") {
            return self.follow(incoming).await;
        }
        let (status, media_type) = (incoming.status.as_u16(), line(media_type, 80));
        let bytes = incoming.body.collect().await;
        let bytes = bytes.map_err(|error| Failure::ours(format!("the answer broke off: {}", error.log_reason())))?;
        let body = json::parse(&bytes).ok().filter(|body| body["_meta"].is_object());
        let Some(body) = body else {
            let words = format!("{} answered {status} with {media_type}, not an answer", self.to.shown);
            return Err(Failure::yours(words).hint("is this where an NLWeb agent is asked?"));
        };
        if self.ask.json {
            print_json(&body)?;
        }
        self.told(response(&body))
    }

    async fn follow(&mut self, mut incoming: Incoming) -> Result<End, Failure> {
        let broken = |reason: String| {
            Failure::ours(format!("the answer broke off: {reason}"))
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
                if told.iter().any(|told| matches!(told, Told::Failure { .. })) {
                    // More may follow; what counts is said at the end.
                    failure = Some(told);
                    continue;
                }
                match told.last() {
                    Some(Told::End { whole: false }) => return self.told(failure.unwrap_or_default()),
                    Some(Told::End { whole: true }) => return self.told(told),
                    _ => drop(self.told(told)?),
                }
            }
        }
        Err(broken("it ended early".to_owned()))
    }

    fn told(&mut self, all: Vec<Told>) -> Result<End, Failure> {
        let mut end = End::Done;
        for told in all {
            match told {
                Told::Words(words) => {
                    self.say(&format!("{}\n", words.trim_end()))?;
                    self.spoke = true;
                }
                Told::Item(item) => {
                    let apart = if std::mem::take(&mut self.spoke) { "\n" } else { "" };
                    self.say(&format!("{apart}- {}\n", described(&item)))?;
                }
                Told::Promise { token, seconds, progress, message } => {
                    let percent = progress.map(|fraction| format!("{:.0}%", fraction * 100.0));
                    let said = percent.into_iter().chain(message.map(|words| line(&words, ITEM_CHARS_MAX)));
                    eprintln!("[promised {}]", said.collect::<Vec<_>>().join(" "));
                    if !std::mem::replace(&mut self.promised, true) {
                        eprintln!("hear of it later with: --task {}", line(&token, ID_CHARS_MAX));
                    }
                    end = End::Later(token, seconds.unwrap_or(1));
                }
                Told::Questions { text, questions } => {
                    self.say(&format!("{text}\n"))?;
                    for question in &questions {
                        self.say(&format!("- {}\n", asked(question)))?;
                    }
                }
                Told::Failure { policy: Some(policy), .. } => return Err(refused(&policy, self.to)),
                Told::Failure { code, message, .. } => return Err(self.failed(&code, &message)),
                Told::Conversation(name) if !self.ask.json => {
                    eprintln!("continue with: --session {}", line(&name, ID_CHARS_MAX));
                }
                Told::Conversation(_) | Told::End { .. } => {}
            }
        }
        Ok(end)
    }

    fn say(&mut self, text: &str) -> Outcome {
        if self.ask.json { Ok(()) } else { reading(self.words.say(text)) }
    }

    fn failed(&self, code: &str, message: &str) -> Failure {
        let words = format!("{}: {} ({})", self.to.shown, line(message, 500), line(code, 60));
        match code {
            "INTERNAL_ERROR" | "TIMEOUT" | "SERVICE_UNAVAILABLE" => Failure::ours(words),
            _ => Failure::yours(words),
        }
    }
}

/// An item in a line.
fn described(item: &Value) -> String {
    let text = |keys: &[&str]| keys.iter().find_map(|key| item.get(*key)?.as_str());
    let name = line(text(&["name", "headline", "title"]).unwrap_or("an item"), ITEM_CHARS_MAX);
    let name = match text(&["url", "contentUrl", "@id"]).filter(|url| url.starts_with("http")) {
        Some(url) => format!("[{name}]({})", line(url, ID_CHARS_MAX)),
        None => name,
    };
    match text(&["description", "text"]) {
        Some(words) => format!("{name}: {}", line(words, ITEM_CHARS_MAX)),
        None => name,
    }
}

/// A question in a line, with what can be chosen.
fn asked(question: &Value) -> String {
    let text = line(question["text"].as_str().unwrap_or_default(), ITEM_CHARS_MAX);
    let options: Vec<String> = question["options"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|option| line(option, 60))
        .collect();
    if options.is_empty() { text } else { format!("{text} ({})", options.join(", ")) }
}
