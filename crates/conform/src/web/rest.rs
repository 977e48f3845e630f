//! Checks of Mentionable REST: requests. Sections 2, 3, 5.4 to 5.6. What comes back is in `rest_answers`.

use http::Method;
use serde_json::{Value, json};

use super::discovery::agent_card;
use super::peer::{Draft, Exchange, Peer};
use crate::check::{Check, Shortfall, Verdict, check};

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!(
        "rest-2",
        "REST 2",
        Must,
        "the card tells the agent's REST endpoint, an absolute https URL of the host",
        advertised
    ),
    check!("rest-3.1-ask", "REST 3.1", Must, "GET with user= is answered", ask),
    check!("rest-3.1-assistant", "REST 3.1", Must, "GET with assistant= is refused with 400", assistant),
    check!("rest-3.1-unknown", "REST 3.1", Must, "unknown parameters of a GET are ignored", unknown_parameter),
    check!("rest-3.1-size", "REST 3.1", Must, "a query of more than 8 KiB is refused with 413", long_query),
    check!("rest-3.2-json", "REST 3.2", Must, "a POST of application/json is refused with 415", post_json),
    check!(
        "rest-3.2-form",
        "REST 3.2",
        Must,
        "a POST of application/x-www-form-urlencoded is refused with 415",
        post_form
    ),
    check!("rest-3.2-size", "REST 3.2", Must, "a body of more than 1 MiB is refused with 413", large_body),
    check!("rest-3.2-ask", "REST 3.2", Must, "a POST of multipart/form-data with earlier turns is answered", post),
    check!("rest-3.5-methods", "REST 3.5", Must, "PUT, PATCH and DELETE are refused with 405", methods),
    check!("rest-3.5-tasks", "REST 3.5", Must, "PUT, PATCH and DELETE of tasks are refused with 405", task_methods),
    check!("rest-3.5-head", "REST 3.5", Must, "HEAD has the head of a GET and no body", head),
    check!("rest-5.4.1", "REST 5.4.1", Must, "a task that is not there is answered with 404", no_task),
    check!("rest-5.5", "REST 5.5", Must, "a webhook for a task that is not there is answered with 404", no_webhook),
    check!("rest-5.6", "REST 5.6", Must, "an artifact is found under its task alone", no_artifact),
];

/// The extension that says where REST is, and its older name.
const URIS: [&str; 2] =
    ["https://mentionable.dev/ns/transport-rest/v0.1", "https://mentionable.dev/spec/transport-rest/v0.1"];

fn endpoint_of(card: &Value) -> Option<&str> {
    let all = card["a2a"]["capabilities"]["extensions"].as_array()?;
    let entry = URIS.iter().find_map(|uri| all.iter().find(|extension| extension["uri"] == *uri))?;
    entry["endpoint"].as_str()
}

/// Where the agent under test is asked.
pub(super) async fn endpoint(peer: &Peer) -> Result<String, Shortfall> {
    let why = || Shortfall::skip("the agent is not available over REST");
    peer.own(endpoint_of(agent_card(peer).await?).ok_or_else(why)?)
}

/// An endpoint with a query behind it.
pub(super) fn with_query(endpoint: &str, query: &str) -> String {
    // A card may name an endpoint that has a query already.
    let separator = if endpoint.contains('?') { '&' } else { '?' };
    format!("{endpoint}{separator}{query}")
}

/// A short question to the agent under test.
pub(super) async fn question(peer: &Peer, accept: &str) -> Result<Exchange, Shortfall> {
    let url = with_query(&endpoint(peer).await?, "user=hello");
    peer.ask(Draft::get(&url).field("Accept", accept)).await
}

async fn advertised(peer: &Peer) -> Verdict {
    let card = agent_card(peer).await?;
    let has_extension = card["a2a"]["capabilities"]["extensions"]
        .as_array()
        .is_some_and(|all| all.iter().any(|extension| URIS.iter().any(|uri| extension["uri"] == *uri)));
    if !has_extension {
        return Err(Shortfall::skip("the card does not name the REST transport"));
    }
    let url = endpoint_of(card).ok_or_else(|| Shortfall::broken("the extension has no endpoint"))?;
    let parsed = url::Url::parse(url).map_err(|_| Shortfall::broken(format!("`{url}` is no absolute URL")))?;
    let is_plain = peer.base().scheme() == "http";
    match parsed.scheme() {
        "https" => Ok(()),
        "http" if is_plain => Ok(()),
        _ => Err(Shortfall::broken(format!("`{url}` is not https"))),
    }
}

