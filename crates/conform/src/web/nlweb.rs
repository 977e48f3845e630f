//! Checks of NLWeb 0.55.

use std::ops::Deref;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::exchange::{Draft, Exchange};
use super::sse::events;
use super::target::WebTarget;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;
use crate::offer::{Absence, OfferedProtocol};

const CHECKS: &[Check<NlWeb>] = &[
    check!("nlweb-4", "NLWeb 4, 7.1", Must, "POST /ask is answered with _meta: a response_type and a version", meta),
    check!("nlweb-4.1", "NLWeb 4.1", Must, "what is answered is what response_type says", content),
    check!(
        "nlweb-4.1.1-format",
        "NLWeb 4.1.1, 3.3.1",
        Must,
        "chatgpt_app has content and structuredData, or is refused",
        chatgpt_app
    ),
    check!("nlweb-4.1.1-items", "NLWeb 4.1.1", Should, "results are objects with @type", items),
    check!(
        "nlweb-5",
        "NLWeb 5",
        Must,
        "actions of results have name, description, protocol and what that needs",
        actions
    ),
    check!(
        "nlweb-3.3.1",
        "NLWeb 3.3.1",
        Must,
        "an unknown response_format is answered nevertheless, or UNSUPPORTED_FORMAT",
        unknown_format
    ),
    check!(
        "nlweb-3.3.2",
        "NLWeb 3.3.2",
        Must,
        "an unknown mode is answered nevertheless, or UNSUPPORTED_MODE",
        unknown_mode
    ),
    check!("nlweb-3.1-filters", "NLWeb 3.1", Must, "filters in a query do no harm", filters),
    check!("nlweb-3.2", "NLWeb 3.2", Must, "earlier questions and a context of their user do no harm", context),
    check!("nlweb-4.1.1-summary", "NLWeb 4.1.1", Should, "a summary that was asked for has a text", summary),
    check!("nlweb-3.4", "NLWeb 3, 2.2", Must, "what is not known in a request does no harm", extended),
    check!("nlweb-7.4-json", "NLWeb 7.4", Should, "what is no JSON is refused with 400", no_json),
    check!(
        "nlweb-7.4-query",
        "NLWeb 3.1, 7.4",
        Should,
        "a request without a query is refused with 400, or INVALID_QUERY",
        no_query
    ),
    check!("nlweb-4.2", "NLWeb 4.2", Must, "await of a promise that nobody gave is no answer", unknown_promise),
    check!("nlweb-4.2-action", "NLWeb 4.2", Should, "await with an unknown action is refused", unknown_action),
    check!("nlweb-4.2-token", "NLWeb 4.2", Should, "await without a promise is refused", no_promise),
    check!("nlweb-6-start", "NLWeb 6.1", Must, "a stream begins with `start` and its _meta", stream_starts),
    check!("nlweb-6-complete", "NLWeb 6.1", Must, "a stream ends with `complete` and its _meta", stream_completes),
    check!("nlweb-6-result", "NLWeb 6.1", Must, "each result in a stream has its index and item", stream_results),
    check!("nlweb-6-index", "NLWeb 6.1", Must, "no two results of a stream have one index", stream_indexes),
];

/// A host that answers `/ask` as NLWeb does.
pub(crate) struct NlWeb {
    host: Arc<WebTarget>,
}

impl OfferedProtocol for NlWeb {
    type Target = WebTarget;
    const NAME: &'static str = "NLWeb";
    const CHECKS: &'static [&'static [Check<Self>]] = &[CHECKS];

    fn find(host: Arc<WebTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(async move {
            // Older versions have no `_meta`; what they have is a sign of them that no other JSON has by chance.
            let signs = ["_meta", "results", "query_id"];
            let is_it = |body: &Value| signs.iter().any(|name| body.get(*name).is_some());
            host.look_for(draft(&request(json!({}))), is_it).await?;
            Ok(Self { host })
        })
    }
}

impl Deref for NlWeb {
    type Target = WebTarget;

    fn deref(&self) -> &WebTarget {
        &self.host
    }
}

fn request(more: Value) -> Value {
    let mut body = json!({"query": {"text": "hello"}, "meta": {"version": "0.55"}});
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    body
}

