//! Checks of paths: the grammar, what is not there, and what is there under another method. AGTP-API 5, 11 and 13.1
//! items 3 and 8.

use forecourt_contract::Catalog;
use serde_json::{Value, json};

use super::draft::Draft;
use super::endpoints::{ManifestEndpoint, endpoints};
use super::exchange::Exchange;
use super::methods::NOWHERE;
use super::peer::Peer;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!(
        "agtp-13.1-3a",
        "13.1 item 3, 5.1",
        Must,
        "a path with a method in a segment is refused with 460",
        method_in_path
    ),
    check!("agtp-13.1-3b", "5.1", Must, "case, `-` and `_` do not hide a method in a path", hidden_method),
    check!("agtp-5.1-slash", "5.1", Must, "a path that ends with a slash is refused with 460", trailing_slash),
    check!("agtp-5.1-segment", "5.1", Must, "460 names the offending segment", names_segment),
    check!("agtp-5.5", "5.5", Must, "what stands behind `?` is not held to the grammar of paths", query_string),
    check!("agtp-5.3", "5.3", Must, "capitals, `-`, `_` and depth in a path are fine", permissive),
    check!("agtp-13.1-8a", "13.1 item 8, 11, 6.1", Must, "a path that is not there is answered with 404", not_found),
    check!(
        "agtp-13.1-8b",
        "13.1 item 8, 11, 6.1",
        Must,
        "a path under a method that it does not have is answered with 405",
        not_exposed
    ),
    check!("agtp-11-allowed", "11", Must, "405 lists the methods of the path in allowed_methods_for_path", allowed),
    check!("agtp-11-redirects", "11", Must, "405 has a map redirects_for_path", redirects),
    check!("agtp-8-identity", "base 4, 5", Should, "an Agent-ID that nobody has is answered with 401", stranger),
    check!("agtp-8-malformed", "base 2.4", Should, "an Agent-ID that is none is refused", malformed_id),
];

async fn at(peer: &Peer, path: &str, status: u16) -> Verdict {
    peer.ask(Draft::new("QUERY", path)).await?.expect(&[status])
}

/// A segment that is a method in every catalog: one of the floor.
const METHOD: &str = "discover";

async fn method_in_path(peer: &Peer) -> Verdict {
    at(peer, &format!("/conform/{METHOD}/5"), 460).await
}

async fn hidden_method(peer: &Peer) -> Verdict {
    at(peer, "/conform/Dis-Co_ver", 460).await
}

async fn trailing_slash(peer: &Peer) -> Verdict {
    at(peer, &format!("{NOWHERE}/"), 460).await
}

async fn names_segment(peer: &Peer) -> Verdict {
    let exchange = peer.ask(Draft::new("QUERY", &format!("/conform/{METHOD}/5"))).await?;
    if exchange.status() != 460 {
        return Err(Shortfall::skip("there is no 460; agtp-13.1-3a says so"));
    }
    match exchange.member("segment").as_ref().and_then(Value::as_str) {
        Some(segment) if segment.eq_ignore_ascii_case(METHOD) => Ok(()),
        // The rule names no member.
        _ if String::from_utf8_lossy(&exchange.response.body).contains(&format!("\"{METHOD}\"")) => Ok(()),
        _ => Err(exchange.wrong(format!("the body does not have the segment `{METHOD}`"))),
    }
}

async fn query_string(peer: &Peer) -> Verdict {
    at(peer, &format!("{NOWHERE}?place=/{METHOD}/"), 404).await
}

async fn permissive(peer: &Peer) -> Verdict {
    at(peer, "/Conform/no_Where/deep-er/a/b/c/d/e.f~g", 404).await
}

async fn not_found(peer: &Peer) -> Verdict {
    at(peer, NOWHERE, 404).await
}

/// A request for a path that exists, under a method that is not there: nothing can be changed by it.
async fn unexposed(peer: &Peer) -> Result<(Exchange, ManifestEndpoint<'_>), Shortfall> {
    let all = endpoints(peer).await?;
    let literal = |endpoint: &&ManifestEndpoint<'_>| !endpoint.path().contains('{') && endpoint.path() != "/";
    // The operator's first: reserved paths may be treated apart.
    let of_operator = all.iter().filter(|endpoint| !endpoint.is_built_in()).find(literal);
    let endpoint = of_operator.or_else(|| all.iter().find(literal));
    let endpoint = *endpoint.ok_or_else(|| Shortfall::skip("no endpoint has a path without parameters"))?;
    let catalog = Catalog::shipped();
    let policy = &peer.manifest().await?["policies"]["methods"];
    let redirects = policy["redirects"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_other = |name: &&str| {
        let is_there = all.iter().any(|one| one.path() == endpoint.path() && one.method() == *name);
        let leads_on = redirects.iter().any(|entry| entry["from_method"] == *name);
        // A redirect would be followed, and a method of the floor may be answered anywhere.
        !is_there && !leads_on && !catalog.embedded().any(|known| known == *name)
    };
    let method = ["NOTARIZE", "WAIVE", "TALLY", "PEEK"].iter().find(|name| is_other(name));
    let method = method.ok_or_else(|| Shortfall::skip("every method is there"))?;
    Ok((peer.ask(Draft::new(method, endpoint.path())).await?, endpoint))
}

async fn not_exposed(peer: &Peer) -> Verdict {
    unexposed(peer).await?.0.expect(&[405])
}

/// The 405 of [`unexposed`], if it is one.
async fn refusal(peer: &Peer) -> Result<(Exchange, ManifestEndpoint<'_>), Shortfall> {
    let (exchange, endpoint) = unexposed(peer).await?;
    match exchange.status() {
        405 => Ok((exchange, endpoint)),
        _ => Err(Shortfall::skip("there is no 405; agtp-13.1-8b says so")),
    }
}

async fn allowed(peer: &Peer) -> Verdict {
    let (exchange, endpoint) = refusal(peer).await?;
    let listed = exchange.member("allowed_methods_for_path");
    match listed.as_ref().and_then(Value::as_array) {
        Some(methods) if methods.iter().any(|method| method == endpoint.method()) => Ok(()),
        Some(_) => Err(exchange.wrong(format!("it does not have {}, which the manifest shows", endpoint.method()))),
        None => Err(exchange.wrong("there is no such list")),
    }
}

async fn redirects(peer: &Peer) -> Verdict {
    let (exchange, _) = refusal(peer).await?;
    match exchange.member("redirects_for_path").is_some_and(|map| map.is_object()) {
        true => Ok(()),
        false => Err(exchange.wrong("there is no such map")),
    }
}

async fn stranger(peer: &Peer) -> Verdict {
    // Nobody's: the hash of nothing that was ever issued.
    let draft = Draft::new("QUERY", "/").json(&json!({"intent": "who am I?"})).instead("Agent-ID", &"0".repeat(64));
    let exchange = peer.anonymous(draft).await?;
    match exchange.status() {
        401 => Ok(()),
        status => Err(exchange.wrong(format!("the status is {status}"))),
    }
}

async fn malformed_id(peer: &Peer) -> Verdict {
    let draft = Draft::new("QUERY", "/").json(&json!({"intent": "who am I?"})).instead("Agent-ID", "nobody");
    let exchange = peer.anonymous(draft).await?;
    match exchange.status() {
        400 | 401 | 404 => Ok(()),
        status => Err(exchange.wrong(format!("the status is {status}"))),
    }
}
