//! Checks of the binding HTTP+JSON of A2A 1.0. A2A 11.

use std::ops::Deref;
use std::sync::Arc;

use futures::future::BoxFuture;
use http::Method;
use serde_json::{Value, json};

use super::{card_of, interface};
use crate::check::{Check, Shortfall, Verdict, check};
use crate::document::Document;
use crate::evidence::Evidence;
use crate::offer::{Absence, OfferedProtocol};
use crate::web::exchange::{Draft, Exchange};
use crate::web::sse::events;
use crate::web::target::WebTarget;

const CHECKS: &[Check<RestBinding>] = &[
    check!("a2a-11-task", "A2A 11", Must, "a task that is not there is answered with 404", unknown_task),
    check!("a2a-11-cancel", "A2A 11", Must, "cancelling a task that is not there is answered with 404", cancel_unknown),
    check!("a2a-11-error", "A2A 11.6", Must, "an error has its code, status, message and an ErrorInfo", error_shape),
    check!("a2a-11-empty", "A2A 11", Must, "a request to send no message is answered with 400", no_message),
    check!("a2a-11-json", "A2A 11", Must, "what is no JSON is answered with 400", no_json),
    check!("a2a-11-version", "A2A 2, 11", Must, "a version that there is not is answered with 400", unknown_version),
    check!("a2a-11-list", "A2A 11", Must, "GET /tasks gives tasks, nextPageToken, pageSize and totalSize", list),
    check!("a2a-11-list-size", "A2A 11", Must, "a page of 101 tasks is answered with 400", list_size),
    check!("a2a-11-type", "A2A 11", Should, "answers are application/a2a+json, or application/json", media_type),
    check!("a2a-11-send", "A2A 11", Must, "a message is answered with a task or a message", send),
    check!("a2a-11-get", "A2A 11", Must, "a task that was begun can be asked for", get),
    check!("a2a-11-stream", "A2A 11", Must, "a streamed message begins with a task or a message, bare", stream),
];

/// A host whose card names HTTP+JSON of 1.0.
pub(crate) struct RestBinding {
    host: Arc<WebTarget>,
    card: Document,
    url: String,
}

impl OfferedProtocol for RestBinding {
    type Target = WebTarget;
    const NAME: &'static str = "A2A 1.0 over HTTP+JSON";
    const CHECKS: &'static [&'static [Check<Self>]] = &[CHECKS];

    fn find(host: Arc<WebTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(async move {
            let card = card_of(&host).await.clone()?;
            let absent = || Absence::NotOffered("the card names no HTTP+JSON of A2A 1.0".to_owned());
            let url = interface(&card, "HTTP+JSON", "1.0").ok_or_else(absent)?;
            match host.own(url) {
                Ok(url) => Ok(Self { host, card, url: url.trim_end_matches('/').to_owned() }),
                Err(_) => Err(Absence::Untold(format!("{url} is not on the host under test"))),
            }
        })
    }
}

impl Deref for RestBinding {
    type Target = WebTarget;

    fn deref(&self) -> &WebTarget {
        &self.host
    }
}

impl RestBinding {
    fn draft(&self, method: Method, path: &str) -> Draft {
        Draft::new(method, &format!("{}{path}", self.url)).field("A2A-Version", "1.0")
    }

    fn post(&self, path: &str, body: &Value) -> Draft {
        self.draft(Method::POST, path).body("application/json", body.to_string())
    }
}

const NO_TASK: &str = "/tasks/conform-no-such-task";

fn message(id: &str) -> Value {
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": "hello"}]}})
}

async fn unknown_task(rest: &RestBinding) -> Verdict {
    rest.ask(rest.draft(Method::GET, NO_TASK)).await?.expect(&[404])
}

async fn cancel_unknown(rest: &RestBinding) -> Verdict {
    rest.ask(rest.post(&format!("{NO_TASK}:cancel"), &json!({}))).await?.expect(&[404])
}

