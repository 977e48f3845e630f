//! Checks of Mentionable REST: requests. Sections 2, 3, 5.4 to 5.6. What comes back is in `rest_answers`.

use std::ops::Deref;
use std::sync::Arc;

use futures::future::BoxFuture;
use http::Method;
use serde_json::{Value, json};
use url::Url;

use super::discovery::card_of;
use super::exchange::{Draft, Exchange};
use super::target::WebTarget;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::document::Document;
use crate::suite::{Absence, OfferedProtocol};

const CHECKS: &[Check<Rest>] = &[
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

/// A host with an agent whose card names the REST transport.
pub(crate) struct Rest {
    host: Arc<WebTarget>,
    card: Document,
    /// Where it is asked, if the card says so in a way that can be followed.
    endpoint: Option<String>,
}

impl OfferedProtocol for Rest {
    type Target = WebTarget;
    const NAME: &'static str = "Mentionable REST";
    const CHECKS: &'static [&'static [Check<Self>]] = &[CHECKS, super::rest_answers::CHECKS];

    fn find(host: Arc<WebTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(async move {
            let card = card_of(&host).await.clone()?;
            if extension(&card).is_none() {
                return Err(Absence::NotOffered("the agent's card does not name the REST transport".to_owned()));
            }
            let endpoint = match endpoint_of(&card).map(|url| host.own(url)) {
                Some(Err(Shortfall::Skipped(why))) if endpoint_of(&card).is_some_and(|url| Url::parse(url).is_ok()) => {
                    return Err(Absence::Untold(why));
                }
                Some(Ok(url)) => Some(url),
                _ => None,
            };
            Ok(Self { host, card, endpoint })
        })
    }
}

impl Deref for Rest {
    type Target = WebTarget;

    fn deref(&self) -> &WebTarget {
        &self.host
    }
}

/// What the card says of the REST transport.
fn extension(card: &Value) -> Option<&Value> {
    let all = card["a2a"]["capabilities"]["extensions"].as_array()?;
    URIS.iter().find_map(|uri| all.iter().find(|extension| extension["uri"] == *uri))
}

fn endpoint_of(card: &Value) -> Option<&str> {
    extension(card)?["endpoint"].as_str()
}

impl Rest {
    /// Where the agent under test is asked.
    pub(super) fn endpoint(&self) -> Result<String, Shortfall> {
        self.endpoint
            .clone()
            .ok_or_else(|| Shortfall::skip("the card gives no endpoint that can be asked; rest-2 says more"))
    }
}

/// An endpoint with a query behind it.
pub(super) fn with_query(endpoint: &str, query: &str) -> String {
    // A card may name an endpoint that has a query already.
    let separator = if endpoint.contains('?') { '&' } else { '?' };
    format!("{endpoint}{separator}{query}")
}

/// A short question to the agent under test.
pub(super) async fn question(rest: &Rest, accept: &str) -> Result<Exchange, Shortfall> {
    let url = with_query(&rest.endpoint()?, "user=hello");
    rest.ask(Draft::get(&url).field("Accept", accept)).await
}

async fn advertised(rest: &Rest) -> Verdict {
    let url = endpoint_of(&rest.card).ok_or_else(|| rest.card.wrong("the extension has no endpoint"))?;
    let parsed = Url::parse(url).map_err(|_| rest.card.wrong(format!("`{url}` is no absolute URL")))?;
    let is_plain = rest.base().scheme() == "http";
    match parsed.scheme() {
        "https" => Ok(()),
        "http" if is_plain => Ok(()),
        _ => Err(rest.card.wrong(format!("`{url}` is not https"))),
    }
}

async fn ask(rest: &Rest) -> Verdict {
    let exchange = question(rest, "text/markdown").await?;
    exchange.expect(&[200, 204])
}

async fn assistant(rest: &Rest) -> Verdict {
    let url = with_query(&rest.endpoint()?, "user=hello&assistant=hello");
    rest.ask(Draft::get(&url)).await?.expect(&[400])
}

