//! Checks of the endpoints that a manifest shows. AGTP-API 5, 6, 7, 8.9, 12 and 13.1 items 1, 6 and 9.

use std::collections::BTreeSet;

use forecourt_contract::{Catalog, Schema};
use serde_json::Value;

use super::peer::Peer;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;
use crate::limits::ENDPOINTS_READ_MAX;

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!("agtp-13.1-1", "13.1 item 1, 6.3", Must, "every endpoint has the eight fields that make one", fields),
    check!(
        "agtp-13.1-6",
        "13.1 item 6, 8.9",
        Must,
        "of its handler an endpoint shows the type and nothing else",
        projection
    ),
    check!("agtp-13.1-9", "13.1 item 9, 7.1", Must, "every endpoint has its semantic block, whole and valid", semantic),
    check!("agtp-3.2", "3.2, 3.6", Must, "endpoints have methods of capital letters, none of HTTP's", methods),
    check!(
        "agtp-5.1-endpoints",
        "5.1 to 5.3",
        Must,
        "paths of endpoints keep the grammar, with each parameter declared",
        paths
    ),
    check!("agtp-5.4", "5.4, 6.2", Must, "no two endpoints are one pair of method and path", distinct),
    check!(
        "agtp-5.9",
        "5.9",
        Must,
        "no endpoint of the operator stands in the place of a reserved DISCOVER path",
        reserved
    ),
    check!("agtp-6.4-input", "6.4, 13.3", Must, "input schemas are schemas of closed objects", inputs),
    check!("agtp-6.4-output", "6.4", Must, "output schemas are valid", outputs),
    check!("agtp-13.3", "13.3", Should, "output schemas leave room for more fields", open_outputs),
    check!("agtp-12.1", "12.1", Must, "compositions declare composition_failed", compositions),
    check!("agtp-12.3", "12.3", Must, "services behind endpoints have their five errors declared", services),
];

/// The names under which DISCOVER is the server's own.
pub(super) const RESERVED: [&str; 7] = ["methods", "agents", "genesis", "tools", "apis", "patterns", "contracts"];

/// An endpoint as the manifest shows it.
#[derive(Clone, Copy)]
pub(super) struct ManifestEndpoint<'a>(pub(super) &'a Value);

impl<'a> ManifestEndpoint<'a> {
    pub(super) fn method(self) -> &'a str {
        self.0["method"].as_str().unwrap_or_default()
    }

    pub(super) fn path(self) -> &'a str {
        self.0["path"].as_str().unwrap_or_default()
    }

    pub(super) fn name(self) -> String {
        format!("{} {}", self.method(), self.path())
    }

    fn segments(self) -> impl Iterator<Item = &'a str> {
        self.path().split('/').skip(1)
    }

    /// Whether it is a DISCOVER of the server's own, rather than an endpoint of the operator.
    pub(super) fn is_built_in(self) -> bool {
        let place = self.path().strip_prefix('/').unwrap_or_default();
        self.method() == "DISCOVER" && (place.is_empty() || RESERVED.contains(&place))
    }

    /// Whether a call of it changes nothing. 7.1.
    pub(super) fn is_informational(self) -> bool {
        self.0["semantic"]["impact"] == "informational"
    }

    /// The names of the properties that a call must have.
    pub(super) fn required(self) -> Vec<&'a str> {
        let names = self.0["input_schema"]["required"].as_array();
        names.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

/// All endpoints of the manifest.
pub(super) async fn endpoints(peer: &Peer) -> Result<Vec<ManifestEndpoint<'_>>, Shortfall> {
    let all = peer.manifest().await?["endpoints"].as_array();
    let all: Vec<ManifestEndpoint<'_>> =
        all.into_iter().flatten().take(ENDPOINTS_READ_MAX).map(ManifestEndpoint).collect();
    match all.is_empty() {
        true => Err(Shortfall::skip("the manifest shows no endpoints")),
        false => Ok(all),
    }
}