async fn ask(peer: &Peer) -> Verdict {
    let exchange = question(peer, "text/markdown").await?;
    exchange.expect(&[200, 204])
}

async fn assistant(peer: &Peer) -> Verdict {
    let url = with_query(&endpoint(peer).await?, "user=hello&assistant=hello");
    peer.ask(Draft::get(&url)).await?.expect(&[400])
}

async fn unknown_parameter(peer: &Peer) -> Verdict {
    let url = with_query(&endpoint(peer).await?, "user=hello&conform-unknown=1");
    peer.ask(Draft::get(&url).field("Accept", "text/markdown")).await?.expect(&[200, 204])
}

async fn long_query(peer: &Peer) -> Verdict {
    let url = with_query(&endpoint(peer).await?, &format!("user={}", "a".repeat(8 * 1024)));
    let parsed = url::Url::parse(&url).map_err(|error| Shortfall::skip(error.to_string()))?;
    // A careful client sends no URL of that length.
    let target = &parsed[url::Position::BeforePath..url::Position::AfterQuery];
    peer.by_hand(target).await?.expect(&[413])
}

async fn post_json(peer: &Peer) -> Verdict {
    let url = endpoint(peer).await?;
    peer.ask(Draft::json(&url, &json!({"user": "hello"}))).await?.expect(&[415])
}

async fn post_form(peer: &Peer) -> Verdict {
    let url = endpoint(peer).await?;
    let draft = Draft::new(Method::POST, &url).body("application/x-www-form-urlencoded", "user=hello");
    peer.ask(draft).await?.expect(&[415])
}

/// A multipart body of these names and texts.
fn multipart(url: &str, parts: &[(&str, &str)]) -> Draft {
    let part = |(name, text): &(&str, &str)| {
        format!("--conform\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
    };
    let body: String = parts.iter().map(part).collect();
    Draft::new(Method::POST, url).body("multipart/form-data; boundary=conform", body + "--conform--\r\n")
}

async fn large_body(peer: &Peer) -> Verdict {
    let url = endpoint(peer).await?;
    peer.ask(multipart(&url, &[("user", &"a".repeat(1024 * 1024))])).await?.expect(&[413])
}

async fn post(peer: &Peer) -> Verdict {
    peer.effects()?;
    let url = endpoint(peer).await?;
    let turns = [("user", "hello"), ("assistant", "hello, what is it?"), ("user", "hello again")];
    peer.ask(multipart(&url, &turns).field("Accept", "text/markdown")).await?.expect(&[200, 204])
}

async fn refused(peer: &Peer, url: &str) -> Verdict {
    for method in [Method::PUT, Method::PATCH, Method::DELETE] {
        let exchange = peer.ask(Draft::new(method, url)).await?;
        exchange.expect(&[405])?;
    }
    Ok(())
}

async fn methods(peer: &Peer) -> Verdict {
    refused(peer, &endpoint(peer).await?).await
}

async fn task_methods(peer: &Peer) -> Verdict {
    endpoint(peer).await?;
    refused(peer, "/tasks/conform-no-such-task").await
}

async fn head(peer: &Peer) -> Verdict {
    let url = with_query(&endpoint(peer).await?, "user=hello");
    let exchange = peer.ask(Draft::new(Method::HEAD, &url).field("Accept", "text/markdown")).await?;
    exchange.expect(&[200, 204])?;
    match (exchange.body.is_empty(), exchange.field("Content-Type").is_some() || exchange.status() == 204) {
        (true, true) => Ok(()),
        (false, _) => Err(exchange.wrong("there is a body")),
        (true, false) => Err(exchange.wrong("there is no Content-Type")),
    }
}

async fn no_task(peer: &Peer) -> Verdict {
    endpoint(peer).await?;
    let draft = Draft::get("/tasks/conform-no-such-task").field("Accept", "application/json");
    peer.ask(draft).await?.expect(&[404])
}

async fn no_webhook(peer: &Peer) -> Verdict {
    endpoint(peer).await?;
    let body = json!({"url": "https://conform.invalid/hook"});
    peer.ask(Draft::json("/tasks/conform-no-such-task/webhook", &body)).await?.expect(&[404])
}

async fn no_artifact(peer: &Peer) -> Verdict {
    endpoint(peer).await?;
    peer.ask(Draft::get("/tasks/conform-no-such-task/artifacts/none")).await?.expect(&[404])?;
    peer.ask(Draft::get("/artifacts/none")).await?.expect(&[404])
}
