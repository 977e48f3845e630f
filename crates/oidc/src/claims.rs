//! What a provider says of a person, read with care. OpenID Connect Core 5.1, 5.7.

use serde_json::{Map, Value};

/// The address of mail, where the provider says that it has verified it. One that nobody verified is anybody's.
pub fn verified_address(claims: &Map<String, Value>) -> Option<&str> {
    let is_verified = match claims.get("email_verified")? {
        Value::Bool(verified) => *verified,
        // Some providers write it so.
        Value::String(text) => text == "true",
        _ => false,
    };
    claims.get("email")?.as_str().filter(|_| is_verified)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn core5_7_an_address_counts_that_the_provider_has_verified() {
        let read = |claims: Value| verified_address(claims.as_object().unwrap()).map(str::to_owned);
        for verified in [json!(true), json!("true")] {
            assert_eq!(read(json!({"email": "a@b.c", "email_verified": verified})), Some("a@b.c".to_owned()));
        }
        for not in [json!(false), json!("false"), json!("yes"), json!(1), Value::Null] {
            assert_eq!(read(json!({"email": "a@b.c", "email_verified": not})), None);
        }
        assert_eq!(read(json!({"email": "a@b.c"})), None);
        assert_eq!(read(json!({"email": ["a@b.c"], "email_verified": true})), None);
    }
}
