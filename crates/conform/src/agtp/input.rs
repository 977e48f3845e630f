//! Checks of what goes in and comes out, and of the warnings on the way. AGTP-API 4.4, 5.5, 6.5, 13.2, 13.3 and 13.1
//! items 10 to 12. Only endpoints are called that say they change nothing.

use forecourt_contract::Schema;
use serde_json::{Value, json};

use super::draft::Draft;
use super::endpoints::{ManifestEndpoint, endpoints};
use super::exchange::Exchange;
use super::methods::NOWHERE;
use super::peer::Peer;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;
use crate::limits::ENDPOINTS_TRIED_MAX;

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!(
        "agtp-13.1-10a",
        "13.1 item 10, 13.3",
        Must,
        "a field that an input schema does not declare is refused with 422",
        undeclared
    ),
    check!(
        "agtp-13.1-10b",
        "13.1 item 10, 13.2",
        Must,
        "an input without what is required is refused with 422",
        incomplete
    ),
    check!("agtp-13.1-10c", "13.1 item 10, 13.3", Must, "what comes back fits the output schema", output),
    check!("agtp-5.5-query", "5.5", Must, "a query is a part of the input and held to its schema", query),
    check!("agtp-13.2-scopes", "6.4, 13.2", Must, "a scope that is missing is refused with 455", scopes),
    check!(
        "agtp-8.7-scope",
        "8.7, base 7.3",
        Must,
        "where a scope is required, nothing is called without one",
        scope_required
    ),
    check!(
        "agtp-13.1-11",
        "13.1 item 11, 4.4",
        Must,
        "answers to a deprecated method have AGTP-Catalog-Warning",
        catalog_warning
    ),
    check!(
        "agtp-13.1-12",
        "13.1 item 12, 6.5",
        Must,
        "answers of a deprecated endpoint have AGTP-Endpoint-Warning",
        endpoint_warning
    ),
    check!("agtp-4.4-none", "4.4, 6.5", Must, "answers to what is not deprecated have neither warning", no_warning),
];

/// A field that nobody declares.
const UNDECLARED: &str = "conform_undeclared";

/// The operator's endpoints whose calls change nothing.
async fn harmless(peer: &Peer) -> Result<Vec<ManifestEndpoint<'_>>, Shortfall> {
    let all = endpoints(peer).await?;
    let fine: Vec<_> = all.into_iter().filter(|one| !one.is_built_in() && one.is_informational()).collect();
    match fine.is_empty() {
        true => Err(Shortfall::skip("the manifest shows no endpoint of the operator that is informational")),
        false => Ok(fine),
    }
}

/// A call of an endpoint under the scopes that it asks for, unless the caller says which it has.
fn call(peer: &Peer, endpoint: ManifestEndpoint<'_>, body: &Value) -> Draft {
    let path: Vec<&str> =
        // Any value will do: what is looked at is decided before an endpoint's own work.
        endpoint.path().split('/').map(|part| if part.starts_with('{') { "1" } else { part }).collect();
    scoped(peer, endpoint, Draft::new(endpoint.method(), &path.join("/")).json(body))
}

fn scoped(peer: &Peer, endpoint: ManifestEndpoint<'_>, draft: Draft) -> Draft {
    let scopes = endpoint.0["required_scopes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let scopes: Vec<&str> = scopes.collect();
    match peer.scope().is_none() && !scopes.is_empty() {
        true => draft.field("Authority-Scope", &scopes.join(", ")),
        false => draft,
    }
}

/// A refusal of the input, unless the caller may not call at all.
fn unprocessable(exchange: &Exchange) -> Verdict {
    match exchange.status() {
        455 | 262 | 403 => Err(Shortfall::skip("the caller lacks the scopes; --scope names them")),
        _ => exchange.expect(&[422]),
    }
}

async fn undeclared(peer: &Peer) -> Verdict {
    let endpoint = harmless(peer).await?[0];
    unprocessable(&peer.ask(call(peer, endpoint, &json!({UNDECLARED: 1}))).await?)
}

async fn incomplete(peer: &Peer) -> Verdict {
    let all = harmless(peer).await?;
    // What stands in the path is there anyway.
    let wants = |endpoint: &&ManifestEndpoint<'_>| {
        endpoint.required().iter().any(|name| !endpoint.path().contains(&format!("{{{name}}}")))
    };
    let endpoint = all.iter().find(wants).ok_or_else(|| Shortfall::skip("no informational endpoint requires input"))?;
    unprocessable(&peer.ask(call(peer, *endpoint, &json!({}))).await?)
}

async fn output(peer: &Peer) -> Verdict {
    let all = harmless(peer).await?;
    let free = all.iter().filter(|endpoint| endpoint.required().is_empty() && !endpoint.path().contains('{'));
    let mut is_told = false;
    for endpoint in free.take(ENDPOINTS_TRIED_MAX) {
        let exchange = peer.ask(call(peer, *endpoint, &json!({}))).await?;
        // An endpoint may refuse for reasons of its own, and then shows nothing of its output.
        if exchange.status() != 200 {
            continue;
        }
        let schema = Schema::compile(endpoint.0["output_schema"].clone());
        let schema = schema.map_err(|_| Shortfall::skip("an output schema is not valid; agtp-6.4-output says so"))?;
        if let Err(violation) = schema.check(&exchange.json()?) {
            return Err(exchange.wrong(format!("{}: {} {}", endpoint.name(), violation.field, violation.detail)));
        }
        is_told = true;
    }
    match is_told {
        true => Ok(()),
        false => Err(Shortfall::skip("no informational endpoint answers a call without input with 200")),
    }
}