/// Says of each endpoint what is wrong with it.
async fn each(peer: &Peer, wrong: impl Fn(ManifestEndpoint<'_>) -> Option<String>) -> Verdict {
    let all = endpoints(peer).await?;
    let told = all.iter().filter_map(|endpoint| wrong(*endpoint).map(|what| format!("{}: {what}", endpoint.name())));
    peer.manifest().await?.none_wrong(told.collect())
}

async fn fields(peer: &Peer) -> Verdict {
    let fields = ["method", "path", "description", "semantic", "input_schema", "output_schema", "errors", "handler"];
    each(peer, |endpoint| {
        let missing: Vec<&str> = fields.into_iter().filter(|name| endpoint.0[*name].is_null()).collect();
        (!missing.is_empty()).then(|| format!("has no {}", missing.join(", ")))
    })
    .await
}

async fn projection(peer: &Peer) -> Verdict {
    each(peer, |endpoint| {
        let handler = endpoint.0["handler"].as_object()?;
        let more: Vec<&str> = handler.keys().map(String::as_str).filter(|key| *key != "type").collect();
        let known = ["registered_function", "composition", "external_service"];
        match handler.get("type").and_then(Value::as_str) {
            _ if !more.is_empty() => Some(format!("its handler also shows {}", more.join(", "))),
            Some(kind) if known.contains(&kind) => None,
            _ => Some("its handler's type is none of the three".to_owned()),
        }
    })
    .await
}

async fn semantic(peer: &Peer) -> Verdict {
    let catalog = Catalog::shipped();
    each(peer, |endpoint| {
        let block = endpoint.0["semantic"].as_object()?;
        let text = |name: &str| block.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let number = block.get("confidence").and_then(Value::as_f64);
        let wrong = [
            ("intent", text("intent").is_some()),
            ("actor", text("actor").is_some()),
            ("outcome", text("outcome").is_some()),
            ("capability", text("capability").is_some_and(|name| catalog.has_category(name))),
            ("confidence", number.is_some_and(|number| (0.0..=1.0).contains(&number))),
            ("impact", matches!(text("impact"), Some("informational" | "reversible" | "irreversible"))),
            ("is_idempotent", block.get("is_idempotent").is_some_and(Value::is_boolean)),
        ];
        let wrong: Vec<&str> = wrong.into_iter().filter(|(_, fine)| !fine).map(|(name, _)| name).collect();
        (!wrong.is_empty()).then(|| format!("missing or not valid: {}", wrong.join(", ")))
    })
    .await
}

async fn methods(peer: &Peer) -> Verdict {
    let catalog = Catalog::shipped();
    each(peer, |endpoint| {
        let method = endpoint.method();
        let is_word = (3..=32).contains(&method.len()) && method.bytes().all(|byte| byte.is_ascii_uppercase());
        match (is_word, catalog.legacy(method)) {
            (false, _) => Some("its method is not 3 to 32 capital letters".to_owned()),
            (true, Some(_)) => Some("its method is one of HTTP's".to_owned()),
            (true, None) => None,
        }
    })
    .await
}

async fn paths(peer: &Peer) -> Verdict {
    let catalog = Catalog::shipped();
    let is_known = peer.manifest().await?["catalog_version"] == catalog.version();
    each(peer, |endpoint| {
        let path = endpoint.path();
        if !path.starts_with('/') || (path.len() > 1 && path.ends_with('/')) {
            return Some("it begins without a slash, or ends with one".to_owned());
        }
        let mut names = BTreeSet::new();
        for segment in endpoint.segments() {
            let Some(name) = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
                if segment.contains(['{', '}']) {
                    return Some(format!("`{segment}` is neither literal nor a parameter"));
                }
                // Another catalog may have other methods.
                match catalog.verb_in(segment).filter(|_| is_known) {
                    Some(verb) => return Some(format!("`{segment}` is the method {verb}")),
                    None => continue,
                }
            };
            let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !is_name || !names.insert(name) {
                return Some(format!("`{segment}` is no parameter, or there twice"));
            }
            if endpoint.0["input_schema"]["properties"].get(name).is_none() {
                return Some(format!("`{name}` is not declared in its input_schema"));
            }
        }
        None
    })
    .await
}

async fn distinct(peer: &Peer) -> Verdict {
    let all = endpoints(peer).await?;
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for endpoint in all {
        // Parameters are the same whatever they are called: both templates would match what the other matches.
        let shape: Vec<&str> =
            endpoint.segments().map(|part| if part.starts_with('{') { "{}" } else { part }).collect();
        if !seen.insert((endpoint.method(), shape)) {
            wrong.push(format!("{} is there twice, or like another", endpoint.name()));
        }
    }
    peer.manifest().await?.none_wrong(wrong)
}

async fn reserved(peer: &Peer) -> Verdict {
    each(peer, |endpoint| {
        let first = endpoint.segments().next().unwrap_or_default().to_ascii_lowercase();
        let root = RESERVED.iter().find(|root| first.starts_with(**root))?;
        let is_taken = endpoint.method() == "DISCOVER" && !endpoint.is_built_in();
        is_taken.then(|| format!("begins like the reserved /{root}"))
    })
    .await
}

async fn inputs(peer: &Peer) -> Verdict {
    each(peer, |endpoint| {
        let schema = endpoint.0.get("input_schema")?;
        Schema::input(schema.clone()).err().map(|fault| format!("input_schema: {fault}"))
    })
    .await
}

async fn outputs(peer: &Peer) -> Verdict {
    each(peer, |endpoint| {
        let schema = endpoint.0.get("output_schema")?;
        Schema::compile(schema.clone()).err().map(|fault| format!("output_schema: {fault}"))
    })
    .await
}

async fn open_outputs(peer: &Peer) -> Verdict {
    each(peer, |endpoint| {
        let is_closed = endpoint.0["output_schema"]["additionalProperties"] == false;
        is_closed.then(|| "its output_schema is closed".to_owned())
    })
    .await
}

/// Whether every endpoint of a kind declares these errors.
async fn declares(peer: &Peer, kind: &str, errors: &[&str]) -> Verdict {
    let all = endpoints(peer).await?;
    let of_kind: Vec<_> = all.into_iter().filter(|endpoint| endpoint.0["handler"]["type"] == kind).collect();
    if of_kind.is_empty() {
        return Err(Shortfall::skip(format!("no endpoint is of the kind {kind}")));
    }
    let mut wrong = Vec::new();
    for endpoint in of_kind {
        let declared = endpoint.0["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
        let missing: Vec<&str> =
            errors.iter().copied().filter(|name| !declared.iter().any(|one| one == name)).collect();
        if !missing.is_empty() {
            wrong.push(format!("{}: does not declare {}", endpoint.name(), missing.join(", ")));
        }
    }
    peer.manifest().await?.none_wrong(wrong)
}

async fn compositions(peer: &Peer) -> Verdict {
    declares(peer, "composition", &["composition_failed"]).await
}

async fn services(peer: &Peer) -> Verdict {
    let errors = [
        "upstream_timeout",
        "upstream_connection_error",
        "upstream_malformed_response",
        "upstream_authentication_failed",
        "upstream_error",
    ];
    declares(peer, "external_service", &errors).await
}