fn draft(body: &Value) -> Draft {
    Draft::json("/ask", body).field("Accept", "application/json")
}

/// An answer to `/ask`, if this caller gets one.
async fn ask(host: &NlWeb, body: &Value) -> Result<Exchange, Shortfall> {
    host.ask(draft(body)).await?.allowed()
}

fn kind(body: &Value) -> &str {
    body["_meta"]["response_type"].as_str().unwrap_or_default()
}

/// Whether it is a response of NLWeb.
fn is_response(exchange: &Exchange) -> Result<Value, Shortfall> {
    let body = exchange.json()?;
    let is_known = matches!(kind(&body), "answer" | "elicitation" | "promise" | "failure");
    match is_known && body["_meta"]["version"].is_string() {
        true => Ok(body),
        false => Err(exchange.wrong("_meta does not have a response_type of the four and a version")),
    }
}

async fn meta(host: &NlWeb) -> Verdict {
    let exchange = ask(host, &request(json!({}))).await?;
    exchange.expect(&[200, 202])?;
    let body = is_response(&exchange)?;
    match (kind(&body), exchange.status()) {
        ("promise", 200) => Err(exchange.advice("a promise comes with 200 where 202 is advised (7.4)")),
        ("promise", _) | (_, 200) => Ok(()),
        _ => Err(exchange.wrong("202 is for promises")),
    }
}

/// The shape that a response of its type has.
fn shape(body: &Value) -> Option<&'static str> {
    let is_question = |question: &Value| ["id", "text", "type"].iter().all(|name| question[*name].is_string());
    match kind(body) {
        "answer" if !body["results"].is_array() && !body["content"].is_array() => {
            Some("an answer has results or content")
        }
        "promise" if !body["promise"]["token"].is_string() => Some("a promise has a token"),
        "elicitation" if !body["elicitation"].is_object() => Some("an elicitation has `elicitation`"),
        "elicitation" => {
            let questions = body["elicitation"]["questions"].as_array();
            let has_options = |question: &Value| match question["type"].as_str() {
                Some("single_select" | "multi_select") => question["options"].is_array(),
                _ => true,
            };
            let holds = |rule: &dyn Fn(&Value) -> bool| questions.is_none_or(|all| all.iter().all(rule));
            match (holds(&is_question), holds(&has_options)) {
                (false, _) => Some("each question has id, text and type"),
                (true, false) => Some("each question to choose from has options"),
                (true, true) => None,
            }
        }
        "failure" if !body["error"]["code"].is_string() => Some("a failure has error.code"),
        _ => None,
    }
}

async fn content(host: &NlWeb) -> Verdict {
    let exchange = ask(host, &request(json!({}))).await?;
    let body = is_response(&exchange).map_err(|_| Shortfall::skip("there is no response; nlweb-4 says so"))?;
    match shape(&body) {
        Some(rule) => Err(exchange.wrong(format!("not so: {rule}"))),
        None => Ok(()),
    }
}

/// Whether a response is a failure with this code.
fn refuses(body: &Value, code: &str) -> bool {
    kind(body) == "failure" && body["error"]["code"] == code
}

async fn chatgpt_app(host: &NlWeb) -> Verdict {
    let exchange = ask(host, &request(json!({"prefer": {"response_format": "chatgpt_app"}}))).await?;
    let body = is_response(&exchange)?;
    if kind(&body) != "answer" || refuses(&body, "UNSUPPORTED_FORMAT") {
        return Ok(());
    }
    let is_text = |part: &Value| part["type"] == "text" && part["text"].is_string();
    let has_content = body["content"].as_array().is_some_and(|parts| parts.iter().all(is_text));
    match (has_content && body["structuredData"].is_array(), &body["_meta"]["response_format"]) {
        (true, _) => Ok(()),
        // The best match may be another format, and then says so.
        (false, Value::String(format)) if format != "chatgpt_app" => Ok(()),
        (false, _) => Err(exchange.wrong("it does not have content of texts, and structuredData")),
    }
}

