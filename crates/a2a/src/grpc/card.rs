//! The extended card as 0.3 has it in its protocol buffers: the same members, but two of them
//! spelt as 1.0 does.

use serde_json::{Map, Value, json};

/// A card in the JSON form of 0.3, in the JSON form of its protocol buffers. Lists of requirements
/// become objects with `schemes`, and a flat security scheme gets a wrapper that names its type.
pub(super) fn to_proto(mut card: Value) -> Value {
    if let Some(schemes) = card.get_mut("securitySchemes").and_then(Value::as_object_mut) {
        schemes.values_mut().for_each(wrap);
    }
    requirements(&mut card);
    if let Some(skills) = card.get_mut("skills").and_then(Value::as_array_mut) {
        skills.iter_mut().for_each(requirements);
    }
    card
}

/// `[{"name": ["scope"]}]` to `[{"schemes": {"name": {"list": ["scope"]}}}]`.
fn requirements(owner: &mut Value) {
    let Some(all) = owner.get_mut("security").and_then(Value::as_array_mut) else { return };
    for one in all {
        let Some(schemes) = one.as_object() else { continue };
        let listed = |(name, scopes): (&String, &Value)| (name.clone(), json!({"list": scopes}));
        *one = json!({"schemes": schemes.iter().map(listed).collect::<Map<_, _>>()});
    }
}

/// The flat form inside a member that names its type. A scheme that has such a member already, as
/// cards for both versions do, keeps nothing else.
fn wrap(scheme: &mut Value) {
    let Some(flat) = scheme.as_object_mut() else { return };
    if let Some(found) = WRAPPERS.iter().find_map(|(_, wrapper)| flat.remove_entry(*wrapper)) {
        *flat = Map::from_iter([found]);
        return;
    }
    let kind = flat.remove("type");
    let named = WRAPPERS.iter().find(|(name, _)| kind.as_ref().is_some_and(|kind| kind == name));
    let Some((_, wrapper)) = named else { return };
    if let Some(place) = flat.remove("in") {
        flat.insert("location".to_owned(), place);
    }
    *scheme = json!({*wrapper: flat});
}

const WRAPPERS: [(&str, &str); 5] = [
    ("apiKey", "apiKeySecurityScheme"),
    ("http", "httpAuthSecurityScheme"),
    ("oauth2", "oauth2SecurityScheme"),
    ("openIdConnect", "openIdConnectSecurityScheme"),
    ("mutualTLS", "mtlsSecurityScheme"),
];
