//! Who calls, whom, and how it is proven. Base 2.4, 6.7, 7.4.

use std::net::IpAddr;
use std::sync::Arc;

use forecourt_agtp_wire::message::Response;
use forecourt_testhost::Blueprint;

use super::support::{Server, add, blueprint, body, code, contract, definition, server, server_of};
use crate::service::ConnectionInfo;

const ELSEWHERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7));

async fn from_elsewhere(server: &Server, head: &str) -> Response {
    let mut client = server.connect_by(ConnectionInfo::new(ELSEWHERE, None));
    client.say(head, "").await;
    client.hear().await.expect("an answer")
}

#[tokio::test]
async fn base_2_4_a_name_that_nobody_knows_is_401() {
    let server = server("").await;
    let upper = server.id("chef").to_uppercase();
    for name in ["nobody", "a", &"0".repeat(64), &upper] {
        let answer = server.ask(&format!("FETCH /rooms/7\r\nAgent-ID: {name}"), "").await;
        assert_eq!(code(&answer), (401, "agent-unauthenticated".to_owned()), "{name}");
        assert_eq!(body(&answer)["error"]["reason"], "agent-unauthenticated");
        assert_eq!(answer.field("Agent-ID"), Some(name));
        let own = server.ask(&format!("DESCRIBE /\r\nAgent-ID: {name}"), "").await;
        assert_eq!(own.start.code, 401, "{name}");
    }
}

#[tokio::test]
async fn base_6_7_off_loopback_a_name_has_to_be_proven() {
    let server = server("").await;
    let head = format!("FETCH /rooms/7\r\nAgent-ID: {}\r\nAuthority-Scope: booking:room", server.id("chef"));
    assert_eq!(server.ask(&head, "").await.start.code, 200);
    assert_eq!(code(&from_elsewhere(&server, &head).await), (401, "agent-unauthenticated".to_owned()));
    // Something that is not there is not there for anybody.
    let nowhere = head.replace("/rooms/7", "/nowhere");
    assert_eq!(from_elsewhere(&server, &nowhere).await.start.code, 404);
}

#[tokio::test]
async fn base_6_7_whether_a_name_has_to_be_proven_is_a_setting() {
    let strict = server("require_verified_identity = true").await;
    let head =
        |server: &Server| format!("FETCH /rooms/7\r\nAgent-ID: {}\r\nAuthority-Scope: booking:room", server.id("chef"));
    assert_eq!(strict.ask(&head(&strict), "").await.start.code, 401);
    let open = server("require_verified_identity = false").await;
    assert_eq!(from_elsewhere(&open, &head(&open)).await.start.code, 200);
}

#[tokio::test]
async fn base_7_4_a_token_of_the_agents_name_proves_it() {
    let server = server("require_verified_identity = true").await;
    let chef = server.id("chef");
    let head = |token: &str| {
        format!("FETCH /rooms/7\r\nAgent-ID: {chef}\r\nAuthority-Scope: booking:room\r\nAuthorization: {token}")
    };
    assert_eq!(server.ask(&head(&server.mounted.token(&chef)), "").await.start.code, 200);
    assert_eq!(server.ask(&head(&server.mounted.token("somebody")), "").await.start.code, 401);
    assert_eq!(server.ask(&head(&server.mounted.token(&format!("agtp://{chef}"))), "").await.start.code, 200);
    for chosen in [format!("repo:a/b:ref:refs/heads/{chef}"), format!("users/{chef}"), format!("{chef}x")] {
        assert_eq!(server.ask(&head(&server.mounted.token(&chosen)), "").await.start.code, 401, "{chosen}");
    }
    let broken = server.ask(&head("Bearer nonsense"), "").await;
    assert_eq!(code(&broken), (401, "oauth-invalid".to_owned()));
}