async fn results(host: &NlWeb) -> Result<(Exchange, Vec<Value>), Shortfall> {
    let exchange = ask(host, &request(json!({}))).await?;
    let body = is_response(&exchange).map_err(|_| Shortfall::skip("there is no response; nlweb-4 says so"))?;
    match body["results"].as_array() {
        Some(all) if !all.is_empty() => Ok((exchange, all.clone())),
        _ => Err(Shortfall::skip("the answer has no results")),
    }
}

async fn items(host: &NlWeb) -> Verdict {
    let (exchange, all) = results(host).await?;
    let wrong = all.iter().filter(|item| !item["@type"].is_string());
    exchange.none_wrong(wrong.map(|item| format!("a result has no @type: {item}")).collect())
}

async fn actions(host: &NlWeb) -> Verdict {
    let (exchange, all) = results(host).await?;
    let actions: Vec<&Value> = all.iter().filter_map(|item| item["actions"].as_array()).flatten().collect();
    if actions.is_empty() {
        return Err(Shortfall::skip("no result has actions"));
    }
    let wrong = |action: &&Value| {
        let needs: &[&str] = match action["protocol"].as_str() {
            Some("HTTP") => &["name", "description", "method", "endpoint"],
            Some("MCP") => &["name", "description", "server", "tool"],
            Some("A2A") => &["name", "description", "agent_url", "skill"],
            _ => return true,
        };
        needs.iter().any(|name| !action[*name].is_string())
    };
    exchange.none_wrong(actions.into_iter().filter(wrong).map(|action| format!("not whole: {action}")).collect())
}

async fn unknown_format(host: &NlWeb) -> Verdict {
    let exchange = ask(host, &request(json!({"prefer": {"response_format": "conform_unknown"}}))).await?;
    is_response(&exchange).map(drop)
}

async fn unknown_mode(host: &NlWeb) -> Verdict {
    let exchange = ask(host, &request(json!({"prefer": {"mode": "conform_unknown"}}))).await?;
    is_response(&exchange).map(drop)
}

async fn extended(host: &NlWeb) -> Verdict {
    let more = json!({"conform": {"unknown": true}, "context": {"@type": "ConformContext", "words": ["a"]}});
    let exchange = ask(host, &request(more)).await?;
    exchange.expect(&[200, 202])?;
    is_response(&exchange).map(drop)
}

/// A question with more in it is answered all the same.
async fn answered(host: &NlWeb, body: &Value) -> Verdict {
    let exchange = ask(host, body).await?;
    exchange.expect(&[200, 202])?;
    is_response(&exchange).map(drop)
}

async fn filters(host: &NlWeb) -> Verdict {
    let query = json!({"text": "hello", "itemType": "Recipe", "location": "Idaho", "price": "less than $20"});
    answered(host, &request(json!({ "query": query }))).await
}

async fn context(host: &NlWeb) -> Verdict {
    let context = json!({"prev": ["good morning"], "text": "A conformance test.", "memory": "likes tests"});
    answered(host, &request(json!({ "context": context }))).await
}

async fn summary(host: &NlWeb) -> Verdict {
    let exchange = ask(host, &request(json!({"prefer": {"mode": "list, summarize"}}))).await?;
    let body = is_response(&exchange).map_err(|_| Shortfall::skip("there is no response; nlweb-4 says so"))?;
    let mut all = body["results"].as_array().into_iter().flatten();
    let found = all.find(|item| item["@type"].as_str().is_some_and(|kind| kind.ends_with("Summary")));
    match found.map(|summary| summary["text"].is_string()) {
        Some(true) => Ok(()),
        Some(false) => Err(exchange.wrong("the summary has no text")),
        None => Err(Shortfall::skip("no summary is among the results")),
    }
}

async fn no_promise(host: &NlWeb) -> Verdict {
    let draft = Draft::json("/await", &json!({"action": "checkin", "meta": {"version": "0.55"}}));
    let exchange = host.ask(draft.field("Accept", "application/json")).await?;
    match exchange.status() {
        200 if kind(&exchange.json()?) == "failure" => Ok(()),
        400..=499 => Ok(()),
        _ => Err(exchange.wrong("it is not refused")),
    }
}

