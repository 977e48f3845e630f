//! What the host answers itself, as steps of compositions reach it. AGTP-API 12.1.

use forecourt_contract::call::{Call, Caller, Identity};
use forecourt_contract::refusal::NativeRefusalKind;
use forecourt_contract::{HostHandle, Refusal};
use forecourt_core::limits::HOPS_MAX;
use forecourt_core::{Handle, LifecycleState};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_endpoints::{Functions, Kinds, load};
use forecourt_host::LifecycleChange;
use forecourt_testhost::Blueprint;

use super::support::{Server, blueprint, body, code, server, server_of};

#[tokio::test]
async fn s12_1_steps_reach_what_the_host_answers_itself() {
    let server = server("").await;
    let caller = Caller { agent_id: Some(server.id("chef")), identity: Identity::Recognised, ..Caller::default() };
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
    assert!(
        matches!(&refused, Err(Refusal::Native(told)) if told.reason == NativeRefusalKind::Malformed),
        "{refused:?}"
    );
}

/// A server with a composition `PLAN /trips/N` of each of these steps.
async fn server_with(steps: &[&str]) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("endpoints")).unwrap();
    let mut recipes = String::new();
    for (at, step) in steps.iter().enumerate() {
        recipes += &format!("[[recipe]]\nname = \"trip-{at}\"\nsteps = [{{ {step} }}]\n");
        let endpoint = format!(
            r#"[endpoint]
            method = "PLAN"
            path = "/trips/{at}"
            description = "Plans a trip."
            semantic = {{ intent = "Plan.", actor = "agent", outcome = "A plan.", capability = "analysis", confidence = 1, impact = "informational", is_idempotent = true }}
            input_schema = {{ type = "object", additionalProperties = false }}
            output_schema = {{ type = "object" }}
            errors = ["composition_failed"]
            handler = {{ type = "composition", recipe = "trip-{at}" }}"#
        );
        std::fs::write(folder.path().join(format!("endpoints/{at}.toml")), endpoint).unwrap();
    }
    std::fs::write(folder.path().join("recipes.toml"), recipes).unwrap();
    let section = "[endpoints]\nscope_required = false";
    let terms = crate::tests::support::terms(section);
    let egress = Egress::builder(EgressConfig::default()).build().unwrap();
    let loaded = load(
        folder.path(),
        terms,
        &|_: &str| None,
        &Kinds { egress, functions: Functions::new(), host: HostHandle::default() },
    );
    assert!(loaded.refused.is_empty(), "{}", loaded.refused);
    let server = server_of(Blueprint { contract: loaded.dispatcher, ..blueprint(section) }).await;
    (server, folder)
}

#[tokio::test]
async fn s12_1_a_step_that_the_host_refuses_is_told_with_its_own_status() {
    let given = |values: &[(&str, &str)]| {
        let given =
            values.iter().map(|(name, value)| format!("{name} = {{ kind = \"constant\", value = \"{value}\" }}"));
        format!("parameters = {{ {} }}", given.collect::<Vec<_>>().join(", "))
    };
    let execute = |action: &str| format!("method = \"EXECUTE\", {}", given(&[("action", action)]));
    let cases = [
        (format!("method = \"NOTIFY\", {}", given(&[("recipient", "nobody"), ("content", "x")])), 404),
        ("method = \"PROPOSE\"".to_owned(), 463),
        ("method = \"EXECUTE\"".to_owned(), 422),
        (execute("BOOK /nowhere"), 404),
        (execute("QEURY /nowhere"), 459),
        (execute("QUERY /order"), 460),
        (execute("BOOK /trips/0"), 405),
        (execute("DISCOVER /methods?target=agents"), 400),
        // The chef of another domain is nobody here.
        (
            format!(
                "method = \"NOTIFY\", {}",
                given(&[("recipient", "agtp://other.example/agents/chef"), ("content", "x")])
            ),
            404,
        ),
    ];
    let steps: Vec<&str> = cases.iter().map(|(step, _)| step.as_str()).collect();
    let (server, _folder) = server_with(&steps).await;
    let mut told = Vec::new();
    for (at, (step, _)) in cases.iter().enumerate() {
        let answer = server.ask_as_chef(&format!("PLAN /trips/{at}"), "").await;
        assert_eq!(code(&answer), (422, "composition_failed".to_owned()), "{step}");
        let details = &body(&answer)["error"]["details"];
        assert!(details["underlying"]["code"].is_string() && details["underlying"]["message"].is_string(), "{step}");
        told.push((step.clone(), details["underlying_status"].as_u64().unwrap()));
    }
    assert_eq!(told, cases);
    let stranger = server.ask("PLAN /trips/2", "").await;
    assert_eq!(body(&stranger)["error"]["details"]["underlying_status"], 401);
    let direct = r#"{"action": "DISCOVER /methods?target=agents"}"#;
    assert_eq!(server.ask_as_chef("EXECUTE /", direct).await.start.code, 400);
}

#[tokio::test]
async fn base_3_2_an_agent_out_of_service_is_not_called_by_a_step_either() {
    let (server, _folder) = server_with(&["method = \"PROPOSE\""]).await;
    let wish = LifecycleChange { to: LifecycleState::Suspended, ..LifecycleChange::default() };
    let chef = Handle::parse("chef").unwrap();
    server.mounted.mount.host.operator().change_lifecycle(&chef, &wish, &|_| None).await.unwrap();
    let told = async |head: &str| body(&server.ask(head, "").await)["error"]["details"]["underlying_status"].clone();
    assert_eq!(told("PLAN /trips/0").await, 503, "it is the default agent");
    assert_eq!(told(&format!("PLAN /trips/0\r\nAgent-ID: {}", server.id("gate"))).await, 463);
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
