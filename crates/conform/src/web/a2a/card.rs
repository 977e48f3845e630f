//! Checks of the card. A2A 5, of 1.0 and of 0.3.

use std::ops::Deref;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;
use url::Url;

use super::{CARD_PATH, card_of};
use crate::check::{Check, Verdict, check};
use crate::document::Document;
use crate::evidence::Evidence;
use crate::offer::{Absence, OfferedProtocol};
use crate::web::exchange::Draft;
use crate::web::target::WebTarget;

const CHECKS: &[Check<A2aCard>] = &[
    check!("a2a-5-type", "A2A 5", Must, "the card is application/json", media_type),
    check!("a2a-5-fields", "A2A 5", Must, "the card has name, description and version, and a list of skills", fields),
    check!(
        "a2a-5-interfaces",
        "A2A 5",
        Must,
        "a card of 1.0 names its interfaces, one of 0.3 its version and url",
        interfaces
    ),
    check!("a2a-5-urls", "A2A 5, 7", Must, "what the card names is asked at absolute https URLs", urls),
    check!("a2a-5-skills", "A2A 5", Must, "each skill has id, name, description and tags", skills),
    check!("a2a-5-skill-ids", "A2A 5", Should, "no two skills have one id", skill_ids),
    check!(
        "a2a-5-capabilities",
        "A2A 5",
        Must,
        "capabilities are true or false, and extensions have a uri",
        capabilities
    ),
    check!(
        "a2a-5-schemes",
        "A2A 5, 7",
        Must,
        "each security scheme is one of the five, and what is required is declared",
        schemes
    ),
    check!("a2a-5.1-twins", "A2A 5.1", Should, "no field is there in snake_case where A2A has it in camelCase", twins),
    check!("a2a-5-caching", "A2A 5", Should, "the card comes with Cache-Control and ETag", caching),
];

/// A host with a card of A2A.
pub(crate) struct A2aCard {
    host: Arc<WebTarget>,
    card: Document,
}

impl OfferedProtocol for A2aCard {
    type Target = WebTarget;
    const NAME: &'static str = "A2A card";
    const CHECKS: &'static [&'static [Check<Self>]] = &[CHECKS];

    fn find(host: Arc<WebTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(async move {
            let card = card_of(&host).await.clone()?;
            Ok(Self { host, card })
        })
    }
}

impl Deref for A2aCard {
    type Target = WebTarget;

    fn deref(&self) -> &WebTarget {
        &self.host
    }
}

async fn media_type(found: &A2aCard) -> Verdict {
    let exchange = found.anonymous(Draft::get(CARD_PATH)).await?;
    exchange.expect(&[200])?;
    match exchange.media_type() {
        "application/json" => Ok(()),
        _ => Err(exchange.wrong("it is not application/json")),
    }
}

async fn fields(found: &A2aCard) -> Verdict {
    let card = &found.card;
    let wrong = ["name", "description", "version"].iter().filter(|name| !card[**name].is_string());
    let mut wrong: Vec<String> = wrong.map(|name| format!("{name} is no text")).collect();
    if !card["skills"].is_array() {
        wrong.push("skills is no list".to_owned());
    }
    for name in ["defaultInputModes", "defaultOutputModes"] {
        if !card[name].as_array().is_some_and(|modes| modes.iter().all(Value::is_string)) {
            wrong.push(format!("{name} is no list of media types"));
        }
    }
    if !card["capabilities"].is_object() {
        wrong.push("capabilities is no object".to_owned());
    }
    card.none_wrong(wrong)
}

async fn interfaces(found: &A2aCard) -> Verdict {
    let card = &found.card;
    let mut wrong = Vec::new();
    if let Some(all) = card["supportedInterfaces"].as_array() {
        let is_whole =
            |one: &Value| ["url", "protocolBinding", "protocolVersion"].iter().all(|name| one[*name].is_string());
        wrong.extend(all.iter().filter(|one| !is_whole(one)).map(|one| format!("an interface is not whole: {one}")));
        if all.is_empty() {
            wrong.push("supportedInterfaces is empty".to_owned());
        }
    } else {
        let missing = ["protocolVersion", "url"].iter().filter(|name| !card[**name].is_string());
        wrong.extend(missing.map(|name| format!("there is neither supportedInterfaces nor {name}")));
    }
    card.none_wrong(wrong)
}