async fn unknown_parameter(rest: &Rest) -> Verdict {
    let url = with_query(&rest.endpoint()?, "user=hello&conform-unknown=1");
    rest.ask(Draft::get(&url).field("Accept", "text/markdown")).await?.expect(&[200, 204])
}

async fn long_query(rest: &Rest) -> Verdict {
    let url = with_query(&rest.endpoint()?, &format!("user={}", "a".repeat(8 * 1024)));
    let parsed = Url::parse(&url).map_err(|error| Shortfall::skip(error.to_string()))?;
    // A careful client sends no URL of that length.
    let target = &parsed[url::Position::BeforePath..url::Position::AfterQuery];
    rest.by_hand(target).await?.expect(&[413])
}

async fn post_json(rest: &Rest) -> Verdict {
    let url = rest.endpoint()?;
    rest.ask(Draft::json(&url, &json!({"user": "hello"}))).await?.expect(&[415])
}

async fn post_form(rest: &Rest) -> Verdict {
    let url = rest.endpoint()?;
    let draft = Draft::new(Method::POST, &url).body("application/x-www-form-urlencoded", "user=hello");
    rest.ask(draft).await?.expect(&[415])
}

/// A multipart body of these names and texts.
fn multipart(url: &str, parts: &[(&str, &str)]) -> Draft {
    let part = |(name, text): &(&str, &str)| {
        format!("--conform\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
    };
    let body: String = parts.iter().map(part).collect();
    Draft::new(Method::POST, url).body("multipart/form-data; boundary=conform", body + "--conform--\r\n")
}

async fn large_body(rest: &Rest) -> Verdict {
    let url = rest.endpoint()?;
    rest.ask(multipart(&url, &[("user", &"a".repeat(1024 * 1024))])).await?.expect(&[413])
}

async fn post(rest: &Rest) -> Verdict {
    rest.effects()?;
    let url = rest.endpoint()?;
    let turns = [("user", "hello"), ("assistant", "hello, what is it?"), ("user", "hello again")];
    rest.ask(multipart(&url, &turns).field("Accept", "text/markdown")).await?.expect(&[200, 204])
}

async fn refused(rest: &Rest, url: &str) -> Verdict {
    for method in [Method::PUT, Method::PATCH, Method::DELETE] {
        let exchange = rest.ask(Draft::new(method, url)).await?;
        exchange.expect(&[405])?;
    }
    Ok(())
}

async fn methods(rest: &Rest) -> Verdict {
    refused(rest, &rest.endpoint()?).await
}

async fn task_methods(rest: &Rest) -> Verdict {
    rest.endpoint()?;
    refused(rest, "/tasks/conform-no-such-task").await
}

async fn head(rest: &Rest) -> Verdict {
    let url = with_query(&rest.endpoint()?, "user=hello");
    let exchange = rest.ask(Draft::new(Method::HEAD, &url).field("Accept", "text/markdown")).await?;
    exchange.expect(&[200, 204])?;
    match (exchange.body.is_empty(), exchange.field("Content-Type").is_some() || exchange.status() == 204) {
        (true, true) => Ok(()),
        (false, _) => Err(exchange.wrong("there is a body")),
        (true, false) => Err(exchange.wrong("there is no Content-Type")),
    }
}

async fn no_task(rest: &Rest) -> Verdict {
    rest.endpoint()?;
    let draft = Draft::get("/tasks/conform-no-such-task").field("Accept", "application/json");
    rest.ask(draft).await?.expect(&[404])
}

async fn no_webhook(rest: &Rest) -> Verdict {
    rest.endpoint()?;
    let body = json!({"url": "https://conform.invalid/hook"});
    rest.ask(Draft::json("/tasks/conform-no-such-task/webhook", &body)).await?.expect(&[404])
}

async fn no_artifact(rest: &Rest) -> Verdict {
    rest.endpoint()?;
    rest.ask(Draft::get("/tasks/conform-no-such-task/artifacts/none")).await?.expect(&[404])?;
    rest.ask(Draft::get("/artifacts/none")).await?.expect(&[404])
}