async fn query(peer: &Peer) -> Verdict {
    let all = harmless(peer).await?;
    let literal = all.iter().find(|endpoint| !endpoint.path().contains('{'));
    let endpoint =
        *literal.ok_or_else(|| Shortfall::skip("no informational endpoint has a path without parameters"))?;
    let draft = Draft::new(endpoint.method(), &format!("{}?{UNDECLARED}=1", endpoint.path()));
    unprocessable(&peer.ask(scoped(peer, endpoint, draft)).await?)
}

async fn scopes(peer: &Peer) -> Verdict {
    peer.agent()?;
    let all = harmless(peer).await?;
    let guarded = all.iter().find(|one| one.0["required_scopes"].as_array().is_some_and(|scopes| !scopes.is_empty()));
    let endpoint = *guarded.ok_or_else(|| Shortfall::skip("no informational endpoint requires a scope"))?;
    // A scope that the caller may have, and that is not the one: nothing can be called with it.
    let draft = call(peer, endpoint, &json!({})).instead("Authority-Scope", "discovery:query");
    let exchange = peer.ask(draft).await?;
    match exchange.status() {
        // A server may look at the input first, or at the claim.
        422 | 262 => Err(Shortfall::skip("the server refuses the call before it looks at its scopes")),
        _ => exchange.expect(&[455]),
    }
}

async fn scope_required(peer: &Peer) -> Verdict {
    peer.agent()?;
    if peer.manifest().await?["policies"]["scope_required_for_invocation"] != true {
        return Err(Shortfall::skip("policies.scope_required_for_invocation is not true"));
    }
    if peer.caller().scope.is_some() {
        return Err(Shortfall::skip("--scope is given, which is sent with everything"));
    }
    let all = harmless(peer).await?;
    let free = all.iter().find(|one| one.required().is_empty() && !one.path().contains('{'));
    let endpoint = *free.ok_or_else(|| Shortfall::skip("no informational endpoint can be called without input"))?;
    let exchange = peer.ask(Draft::new(endpoint.method(), endpoint.path()).json(&json!({}))).await?;
    match exchange.status() {
        200 => Err(exchange.wrong(format!("{} was called without Authority-Scope", endpoint.name()))),
        _ => Ok(()),
    }
}

/// `deprecated`, then perhaps `successor=…` and `removed_in=…`.
fn is_warning(value: &str) -> bool {
    let mut parts = value.split(';').map(str::trim);
    let is_known = |part: &str| match part.split_once('=') {
        Some(("successor" | "removed_in", value)) => !value.trim().is_empty(),
        _ => false,
    };
    parts.next() == Some("deprecated") && parts.all(is_known)
}

fn warned(exchange: &Exchange, name: &str) -> Verdict {
    match exchange.field(name) {
        None => Err(exchange.wrong(format!("there is no {name}"))),
        Some(value) if is_warning(value) => Ok(()),
        Some(_) => Err(exchange.wrong(format!("{name} is not `deprecated; successor=…; removed_in=…`"))),
    }
}

async fn catalog_warning(peer: &Peer) -> Verdict {
    let why = || Shortfall::skip("needs a method that the catalog deprecates: give --deprecated-method");
    let method = peer.caller().deprecated_method.as_deref().ok_or_else(why)?;
    let exchange = peer.ask(Draft::new(method, NOWHERE)).await?;
    match exchange.status() {
        459 => Err(exchange.wrong("a deprecated method is still in the catalog")),
        _ => warned(&exchange, "AGTP-Catalog-Warning"),
    }
}

async fn endpoint_warning(peer: &Peer) -> Verdict {
    let all = endpoints(peer).await?;
    let deprecated: Vec<_> = all.into_iter().filter(|endpoint| endpoint.0["deprecated"].is_object()).collect();
    if deprecated.is_empty() {
        return Err(Shortfall::skip("no endpoint of the manifest is deprecated"));
    }
    let safe = deprecated.iter().find(|endpoint| endpoint.is_informational() || peer.caller().with_effects);
    let why = || Shortfall::skip("a call of the deprecated endpoints may change something: give --with-effects");
    let endpoint = *safe.ok_or_else(why)?;
    // It fails, and is warned of all the same. 6.5.
    let exchange = peer.ask(call(peer, endpoint, &json!({UNDECLARED: 1}))).await?;
    if exchange.status() == 401 {
        return exchange.expect(&[422]);
    }
    warned(&exchange, "AGTP-Endpoint-Warning")
}

async fn no_warning(peer: &Peer) -> Verdict {
    let exchange = peer.ask(Draft::new("DISCOVER", "/methods")).await?;
    match ["AGTP-Catalog-Warning", "AGTP-Endpoint-Warning"].into_iter().find(|name| exchange.field(name).is_some()) {
        Some(name) => Err(exchange.wrong(format!("there is an {name}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_5_a_warning_is_a_word_and_what_to_do() {
        for fine in ["deprecated", "deprecated; successor=RESERVE /rooms; removed_in=3.0.0", "deprecated;removed_in=2"]
        {
            assert!(is_warning(fine), "{fine}");
        }
        for wrong in ["", "soon", "deprecated; successor=", "deprecated; x=1", "successor=A; deprecated"] {
            assert!(!is_warning(wrong), "{wrong}");
        }
    }
}
