//! What a signature over a card covers: the fields that a verifier of its version knows. Everything
//! else is dropped before signing and before verifying, and so are empties.

use forecourt_core::json;
use serde_json::{Map, Value};

/// Whose fields a signature covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureScope {
    /// Those of 1.0: the message `AgentCard` of its protocol buffers.
    V1_0,
    /// Those of 0.3.
    V0_3,
}

impl SignatureScope {
    /// The bytes that are signed; `None` when nothing of the card is covered, or when it can't be
    /// written canonically.
    pub(crate) fn payload(self, card: &Value) -> Option<Vec<u8>> {
        match self {
            Self::V1_0 => json::canonical(&project(card, &CARD_1_0)?).ok(),
            // The one verifier there is for 0.3 escapes as its JSON library does.
            Self::V0_3 => Some(ascii(&json::canonical_text(&project(card, &CARD_0_3)?).ok()?).into_bytes()),
        }
    }
}

/// What a field holds, as far as it matters for what is dropped.
enum Shape {
    /// Anything: only what is empty in it is dropped.
    Any,
    /// Something that is dropped when it is what its absence means.
    Unless(&'static str),
    /// A flag whose absence means false.
    Flag,
    List(&'static Shape),
    /// Free names.
    Map(&'static Shape),
    /// Known names.
    Fields(&'static [(&'static str, Shape)]),
    /// A security scheme of 1.0, rebuilt from the spelling of 0.3 where that is there, as the parsers
    /// that read both do.
    Scheme,
}

use Shape::{Any, Fields, Flag, List, Scheme, Unless};

static CARD_1_0: Shape = Fields(&[
    ("name", Any),
    ("description", Any),
    ("supportedInterfaces", List(&INTERFACE_1_0)),
    ("provider", PROVIDER),
    ("version", Any),
    ("documentationUrl", Any),
    ("capabilities", CAPABILITIES_1_0),
    ("securitySchemes", Shape::Map(&Scheme)),
    ("securityRequirements", List(&REQUIREMENT_1_0)),
    ("defaultInputModes", Any),
    ("defaultOutputModes", Any),
    ("skills", List(&SKILL_1_0)),
    ("iconUrl", Any),
]);
static INTERFACE_1_0: Shape =
    Fields(&[("url", Any), ("protocolBinding", Any), ("tenant", Any), ("protocolVersion", Any)]);
const PROVIDER: Shape = Fields(&[("url", Any), ("organization", Any)]);
const CAPABILITIES_1_0: Shape = Fields(&[
    ("streaming", Any),
    ("pushNotifications", Any),
    ("extensions", List(&EXTENSION_1_0)),
    ("extendedAgentCard", Any),
]);
static EXTENSION_1_0: Shape = Fields(&[("uri", Any), ("description", Any), ("required", Flag), ("params", Any)]);
static REQUIREMENT_1_0: Shape = Fields(&[("schemes", Shape::Map(&STRINGS))]);
static STRINGS: Shape = Fields(&[("list", Any)]);
static SKILL_1_0: Shape = Fields(&[
    ("id", Any),
    ("name", Any),
    ("description", Any),
    ("tags", Any),
    ("examples", Any),
    ("inputModes", Any),
    ("outputModes", Any),
    ("securityRequirements", List(&REQUIREMENT_1_0)),
]);
static SCHEME_1_0: Shape = Fields(&[
    ("apiKeySecurityScheme", Fields(&[("description", Any), ("location", Any), ("name", Any)])),
    ("httpAuthSecurityScheme", Fields(&[("description", Any), ("scheme", Any), ("bearerFormat", Any)])),
    ("oauth2SecurityScheme", Fields(&[("description", Any), ("flows", FLOWS_1_0), ("oauth2MetadataUrl", Any)])),
    ("openIdConnectSecurityScheme", Fields(&[("description", Any), ("openIdConnectUrl", Any)])),
    ("mtlsSecurityScheme", Fields(&[("description", Any)])),
]);
const FLOWS_1_0: Shape = Fields(&[
    ("authorizationCode", FLOW_1_0),
    ("clientCredentials", FLOW_1_0),
    ("implicit", FLOW_1_0),
    ("password", FLOW_1_0),
    ("deviceCode", FLOW_1_0),
]);
const FLOW_1_0: Shape = Fields(&[
    ("authorizationUrl", Any),
    ("deviceAuthorizationUrl", Any),
    ("tokenUrl", Any),
    ("refreshUrl", Any),
    ("scopes", Any),
    ("pkceRequired", Flag),
]);

static CARD_0_3: Shape = Fields(&[
    ("additionalInterfaces", List(&INTERFACE_0_3)),
    ("capabilities", CAPABILITIES_0_3),
    ("defaultInputModes", Any),
    ("defaultOutputModes", Any),
    ("description", Any),
    ("documentationUrl", Any),
    ("iconUrl", Any),
    ("name", Any),
    ("preferredTransport", Unless("JSONRPC")),
    ("protocolVersion", Unless("0.3.0")),
    ("provider", PROVIDER),
    ("security", Any),
    ("securitySchemes", Shape::Map(&SCHEME_0_3)),
    ("skills", List(&SKILL_0_3)),
    ("supportsAuthenticatedExtendedCard", Any),
    ("url", Any),
    ("version", Any),
]);
static INTERFACE_0_3: Shape = Fields(&[("transport", Any), ("url", Any)]);
const CAPABILITIES_0_3: Shape = Fields(&[
    ("extensions", List(&EXTENSION_0_3)),
    ("pushNotifications", Any),
    ("stateTransitionHistory", Any),
    ("streaming", Any),
]);
static EXTENSION_0_3: Shape = Fields(&[("description", Any), ("params", Any), ("required", Any), ("uri", Any)]);
static SKILL_0_3: Shape = Fields(&[
    ("description", Any),
    ("examples", Any),
    ("id", Any),
    ("inputModes", Any),
    ("name", Any),
    ("outputModes", Any),
    ("security", Any),
    ("tags", Any),
]);
/// The fields of all five kinds of security schemes. `type`, which tells them apart, is not covered: in each class of
/// the verifier it is the default, and defaults are left out.
static SCHEME_0_3: Shape = Fields(&[
    ("bearerFormat", Any),
    ("description", Any),
    ("flows", Any),
    ("in", Any),
    ("name", Any),
    ("oauth2MetadataUrl", Any),
    ("openIdConnectUrl", Any),
    ("scheme", Any),
]);

/// The kinds of security schemes: in 0.3 by `type`, in 1.0 by the name of the one member.
pub(crate) const SCHEME_KINDS: [(&str, &str); 5] = [
    ("apiKey", "apiKeySecurityScheme"),
    ("http", "httpAuthSecurityScheme"),
    ("oauth2", "oauth2SecurityScheme"),
    ("openIdConnect", "openIdConnectSecurityScheme"),
    ("mutualTLS", "mtlsSecurityScheme"),
];

/// What is left of `value`; `None` when nothing is.
fn project(value: &Value, shape: &Shape) -> Option<Value> {
    // Verifiers parse a card into their own type and write that again before they verify: unknown fields, empties and
    // defaults are gone by then. Whatever they drop must be dropped here, or no signature holds.
    match (shape, value) {
        (Any, value) => filled(value),
        (Unless(default), Value::String(text)) => (text != default).then(|| filled(value))?,
        (Flag, Value::Bool(flag)) => flag.then(|| value.clone()),
        (List(of), Value::Array(items)) => {
            let items: Vec<Value> = items.iter().filter_map(|item| project(item, of)).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        (Shape::Map(of), Value::Object(entries)) => {
            object(entries.iter().filter_map(|(name, entry)| Some((name.clone(), project(entry, of)?))))
        }
        (Fields(known), Value::Object(fields)) => object(
            known.iter().filter_map(|(name, shape)| Some(((*name).to_owned(), project(fields.get(*name)?, shape)?))),
        ),
        (Scheme, Value::Object(scheme)) => project(&rebuilt(scheme), &SCHEME_1_0),
        _ => None,
    }
}

/// The scheme as 1.0 spells it.
fn rebuilt(scheme: &Map<String, Value>) -> Value {
    let kind = scheme.get("type").and_then(Value::as_str);
    let Some((_, member)) = SCHEME_KINDS.iter().find(|(name, _)| Some(*name) == kind) else {
        return Value::Object(scheme.clone());
    };
    let mut inner = scheme.clone();
    if let Some(place) = inner.remove("in") {
        inner.insert("location".to_owned(), place);
    }
    Value::Object(Map::from_iter([((*member).to_owned(), Value::Object(inner))]))
}

/// The value without what is empty in it.
fn filled(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then(|| value.clone()),
        Value::Array(items) => {
            let items: Vec<Value> = items.iter().filter_map(filled).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(fields) => object(fields.iter().filter_map(|(name, field)| Some((name.clone(), filled(field)?)))),
        Value::Bool(_) | Value::Number(_) => Some(value.clone()),
    }
}

fn object(fields: impl Iterator<Item = (String, Value)>) -> Option<Value> {
    let fields: Map<String, Value> = fields.collect();
    (!fields.is_empty()).then_some(Value::Object(fields))
}

/// The same JSON with everything beyond printable ASCII escaped.
fn ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut units = [0u16; 2];
    for c in json.chars() {
        // Python's `json` with `ensure_ascii` escapes all but space to `~`, so DEL too, and other planes as two
        // surrogates.
        if c < '\u{7f}' {
            text.push(c);
        } else {
            for unit in c.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn payload(covered: SignatureScope, card: Value) -> String {
        String::from_utf8(covered.payload(&card).unwrap()).unwrap()
    }

    #[test]
    fn what_a_version_does_not_know_is_dropped() {
        let card = json!({"name": "n", "url": "https://a.example", "protocolVersion": "0.3.1", "x": 1,
                          "supportedInterfaces": [{"url": "u", "x": 1}], "signatures": [{}]});
        assert_eq!(payload(SignatureScope::V1_0, card.clone()), r#"{"name":"n","supportedInterfaces":[{"url":"u"}]}"#);
        let expected = r#"{"name":"n","protocolVersion":"0.3.1","url":"https://a.example"}"#;
        assert_eq!(payload(SignatureScope::V0_3, card), expected);
    }

    #[test]
    fn what_absence_would_mean_too_is_dropped() {
        let card = json!({"name": "n", "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC",
                          "capabilities": {"streaming": false, "extensions": [{"uri": "u", "required": false}]}});
        let expected = r#"{"capabilities":{"extensions":[{"uri":"u"}],"streaming":false},"name":"n"}"#;
        assert_eq!(payload(SignatureScope::V1_0, card.clone()), expected);
        let expected = r#"{"capabilities":{"extensions":[{"required":false,"uri":"u"}],"streaming":false},"name":"n"}"#;
        assert_eq!(payload(SignatureScope::V0_3, card), expected);
    }

    #[test]
    fn a_scheme_is_rebuilt_from_the_spelling_of_0_3_where_that_is_there() {
        let scheme = json!({"type": "apiKey", "in": "header", "name": "k", "apiKeySecurityScheme": {"name": "other"}});
        let card = json!({"securitySchemes": {"s": scheme}});
        let expected = r#"{"securitySchemes":{"s":{"apiKeySecurityScheme":{"location":"header","name":"k"}}}}"#;
        assert_eq!(payload(SignatureScope::V1_0, card.clone()), expected);
        assert_eq!(payload(SignatureScope::V0_3, card), r#"{"securitySchemes":{"s":{"in":"header","name":"k"}}}"#);
    }

    #[test]
    fn text_beyond_ascii_is_escaped_for_0_3_alone() {
        let card = json!({"name": "K\u{fc}rbis \u{1f383} \u{7f} \u{1}\n\"\\/"});
        assert_eq!(
            payload(SignatureScope::V1_0, card.clone()),
            "{\"name\":\"K\u{fc}rbis \u{1f383} \u{7f} \\u0001\\n\\\"\\\\/\"}"
        );
        let expected = r#"{"name":"K\u00fcrbis \ud83c\udf83 \u007f \u0001\n\"\\/"}"#;
        assert_eq!(payload(SignatureScope::V0_3, card), expected);
    }

    #[test]
    fn nothing_is_covered_of_nothing() {
        for card in [json!(null), json!([]), json!({}), json!({"x": 1}), json!({"name": ""})] {
            assert_eq!(SignatureScope::V1_0.payload(&card), None, "{card}");
            assert_eq!(SignatureScope::V0_3.payload(&card), None, "{card}");
        }
    }
}
