//! Checks of resources.

use serde_json::{Value, json};

use super::call::McpServer;
use crate::check::{Shortfall, Verdict};
use crate::evidence::Evidence;
use crate::web::exchange::Exchange;

async fn listed<S: McpServer>(server: &S) -> Result<(Exchange, Vec<Value>), Shortfall> {
    server.listed("resources", "resources/list", "resources").await
}

fn has_texts(one: &Value, names: &[&str]) -> bool {
    names.iter().all(|name| one[*name].is_string())
}

pub(super) async fn list<S: McpServer>(server: &S) -> Verdict {
    let (exchange, all) = listed(server).await?;
    let wrong = all.iter().filter(|one| !has_texts(one, &["uri", "name"]));
    exchange.none_wrong(wrong.map(|one| format!("{} is not whole", one["uri"])).collect())
}

pub(super) async fn templates<S: McpServer>(server: &S) -> Verdict {
    let (exchange, all) = server.listed("resources", "resources/templates/list", "resourceTemplates").await?;
    let wrong = all.iter().filter(|one| !has_texts(one, &["uriTemplate", "name"]));
    exchange.none_wrong(wrong.map(|one| format!("{} is not whole", one["uriTemplate"])).collect())
}

pub(super) async fn read<S: McpServer>(server: &S) -> Verdict {
    let (_, all) = listed(server).await?;
    let first = all.first().ok_or_else(|| Shortfall::skip("no resource is listed"))?;
    let (exchange, result) = server.result("resources/read", json!({"uri": first["uri"]})).await?;
    let contents = result["contents"].as_array().ok_or_else(|| exchange.wrong("there is no list `contents`"))?;
    let is_whole = |one: &Value| one["uri"].is_string() && (one["text"].is_string() != one["blob"].is_string());
    match contents.iter().all(is_whole) {
        true => Ok(()),
        false => Err(exchange.wrong("a content does not have a uri, and one of text and blob")),
    }
}

pub(super) async fn unknown<S: McpServer>(server: &S) -> Verdict {
    if server.capabilities().get("resources").is_none() {
        return Err(Shortfall::skip("the host does not say that it has resources"));
    }
    let (exchange, answer) = server.request("resources/read", json!({"uri": "conform://no-such-resource"})).await?;
    match answer["error"]["code"].as_i64() {
        Some(code) if code == server.no_resource() => Ok(()),
        Some(code) => Err(exchange.wrong(format!("the code is {code} where {} belongs", server.no_resource()))),
        None => Err(exchange.wrong("it is read as if there were one")),
    }
}