async fn urls(found: &A2aCard) -> Verdict {
    let card = &found.card;
    // Plain http is spoken to this machine alone, where a deployment may have no certificate.
    let is_plain = found.base().scheme() == "http";
    let is_fine = |text: &str| Url::parse(text).is_ok_and(|url| url.scheme() == "https" || is_plain);
    let of = |list: &str| card[list].as_array().cloned().unwrap_or_default();
    let is_of_http = |one: &Value| one["protocolBinding"] != "GRPC" && one["transport"] != "GRPC";
    let named = of("supportedInterfaces").into_iter().chain(of("additionalInterfaces")).filter(is_of_http);
    let mut all: Vec<String> = named.filter_map(|one| one["url"].as_str().map(str::to_owned)).collect();
    all.extend(card["url"].as_str().map(str::to_owned));
    card.none_wrong(all.into_iter().filter(|url| !is_fine(url)).map(|url| format!("`{url}`")).collect())
}

async fn skills(found: &A2aCard) -> Verdict {
    let all = found.card["skills"].as_array();
    let is_whole = |skill: &&Value| {
        let texts = ["id", "name", "description"].iter().all(|name| skill[*name].is_string());
        texts && skill["tags"].as_array().is_some_and(|tags| tags.iter().all(Value::is_string))
    };
    let wrong = all.into_iter().flatten().filter(|skill| !is_whole(skill));
    found.card.none_wrong(wrong.map(|skill| format!("`{}` is not whole", skill["id"])).collect())
}

async fn skill_ids(found: &A2aCard) -> Verdict {
    let ids: Vec<&Value> = found.card["skills"].as_array().into_iter().flatten().map(|skill| &skill["id"]).collect();
    let twice = ids.iter().enumerate().filter(|(at, id)| ids[..*at].contains(id));
    found.card.none_wrong(twice.map(|(_, id)| format!("{id} is there twice")).collect())
}

async fn capabilities(found: &A2aCard) -> Verdict {
    let capabilities = &found.card["capabilities"];
    let names = ["streaming", "pushNotifications", "stateTransitionHistory", "extendedAgentCard"];
    let is_wrong = |name: &&&str| !(capabilities[**name].is_null() || capabilities[**name].is_boolean());
    let mut wrong: Vec<String> =
        names.iter().filter(is_wrong).map(|name| format!("{name} is neither true nor false")).collect();
    let extensions = capabilities["extensions"].as_array().into_iter().flatten();
    let nameless = extensions.filter(|extension| !extension["uri"].is_string());
    wrong.extend(nameless.map(|extension| format!("an extension has no uri: {extension}")));
    found.card.none_wrong(wrong)
}

/// How 1.0 wraps a scheme, and how 0.3 types it.
const SCHEMES: [(&str, &str); 5] = [
    ("apiKeySecurityScheme", "apiKey"),
    ("httpAuthSecurityScheme", "http"),
    ("oauth2SecurityScheme", "oauth2"),
    ("openIdConnectSecurityScheme", "openIdConnect"),
    ("mtlsSecurityScheme", "mutualTLS"),
];

async fn schemes(found: &A2aCard) -> Verdict {
    let card = &found.card;
    let declared = card["securitySchemes"].as_object();
    let is_known =
        |scheme: &Value| SCHEMES.iter().any(|(wrapper, kind)| scheme[*wrapper].is_object() || scheme["type"] == *kind);
    let unknown = declared.into_iter().flatten().filter(|(_, scheme)| !is_known(scheme));
    let mut wrong: Vec<String> = unknown.map(|(name, _)| format!("{name} is none of the five")).collect();
    let of = |list: &str| card[list].as_array().cloned().unwrap_or_default();
    let names = |requirement: Value| match &requirement["schemes"] {
        Value::Object(schemes) => schemes.keys().cloned().collect::<Vec<_>>(),
        _ => requirement.as_object().into_iter().flat_map(|schemes| schemes.keys().cloned()).collect(),
    };
    let required = of("securityRequirements").into_iter().chain(of("security")).flat_map(names);
    let undeclared = required.filter(|name| declared.is_none_or(|all| !all.contains_key(name)));
    wrong.extend(undeclared.map(|name| format!("{name} is required and not declared")));
    card.none_wrong(wrong)
}

async fn twins(found: &A2aCard) -> Verdict {
    let snakes = [
        "input_modes",
        "output_modes",
        "default_input_modes",
        "default_output_modes",
        "supported_interfaces",
        "security_schemes",
        "documentation_url",
    ];
    let skills = found.card["skills"].as_array().into_iter().flatten();
    let wrong = std::iter::once(&*found.card).chain(skills).flat_map(|place| {
        snakes.iter().filter(|name| place.get(**name).is_some()).map(|name| format!("there is {name}"))
    });
    found.card.none_wrong(wrong.collect())
}

async fn caching(found: &A2aCard) -> Verdict {
    let exchange = found.anonymous(Draft::get(CARD_PATH)).await?;
    match ["Cache-Control", "ETag"].into_iter().find(|name| exchange.field(name).is_none()) {
        Some(name) => Err(exchange.wrong(format!("there is no {name}"))),
        None => Ok(()),
    }
}