#[tokio::test]
async fn base_7_4_a_token_that_does_not_hold_is_refused_without_a_name_too() {
    let server = server("[endpoints]\nscope_required = false").await;
    for path in ["FETCH /rooms/7", "DISCOVER /methods"] {
        assert_eq!(server.ask(path, "").await.start.code, 200, "{path}");
        let broken = server.ask(&format!("{path}\r\nAuthorization: Bearer nonsense"), "").await;
        assert_eq!(code(&broken), (401, "oauth-invalid".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn base_7_4_methods_may_need_a_token() {
    let server = server("[endpoints]\ntoken_required = [\"BOOK\"]").await;
    let bare = server.ask_as_chef("BOOK /rooms/7", "").await;
    assert_eq!(code(&bare), (401, "oauth-required".to_owned()));
    let token = server.mounted.token("somebody");
    let with = server.ask_as_chef(&format!("BOOK /rooms/7\r\nAuthorization: {token}"), "").await;
    assert_eq!(with.start.code, 200);
    assert_eq!(server.ask_as_chef("FETCH /rooms/7", "").await.start.code, 200);
    let action = "{\"action\": \"BOOK /rooms/7\"}";
    let around = server.ask_as_chef("EXECUTE /", action).await;
    assert_eq!(code(&around), (401, "oauth-required".to_owned()));
    let with = server.ask_as_chef(&format!("EXECUTE /\r\nAuthorization: {token}"), action).await;
    assert_eq!(with.start.code, 200);
    let unknown = server.ask("BOOK /rooms/7\r\nAgent-ID: nobody", "").await;
    assert_eq!(code(&unknown), (401, "agent-unauthenticated".to_owned()));
    assert_eq!(server.ask_as_chef("BOOK /nowhere", "").await.start.code, 404);
}

#[tokio::test]
async fn base_7_4_a_method_of_the_hosts_own_may_need_a_token() {
    let server = server("[endpoints]\ntoken_required = [\"QUERY\"]").await;
    let ask = r#"{"intent": "soup"}"#;
    assert_eq!(code(&server.ask_as_chef("QUERY /", ask).await), (401, "oauth-required".to_owned()));
    assert_eq!(code(&server.ask_as_chef("GET /", ask).await).0, 405);
    let token = server.mounted.token("somebody");
    let with = server.ask_as_chef(&format!("QUERY /\r\nAuthorization: {token}"), ask).await;
    assert_eq!(with.start.code, 200);
}

#[tokio::test]
async fn base_1_an_agent_has_a_path() {
    let server = server("").await;
    let by_name = |name: &str| format!("NOTIFY /agents/{name}");
    let (chef, gate) = (server.id("chef"), server.id("gate"));
    let missing = server.ask(&by_name("nobody"), "").await;
    assert_eq!(code(&missing), (404, "agent-handle-not-found".to_owned()));
    let moved = server.ask(&by_name("gate.agent"), "").await;
    assert_eq!((moved.start.code, moved.field("Location")), (301, Some("/agents/gate")));
    let other = server.ask(&format!("{}\r\nAgent-ID: {chef}", by_name("GATE")), "").await;
    assert_eq!(code(&other), (401, "agent-identity-mismatch".to_owned()));
    for name in ["gate", "GATE"] {
        let same = server.ask(&format!("{}\r\nAgent-ID: {gate}", by_name(name)), "").await;
        assert!(!matches!(same.start.code, 401 | 404), "{name}: {:?}", same.start);
    }
}

#[tokio::test]
async fn base_2_4_an_owner_that_differs_is_refused() {
    let server = server("").await;
    let chef = server.service.agents.of_name("chef").unwrap().clone();
    let owner = chef.posture.owner_id.as_deref().expect("an owner");
    for (said, status) in [(owner, 200), ("somebody-else", 400), ("not one", 400), ("", 400)] {
        let answer = server.ask_as_chef(&format!("FETCH /rooms/7\r\nOwner-ID: {said}"), "").await;
        assert_eq!(answer.start.code, status, "{said}");
    }
}

#[tokio::test]
async fn base_2_4_former_names_of_fields_are_read() {
    let server = server("").await;
    let chef = server.id("chef");
    let scope = "Authority-Scope: booking:room";
    let former = server.ask(&format!("FETCH /rooms/7\r\nTarget-Agent: {chef}\r\n{scope}"), "").await;
    assert_eq!(former.start.code, 200);
    let both = server.ask(&format!("FETCH /rooms/7\r\nTarget-Agent: {chef}\r\nAgent-ID: x\r\n{scope}"), "").await;
    assert_eq!(code(&both), (400, "invalid-header".to_owned()));
}

#[tokio::test]
async fn base_2_4_names_that_callers_give_have_a_bound() {
    let server = server("").await;
    for field in ["Task-ID", "Session-ID", "Request-ID", "Idempotency-Key"] {
        for (length, status) in [(255, 200), (256, 400)] {
            let head = format!("FETCH /rooms/7\r\n{field}: {}", "k".repeat(length));
            assert_eq!(server.ask_as_chef(&head, "").await.start.code, status, "{field} {length}");
        }
    }
}

#[tokio::test]
async fn base_3_2_an_agent_out_of_service_does_not_call() {
    use forecourt_core::{Handle, LifecycleState};
    use forecourt_host::LifecycleChange;
    for (to, wanted) in
        [(LifecycleState::Suspended, (503, "agent-suspended")), (LifecycleState::Retired, (410, "agent-revoked"))]
    {
        let server = server_of(blueprint("")).await;
        let wish = LifecycleChange { to, ..LifecycleChange::default() };
        let chef = Handle::parse("chef").unwrap();
        server.mounted.mount.host.operator().change_lifecycle(&chef, &wish, &|_| None).await.unwrap();
        let answer = server.ask_as_chef("FETCH /rooms/7", "").await;
        assert_eq!(code(&answer), (wanted.0, wanted.1.to_owned()));
        assert_eq!(body(&answer)["error"]["agent_id"], server.id("chef"));
        // Nor is it called, and who only looks is answered.
        assert_eq!(server.ask("NOTIFY /", "").await.start.code, wanted.0);
        assert!(!matches!(server.ask("DESCRIBE /", "").await.start.code, 410 | 503));
    }
}

#[tokio::test]
async fn s6_1_an_endpoint_at_the_path_of_an_agent_is_the_operators() {
    let mut contract = contract("");
    add(&mut contract, definition("FETCH", "/agents/{agent}"));
    let server = server_of(Blueprint { contract: Arc::new(contract), ..blueprint("") }).await;
    for method in ["FETCH", "GET"] {
        let fetched = server.ask_as_chef(&format!("{method} /agents/chef"), "").await;
        assert_eq!((fetched.start.code, &body(&fetched)["input"]["agent"]), (200, &"chef".into()), "{method}");
    }
    let described = server.ask("DESCRIBE /agents/gate", "").await;
    assert_eq!(
        (described.start.code, &body(&described)["name"]),
        (200, &"gate".into()),
        "other methods are the agent's"
    );
    assert_eq!(code(&server.ask_as_chef("DESCRIBE /agents/nobody", "").await), (405, "method-not-allowed".to_owned()));
}

#[tokio::test]
async fn s5_8_1_a_genesis_document_is_fetched_before_anything_can_be_proven() {
    let server = server("require_verified_identity = true").await;
    let chef = server.id("chef");
    let ask = async |line: &str| server.ask(&format!("{line}\r\nAgent-ID: {chef}"), "").await;
    let document = ask("DISCOVER /genesis").await;
    assert_eq!(document.start.code, 200, "{document:?}");
    let read = forecourt_identity::genesis::Genesis::parse(&document.body, None).unwrap();
    assert_eq!(read.id().to_string(), chef);
    let nameless = server.ask("DISCOVER /agents/chef/genesis", "").await;
    assert_eq!((nameless.start.code, &nameless.body), (200, &document.body));
    assert_eq!(ask("DISCOVER /agents/gate/genesis").await.start.code, 200);
    for other in ["DISCOVER /methods", "DISCOVER /", "QUERY /", "BOOK /rooms/7", "FETCH /genesis"] {
        assert_ne!(ask(other).await.start.code, 200, "a name is no proof: {other}");
    }
    assert_eq!(server.ask("DISCOVER /agents/nobody/genesis", "").await.start.code, 404);
}
