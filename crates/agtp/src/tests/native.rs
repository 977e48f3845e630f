//! What the host answers itself, as steps of compositions reach it. AGTP-API 12.1.

use forecourt_contract::call::{Call, Caller, Identity};
use forecourt_contract::{Refusal, ScopeSet};
use forecourt_core::limits::HOPS_MAX;

use super::support::server;

#[tokio::test]
async fn s12_1_steps_reach_what_the_host_answers_itself() {
    let server = server("").await;
    let caller = Caller {
        agent_id: Some(server.id("chef")),
        identity: Identity::Recognised,
        declared: ScopeSet::default(),
        ..Caller::default()
    };
    let call = |method: &str, path: &str| {
        let (method, path) = (method.to_owned(), path.to_owned());
        Call { method, path, caller: caller.clone(), ..Call::default() }
    };
    let contract = server.service.contract();
    let methods = contract.dispatch(call("DISCOVER", "/methods")).await.answer.unwrap();
    assert!(methods.as_array().is_some_and(|methods| methods.len() >= 5), "{methods}");
    let genesis = contract.dispatch(call("DISCOVER", "/genesis")).await.answer.unwrap();
    assert!(genesis.is_object());
    let mut conflict = call("DISCOVER", "/methods");
    conflict.query = Some("target=agents".to_owned());
    let refused = contract.dispatch(conflict).await.answer;
    assert!(matches!(refused, Err(Refusal::Declared { .. })), "{refused:?}");
}

#[tokio::test]
async fn agents_and_endpoints_that_lead_to_each_other_come_to_an_end() {
    let server = server("").await;
    let chef = server.id("chef");
    let said = async |hops: &str, line: &str, body: &str| {
        let fields = format!("Agent-ID: {chef}\r\nAuthority-Scope: booking:room\r\nForecourt-Hops: {hops}");
        server.ask(&format!("{line}\r\n{fields}"), body).await.start.code
    };
    let (last, too_many) = ((HOPS_MAX - 1).to_string(), HOPS_MAX.to_string());
    for (line, body) in [("BOOK /rooms/7", ""), ("QUERY /", r#"{"intent": "soup"}"#)] {
        assert_eq!(said(&last, line, body).await, 200, "{line}");
        assert_eq!(said(&too_many, line, body).await, 422, "{line}");
        assert_eq!(said("many", line, body).await, 422, "{line}");
    }
}
