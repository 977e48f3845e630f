//! Public vectors through the whole server.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

use super::support::{body, server};

#[derive(Deserialize)]
struct RawCase {
    id: String,
    raw_b64: String,
    expect_status: Vec<u16>,
    close: bool,
}

#[tokio::test(start_paused = true)]
async fn base_2_1_whatever_comes_has_one_answer_and_closes_where_the_boundary_is_lost() {
    let Some(bytes) = forecourt_testkit::vectors("agtp-raw/cases.json") else { return };
    let cases: Vec<RawCase> = serde_json::from_slice(&bytes).unwrap();
    let server = server("").await;
    for case in cases {
        let mut client = server.connect();
        client.send(&STANDARD.decode(&case.raw_b64).unwrap()).await;
        let answer = client.hear().await.unwrap_or_else(|| panic!("{}: no answer", case.id));
        assert!(case.expect_status.contains(&answer.start.code), "{}: {}", case.id, answer.start.code);
        assert!(answer.field("Server-ID").is_some() && answer.field("Response-ID").is_some(), "{}", case.id);
        if answer.start.code != 200 {
            assert!(body(&answer)["error"]["code"].is_string(), "{}", case.id);
        }
        if case.close {
            // What was smuggled behind it is not answered, though a whole request before it is.
            let mut next = client.hear().await;
            if case.id == "agtp-cl-missing-with-body" {
                assert_eq!(next.as_ref().map(|next| next.start.code), Some(400));
                next = client.hear().await;
            }
            assert!(next.is_none(), "{}: also {:?}", case.id, next.map(|next| next.start));
        } else if case.id != "agtp-ok-pipelined" {
            client.say("QUERY /a//b", "").await;
            assert_eq!(client.hear().await.unwrap().start.code, 404, "{}", case.id);
        }
    }
}

#[derive(Deserialize)]
struct JsonCase {
    id: String,
    json: String,
    expect: String,
}

#[tokio::test]
async fn base_2_2_hostile_json_is_read_or_refused() {
    let Some(bytes) = forecourt_testkit::vectors("json-hostile/cases.json") else { return };
    let cases: Vec<JsonCase> = serde_json::from_slice(&bytes).unwrap();
    let server = server("").await;
    for case in cases {
        let answer = server.ask_as_chef("FETCH /rooms/7", &case.json).await;
        let code = answer.start.code;
        let is_object = serde_json::from_str::<Value>(&case.json).is_ok_and(|value| value.is_object());
        match case.expect.trim_end_matches("-fast") {
            "reject" if !case.json.is_empty() => assert_eq!(code, 400, "{}", case.id),
            "accept" if is_object => assert_eq!(code, 422, "{}: unknown keys", case.id),
            _ => assert!(matches!(code, 200 | 400 | 422), "{}: {code}", case.id),
        }
    }
}