async fn no_json(host: &NlWeb) -> Verdict {
    let draft = Draft::new(http::Method::POST, "/ask").body("application/json", "{\"query\": ");
    host.ask(draft).await?.allowed()?.expect(&[400])
}

async fn no_query(host: &NlWeb) -> Verdict {
    let exchange = ask(host, &json!({"meta": {"version": "0.55"}})).await?;
    match exchange.status() {
        200 if refuses(&exchange.json()?, "INVALID_QUERY") => Ok(()),
        _ => exchange.expect(&[400]),
    }
}

async fn wait(host: &NlWeb, token: &str, action: &str) -> Result<Exchange, Shortfall> {
    let body = json!({"promise_token": token, "action": action, "meta": {"version": "0.55"}});
    host.ask(Draft::json("/await", &body).field("Accept", "application/json")).await
}

async fn unknown_promise(host: &NlWeb) -> Verdict {
    let exchange = wait(host, "conform-no-such-promise", "checkin").await?;
    match exchange.status() {
        200 | 202 => match kind(&is_response(&exchange)?) {
            "failure" => Ok(()),
            _ => Err(exchange.wrong("it is answered as if there were one")),
        },
        400..=499 => Ok(()),
        _ => exchange.expect(&[200]),
    }
}

async fn unknown_action(host: &NlWeb) -> Verdict {
    let exchange = wait(host, "conform-no-such-promise", "conform_unknown").await?;
    match exchange.status() {
        200 if kind(&exchange.json()?) == "failure" => Ok(()),
        400..=499 => Ok(()),
        _ => Err(exchange.wrong("it is not refused")),
    }
}

/// The events of a streamed answer.
async fn streamed(host: &NlWeb) -> Result<(Exchange, Vec<(String, Value)>), Shortfall> {
    let body = request(json!({"prefer": {"streaming": true}}));
    let exchange = host.ask(Draft::json("/ask", &body).field("Accept", "text/event-stream")).await?.allowed()?;
    // Streaming is a wish that a host may leave unmet.
    if exchange.media_type() != "text/event-stream" {
        return Err(Shortfall::skip("the host does not stream"));
    }
    let read = |data: &str| serde_json::from_str(data).unwrap_or_default();
    let all = events(&exchange.text()).into_iter().map(|event| (event.name, read(&event.data))).collect();
    Ok((exchange, all))
}

fn has_meta(data: &Value) -> bool {
    data["_meta"]["response_type"].is_string()
}

async fn stream_starts(host: &NlWeb) -> Verdict {
    let (exchange, all) = streamed(host).await?;
    match all.first() {
        Some((name, data)) if name == "start" && has_meta(data) && data["_meta"]["streaming"] == true => Ok(()),
        _ => Err(exchange.wrong("the first event is not `start` with _meta and streaming true")),
    }
}

async fn stream_completes(host: &NlWeb) -> Verdict {
    let (exchange, all) = streamed(host).await?;
    let count = all.iter().filter(|(name, _)| name == "complete").count();
    match all.last() {
        Some((name, data)) if name == "complete" && count == 1 && has_meta(data) => Ok(()),
        _ => Err(exchange.wrong("the last event is not the one `complete`, with _meta")),
    }
}

async fn stream_results(host: &NlWeb) -> Verdict {
    let (exchange, all) = streamed(host).await?;
    let is_whole = |data: &Value| data["index"].is_u64() && data["item"].is_object();
    match all.iter().find(|(name, data)| name == "result" && !is_whole(data)) {
        Some((_, data)) => Err(exchange.wrong(format!("a result does not have index and item: {data}"))),
        None => Ok(()),
    }
}

async fn stream_indexes(host: &NlWeb) -> Verdict {
    let (exchange, all) = streamed(host).await?;
    let results = all.iter().filter(|(name, _)| name == "result");
    let indexes: Vec<&Value> = results.map(|(_, data)| &data["index"]).collect();
    let twice = indexes.iter().enumerate().filter(|(at, index)| indexes[..*at].contains(index));
    exchange.none_wrong(twice.map(|(_, index)| format!("{index} is there twice")).collect())
}