async fn error_shape(rest: &RestBinding) -> Verdict {
    let exchange = rest.ask(rest.draft(Method::GET, NO_TASK)).await?;
    exchange.expect(&[404])?;
    let error = exchange.json()?["error"].take();
    let is_info = |detail: &Value| detail["reason"] == "TASK_NOT_FOUND" && detail["domain"] == "a2a-protocol.org";
    exchange.holds(&[
        ("error.code is 404", error["code"] == 404),
        ("error.status is NOT_FOUND", error["status"] == "NOT_FOUND"),
        ("error.message is a text", error["message"].is_string()),
        ("error.details has an ErrorInfo", error["details"].as_array().is_some_and(|all| all.iter().any(is_info))),
    ])
}

async fn no_message(rest: &RestBinding) -> Verdict {
    rest.ask(rest.post("/message:send", &json!({}))).await?.expect(&[400])
}

async fn no_json(rest: &RestBinding) -> Verdict {
    let draft = rest.draft(Method::POST, "/message:send").body("application/json", "{\"message\": ");
    rest.ask(draft).await?.expect(&[400])
}

async fn unknown_version(rest: &RestBinding) -> Verdict {
    rest.ask(rest.draft(Method::GET, NO_TASK).field("A2A-Version", "99.0")).await?.expect(&[400])
}

async fn list(rest: &RestBinding) -> Verdict {
    let exchange = rest.ask(rest.draft(Method::GET, "/tasks?pageSize=1")).await?;
    exchange.expect(&[200])?;
    let body = exchange.json()?;
    exchange.holds(&[
        ("tasks is a list of at most one", body["tasks"].as_array().is_some_and(|all| all.len() <= 1)),
        ("nextPageToken is a text", body["nextPageToken"].is_string()),
        ("pageSize is a number", body["pageSize"].is_u64()),
        ("totalSize is a number", body["totalSize"].is_u64()),
    ])
}

async fn list_size(rest: &RestBinding) -> Verdict {
    rest.ask(rest.draft(Method::GET, "/tasks?pageSize=101")).await?.expect(&[400])
}

async fn media_type(rest: &RestBinding) -> Verdict {
    let exchange = rest.ask(rest.draft(Method::GET, NO_TASK)).await?;
    match exchange.media_type() {
        "application/a2a+json" | "application/json" => Ok(()),
        _ => Err(exchange.wrong("it is neither")),
    }
}

async fn sent(rest: &RestBinding) -> Result<(Exchange, Value), Shortfall> {
    rest.effects()?;
    let exchange = rest.ask(rest.post("/message:send", &message("conform-message-7"))).await?;
    exchange.expect(&[200])?;
    let body = exchange.json()?;
    Ok((exchange, body))
}

fn is_task_or_message(item: &Value) -> bool {
    item["task"].is_object() || item["message"].is_object()
}

async fn send(rest: &RestBinding) -> Verdict {
    let (exchange, body) = sent(rest).await?;
    match is_task_or_message(&body) {
        true => Ok(()),
        false => Err(exchange.wrong("it is neither")),
    }
}

async fn get(rest: &RestBinding) -> Verdict {
    let (_, body) = sent(rest).await?;
    let why = || Shortfall::skip("a message is answered with a message, and begins no task");
    let id = body["task"]["id"].as_str().ok_or_else(why)?;
    let exchange = rest.ask(rest.draft(Method::GET, &format!("/tasks/{id}"))).await?;
    exchange.expect(&[200])?;
    match exchange.json()?["id"] == id {
        true => Ok(()),
        false => Err(exchange.wrong("the id is another")),
    }
}

async fn stream(rest: &RestBinding) -> Verdict {
    rest.effects()?;
    if rest.card["capabilities"]["streaming"] != true {
        return Err(Shortfall::skip("the card says that the host does not stream"));
    }
    let draft = rest.post("/message:stream", &message("conform-message-8")).field("Accept", "text/event-stream");
    let exchange = rest.ask(draft).await?;
    exchange.expect(&[200])?;
    let first = events(&exchange.text()).into_iter().next();
    let first: Value = first.and_then(|event| serde_json::from_str(&event.data).ok()).unwrap_or_default();
    match is_task_or_message(&first) {
        true => Ok(()),
        false => Err(exchange.wrong("the first item is neither")),
    }
}
