//! Fields in and out: nothing that a caller writes makes a new one. Security sheet, section 8.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::HeaderValue;
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use crate::support::{echo, get};

#[tokio::test]
async fn hostile_values_never_reach_a_field() {
    let Some(bytes) = forecourt_testkit::vectors("headers/injection.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    let place = echo().await;
    for case in cases {
        let value = STANDARD.decode(case["value_b64"].as_str().unwrap()).unwrap();
        let encoded: String = byte_serialize(&value).collect();
        let mut requests = vec![
            get(&format!("/~echo?user=a&session={encoded}")),
            get(&format!("/~echo?user=a&lang={encoded}")),
            get(&format!("/~echo?{encoded}=a")),
        ];
        // What no HTTP server would pass on can't be put into a request here either.
        if let Ok(field) = HeaderValue::from_bytes(&value) {
            for name in ["accept", "accept-language", "prefer", "origin", "x-mentionable-from", "mentionable-identity"]
            {
                requests.push(get("/~echo?user=a").header(name, field.clone()));
            }
        }
        for request in requests {
            let answer = place.send(request).await;
            assert!(answer.status.as_u16() < 500, "{case}");
            let known = ["set-cookie", "location", "x-injected", "folded"];
            assert!(known.iter().all(|name| !answer.headers.contains_key(*name)), "{case}");
            let clean = |value: &HeaderValue| value.as_bytes().iter().all(|b| (0x20..0x7f).contains(b));
            assert!(answer.headers.values().all(clean), "{case}");
            answer.has_required_fields("@echo@demo.localhost");
        }
    }
}

#[tokio::test]
async fn hostile_paths_make_no_field() {
    let Some(bytes) = forecourt_testkit::vectors("headers/crlf-paths.json") else { return };
    let paths: Vec<String> = serde_json::from_slice(&bytes).unwrap();
    let place = echo().await;
    for path in paths {
        for path in [format!("/~{}", &path[1..]), format!("/tasks{path}"), format!("/~echo?user={}", &path[1..])] {
            let Ok(uri) = path.parse::<http::Uri>() else { continue };
            let answer = place.send(get(&uri.to_string())).await;
            assert!(answer.status.as_u16() < 500 && !answer.headers.contains_key("set-cookie"), "{path}");
        }
    }
}
