//! Settings without their secrets. What could be one is none of anybody's who looks: rather one value too many is
//! masked than one too few.

use toml::{Table, Value};

/// What stands in the place of a secret.
const MASK: &str = "••••••";
/// Parts of a key's name that make its value a secret.
const SECRET_WORDS: [&str; 11] = [
    "token",
    "secret",
    "password",
    "passphrase",
    "passwd",
    "credential",
    "webhook",
    "authorization",
    "cookie",
    "auth",
    "signature",
];
/// Tables all of whose values may be secrets.
const SECRET_TABLES: [&str; 3] = ["headers", "env", "environment"];

/// The settings in `text`, written anew without comments, which may hold what was set once.
pub(crate) fn masked(text: &str) -> String {
    match text.parse::<Table>() {
        Ok(mut table) => {
            mask_table(&mut table, false);
            toml::to_string_pretty(&table).unwrap_or_default()
        }
        // Whatever it is, it may have secrets in it.
        Err(error) => format!("# it is not TOML any more: {}\n", error.message()),
    }
}

fn mask_table(table: &mut Table, is_secret: bool) {
    for (key, value) in table.iter_mut() {
        mask(value, is_secret || is_secret_name(key));
    }
}

fn mask(value: &mut Value, is_secret: bool) {
    match value {
        Value::String(text) if is_variable(text) => {}
        Value::String(text) if is_secret => MASK.clone_into(text),
        Value::String(text) => {
            if let Some(masked) = without_userinfo(text) {
                *text = masked;
            }
        }
        // A PIN or a numeric token is a secret too.
        Value::Integer(_) if is_secret => *value = Value::String(MASK.to_owned()),
        Value::Array(values) => values.iter_mut().for_each(|value| mask(value, is_secret)),
        Value::Table(table) => mask_table(table, is_secret),
        _ => {}
    }
}

fn is_secret_name(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let is_key = key == "key" || key.ends_with("_key") || key.ends_with("-key") || key.ends_with("apikey");
    // What says how many or how long is none, though it is about tokens.
    let is_about = ["_max", "_seconds", "_file", "_env", "_ttl", "max_"].iter().any(|part| key.contains(part));
    !is_about && (is_key || SECRET_WORDS.iter().any(|word| key.contains(word)) || SECRET_TABLES.contains(&key.as_str()))
}

/// Whether it is a variable and nothing else: where a secret comes from is no secret.
fn is_variable(text: &str) -> bool {
    text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).is_some_and(|name| !name.contains(['$', '}']))
}

/// A URL with a user in it, without what proves that it is that user; `None` when there is nothing to mask.
fn without_userinfo(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (user, host) = rest[..end].rsplit_once('@')?;
    let name = user.split(':').next().unwrap_or_default();
    let secret = user.split_once(':').map_or("", |(_, secret)| secret);
    let kept = if is_variable(secret) || secret.is_empty() { secret } else { MASK };
    let joint = if kept.is_empty() { "" } else { ":" };
    Some(format!("{scheme}://{name}{joint}{kept}@{host}{}", &rest[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_a_secret_is_masked_and_where_it_comes_from_is_not() {
        let text = r#"
            # token = "commented-secret"
            domain = "demo.localhost"
            [admin]
            token = "open-sesame-1"
            webhook = "https://hooks.example/open-sesame-2"
            webhook_secret = "${HOOK}"
            [store]
            url = "postgres://forecourt:open-sesame-3@db/forecourt?x=1"
            key = "open-sesame-4"
            [bus]
            url = "nats://user:${NATS}@a:4222"
            [[keys]]
            api_key = ["open-sesame-5", "${KEY}"]
            [backend.headers]
            X-Any = "open-sesame-6"
            [limits]
            tokens_max = 5
        "#;
        let shown = masked(text);
        assert!(!shown.contains("sesame") && !shown.contains("commented"), "{shown}");
        for kept in ["demo.localhost", "${HOOK}", "forecourt:••••••@db/forecourt?x=1", "user:${NATS}@a:4222", "${KEY}"]
        {
            assert!(shown.contains(kept), "{kept}: {shown}");
        }
        assert!(shown.contains("tokens_max = 5"), "{shown}");
    }

    #[test]
    fn what_can_not_be_read_is_not_shown() {
        let shown = masked("token = \"open-sesame");
        assert!(!shown.contains("sesame") && shown.starts_with("# it is not TOML"), "{shown}");
    }
}
