//! Checks of Mentionable REST: requests. Sections 2, 3, 5.4 to 5.6. What comes back is in `answers.rs`.

use http::Method;
use serde_json::json;
use url::Url;

use super::endpoint::{Rest, endpoint_of, question, with_query};
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;
use crate::web::exchange::Draft;

pub(super) const CHECKS: &[Check<Rest>] = &[
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

async fn advertised(rest: &Rest) -> Verdict {
    let url = endpoint_of(rest.card()).ok_or_else(|| rest.card().wrong("the extension has no endpoint"))?;
    let parsed = Url::parse(url).map_err(|_| rest.card().wrong(format!("`{url}` is no absolute URL")))?;
    let is_plain = rest.base().scheme() == "http";
    match parsed.scheme() {
        "https" => Ok(()),
        "http" if is_plain => Ok(()),
        _ => Err(rest.card().wrong(format!("`{url}` is not https"))),
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
