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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::{schema, transcode};
    use crate::model::Version::V0_3;

    /// `card` as a client reads it from the message.
    fn read(card: Value) -> Value {
        let kind = schema::Rpc::find(V0_3, "GetAgentCard").expect("there is such a method").output;
        let message = transcode::write(&kind, to_proto(card)).expect("it fits");
        serde_json::to_value(message).expect("it is JSON")
    }

    #[test]
    fn each_security_scheme_is_wrapped_by_its_type() {
        let flat = json!({"securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "x-key"},
            "http": {"type": "http", "scheme": "Bearer", "bearerFormat": "JWT"},
            "oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "u", "scopes": {"a": "b"}}}},
            "oidc": {"type": "openIdConnect", "openIdConnectUrl": "u"},
            "tls": {"type": "mutualTLS", "description": "d"},
            "later": {"type": "later"},
        }});
        let wrapped = json!({"securitySchemes": {
            "key": {"apiKeySecurityScheme": {"location": "header", "name": "x-key"}},
            "http": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
            "oauth": {"oauth2SecurityScheme":
                {"flows": {"clientCredentials": {"tokenUrl": "u", "scopes": {"a": "b"}}}}},
            "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "u"}},
            "tls": {"mtlsSecurityScheme": {"description": "d"}},
            "later": {},
        }});
        assert_eq!(read(flat), wrapped);
    }

    #[test]
    fn a_card_for_both_versions_has_its_schemes_wrapped_already() {
        let scheme = json!({"httpAuthSecurityScheme": {"scheme": "Bearer"}});
        let mut both = scheme.clone();
        both["type"] = "http".into();
        both["scheme"] = "Bearer".into();
        assert_eq!(read(json!({"securitySchemes": {"b": both}})), json!({"securitySchemes": {"b": scheme}}));
    }

    #[test]
    fn requirements_are_wrapped_on_the_card_and_on_its_skills() {
        let flat = json!([{"a": ["x"], "b": []}, {}]);
        let wrapped = json!([{"schemes": {"a": {"list": ["x"]}, "b": {}}}, {}]);
        let card = json!({"security": flat, "skills": [{"id": "s", "security": flat}, {"id": "t"}]});
        let expected = json!({"security": wrapped, "skills": [{"id": "s", "security": wrapped}, {"id": "t"}]});
        assert_eq!(read(card), expected);
    }

    #[test]
    fn what_is_no_card_stays_what_it_is() {
        for odd in [json!(null), json!({"security": {}, "securitySchemes": [], "skills": 1}), json!({"security": [1]})]
        {
            assert_eq!(to_proto(odd.clone()), odd);
        }
    }
}
