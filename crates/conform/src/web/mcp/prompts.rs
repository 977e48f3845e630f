//! Checks of prompts, and of completions, which are of their arguments.

use serde_json::{Value, json};

use super::call::McpServer;
use crate::check::{Shortfall, Verdict};
use crate::evidence::Evidence;
use crate::web::exchange::Exchange;

/// Values that a completion may have.
const VALUES_MAX: usize = 100;

async fn listed<S: McpServer>(server: &S) -> Result<(Exchange, Vec<Value>), Shortfall> {
    server.listed("prompts", "prompts/list", "prompts").await
}

fn arguments(prompt: &Value) -> impl Iterator<Item = &Value> {
    prompt["arguments"].as_array().into_iter().flatten()
}

fn is_free(prompt: &Value) -> bool {
    arguments(prompt).all(|argument| argument["required"] != true)
}

pub(super) async fn list<S: McpServer>(server: &S) -> Verdict {
    let (exchange, all) = listed(server).await?;
    let is_whole = |one: &Value| one["name"].is_string() && arguments(one).all(|argument| argument["name"].is_string());
    let wrong = all.iter().filter(|one| !is_whole(one));
    exchange.none_wrong(wrong.map(|one| format!("{} is not whole", one["name"])).collect())
}

pub(super) async fn get<S: McpServer>(server: &S) -> Verdict {
    let (_, all) = listed(server).await?;
    let free = all.iter().find(|prompt| is_free(prompt));
    let prompt = free.ok_or_else(|| Shortfall::skip("no prompt is listed that needs nothing"))?;
    let (exchange, result) = server.result("prompts/get", json!({"name": prompt["name"]})).await?;
    let messages = result["messages"].as_array().ok_or_else(|| exchange.wrong("there is no list `messages`"))?;
    let is_whole =
        |one: &Value| (one["role"] == "user" || one["role"] == "assistant") && one["content"]["type"].is_string();
    match messages.iter().all(is_whole) {
        true => Ok(()),
        false => Err(exchange.wrong("a message does not have a role, user or assistant, and content of a type")),
    }
}

pub(super) async fn unknown<S: McpServer>(server: &S) -> Verdict {
    if server.capabilities().get("prompts").is_none() {
        return Err(Shortfall::skip("the host does not say that it has prompts"));
    }
    let (exchange, answer) = server.request("prompts/get", json!({"name": "conform-no-such-prompt"})).await?;
    match answer["error"]["code"].is_i64() {
        true => Ok(()),
        false => Err(exchange.wrong("it is answered as if there were one")),
    }
}

pub(super) async fn bad_arguments<S: McpServer>(server: &S) -> Verdict {
    let (_, all) = listed(server).await?;
    let prompt = all.iter().find(|prompt| !is_free(prompt));
    let prompt = prompt.ok_or_else(|| Shortfall::skip("no prompt requires arguments"))?;
    let (exchange, answer) = server.request("prompts/get", json!({"name": prompt["name"]})).await?;
    match answer["error"]["code"].is_i64() {
        true => Ok(()),
        false => Err(exchange.wrong(format!("{} is given without what it requires", prompt["name"]))),
    }
}

pub(super) async fn completion<S: McpServer>(server: &S) -> Verdict {
    if server.capabilities().get("completions").is_none() {
        return Err(Shortfall::skip("the host does not say that it has completions"));
    }
    let (_, all) = listed(server).await?;
    let mut pairs = all.iter().filter_map(|prompt| Some((prompt, arguments(prompt).next()?)));
    let (prompt, argument) = pairs.next().ok_or_else(|| Shortfall::skip("no prompt has arguments"))?;
    let reference = json!({"type": "ref/prompt", "name": prompt["name"]});
    let params = json!({"ref": reference, "argument": {"name": argument["name"], "value": ""}});
    let (exchange, result) = server.result("completion/complete", params).await?;
    let values = result["completion"]["values"].as_array();
    match values.is_some_and(|values| values.len() <= VALUES_MAX && values.iter().all(Value::is_string)) {
        true => Ok(()),
        false => Err(exchange.wrong("completion.values is no list of at most 100 texts")),
    }
}
