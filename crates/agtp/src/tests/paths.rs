//! What a request line may say, as it comes over the wire. AGTP-API 5.

use std::sync::Arc;

use forecourt_testhost::Blueprint;

use super::support::{add, blueprint, body, code, contract, definition, server, server_of};

#[tokio::test]
async fn s5_6_a_request_line_has_no_fragment() {
    let server = server("").await;
    let mut client = server.connect();
    for line in ["FETCH /rooms/7#a", "FETCH /rooms/7?n=1#a", "FETCH /#", "FETCH #", "QEURY /x/#", "FE#TCH /rooms/7"] {
        client.say(line, "").await;
        assert_eq!(code(&client.hear().await.unwrap()), (400, "invalid-request-line".to_owned()), "{line}");
    }
    client.say("FETCH /nowhere", "").await;
    assert_eq!(client.hear().await.unwrap().start.code, 404, "where the next one begins is known");
    let encoded = server.ask_as_chef("FETCH /rooms/a%23b?text=%23c", "").await;
    assert_eq!(body(&encoded)["input"], serde_json::json!({"room": "a#b", "text": "#c"}));
}

#[tokio::test]
async fn s5_7_no_prefix_is_reserved() {
    let mut contract = contract("");
    for path in ["/.well-known/agtp", "/_agtp/info"] {
        add(&mut contract, definition("FETCH", path));
    }
    let own = server_of(Blueprint { contract: Arc::new(contract), ..blueprint("") }).await;
    let bare = server("").await;
    for path in ["/.well-known/agtp", "/_agtp/info"] {
        assert_eq!(own.ask_as_chef(&format!("FETCH {path}"), "").await.start.code, 200, "{path} is the operator's");
        assert_eq!(code(&bare.ask_as_chef(&format!("FETCH {path}"), "").await).0, 404, "{path} is nobody's");
    }
}
