//! What a service says of a failure, as a caller may learn it: one line, without addresses and secrets.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_contract::endpoint::ExternalService;
use serde_json::Value;

use crate::limits::REASON_CHARS_MAX;

/// Where services put a sentence for people, the likeliest first. RFC 9457 3.1 and custom.
const PLACES: [&str; 14] = [
    "/error/message",
    "/message",
    "/detail",
    "/error_description",
    "/error/detail",
    "/errors/0/message",
    "/errors/0/detail",
    "/error/errors/0",
    "/errors/0",
    "/error",
    "/reason",
    "/title",
    "/description",
    "/fault/faultstring",
];

/// Characters of a part of a header field that may be a secret; what is shorter is a common word.
const SECRET_CHARS_MIN: usize = 6;

/// How the reasons of one service are told.
pub(super) struct Reasons {
    /// What must not be in one.
    secrets: Vec<String>,
    host: String,
}

impl std::fmt::Debug for Reasons {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reasons")
    }
}

impl Reasons {
    /// The reasons of a service, whose header fields and address stay here.
    pub(super) fn new(service: &ExternalService) -> Reasons {
        let is_plain = |name: &str| ["accept", "content-type"].contains(&name.to_ascii_lowercase().as_str());
        let values = service.headers.0.iter().filter(|(name, _)| !is_plain(name)).map(|(_, value)| value.as_str());
        let (address, query) = service.url.split_once('?').unwrap_or((&service.url, ""));
        let mut secrets: Vec<String> = values.chain([query]).flat_map(parts).collect();
        secrets.retain(|secret| secret.chars().count() >= SECRET_CHARS_MIN);
        let host = address.split("://").nth(1).unwrap_or_default().split(['/', ':']).next().unwrap_or_default();
        Reasons { secrets, host: host.to_ascii_lowercase() }
    }

    /// The reason in the body of an answer. `None`: there is none, or it holds what must not get out.
    pub(super) fn of(&self, body: &[u8]) -> Option<String> {
        let value: Value = forecourt_core::json::parse(body).ok()?;
        let said =
            PLACES.iter().filter_map(|place| value.pointer(place)?.as_str()).find(|text| !text.trim().is_empty())?;
        // The whole reason goes, not the secret alone: what stands around it may tell it just as well.
        if self.secrets.iter().any(|secret| said.contains(secret.as_str())) {
            return None;
        }
        let words = said.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
        let line = words.map(|word| self.shown(word)).collect::<Vec<_>>().join(" ");
        Some(match line.char_indices().nth(REASON_CHARS_MAX) {
            Some((end, _)) => format!("{}…", line[..end].trim_end()),
            None => line,
        })
    }

    /// A word, unless it is an address.
    fn shown<'a>(&self, word: &'a str) -> &'a str {
        let bare = word.trim_start_matches(['(', '"', '\'', '<', '[', '`']);
        let is_address = bare.starts_with('/') || word.contains("://");
        let is_host = !self.host.is_empty() && word.to_ascii_lowercase().contains(&self.host);
        if is_address || is_host { "…" } else { word }
    }
}

/// What of a header field or a query may be a secret: the whole, its words, and what is in base64 in it.
fn parts(value: &str) -> Vec<String> {
    let words = value.split([' ', ';', ',', '=', '&', ':']).map(str::trim);
    // `Authorization: Basic …` holds the name and the password in base64, and services repeat them decoded.
    let hidden = value.split(' ').filter_map(|word| String::from_utf8(STANDARD.decode(word).ok()?).ok());
    let hidden: Vec<String> = hidden.flat_map(|text| text.split(':').map(str::to_owned).collect::<Vec<_>>()).collect();
    [value.trim()].into_iter().chain(words).map(str::to_owned).chain(hidden).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn reasons() -> Reasons {
        let headers = [("Authorization", "Basic dXNlcjpodW50ZXIyMg=="), ("Accept", "application/json")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let service = ExternalService {
            address_bytes_max: 8_192,
            answer_bytes_max: 1_048_576,
            url: "https://api.internal.example:8443/v1/{id}?key=abcdefg".to_owned(),
            method: "GET".to_owned(),
            headers: forecourt_contract::endpoint::Headers(BTreeMap::from(headers)),
            input_transform: BTreeMap::new(),
            styles: BTreeMap::new(),
            body: None,
            answer: Default::default(),
            passes_reasons: true,
            output_transform: BTreeMap::new(),
            error_map: BTreeMap::new(),
            timeout: std::time::Duration::from_secs(1),
        };
        Reasons::new(&service)
    }

    #[test]
    fn a_sentence_is_found_where_services_put_it() {
        for (body, reason) in [
            (
                r#"{"error": {"type": "card_error", "message": "Your card\n was declined."}}"#,
                Some("Your card was declined."),
            ),
            (r#"{"code": 20404, "message": "Not found", "status": 404}"#, Some("Not found")),
            (r#"{"type": "about:blank", "title": "Gone", "detail": "It was removed."}"#, Some("It was removed.")),
            (r#"{"errors": ["Title can't be blank"]}"#, Some("Title can't be blank")),
            (r#"{"error": "invalid_grant", "error_description": "Expired."}"#, Some("Expired.")),
            (r#"{"message": "application/json is wanted"}"#, Some("application/json is wanted")),
            (r#"{"message": 7}"#, None),
            (r#"{"message": " "}"#, None),
            ("[]", None),
            ("<html>", None),
        ] {
            assert_eq!(reasons().of(body.as_bytes()).as_deref(), reason, "{body}");
        }
        let long = format!("{{\"message\": \"{}\"}}", "x".repeat(REASON_CHARS_MAX + 1));
        assert_eq!(reasons().of(long.as_bytes()).unwrap().chars().count(), REASON_CHARS_MAX + 1, "cut, with a mark");
    }

    #[test]
    fn addresses_and_secrets_stay_here() {
        for secret in ["hunter22", "dXNlcjpodW50ZXIyMg==", "abcdefg"] {
            assert_eq!(reasons().of(format!("{{\"message\": \"no such key {secret}\"}}").as_bytes()), None, "{secret}");
        }
        let body = r#"{"message": "GET /v1/7 of API.internal.example failed (https://x.example/docs)"}"#;
        assert_eq!(reasons().of(body.as_bytes()).as_deref(), Some("GET … of … failed …"));
    }
}
