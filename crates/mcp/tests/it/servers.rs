//! Servers behind the host: what they offer, and what they are asked, and by whom.
#![expect(deprecated, reason = "older servers log, and are subscribed to by each resource")]

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use forecourt_core::gate::RuleVerdict;
use forecourt_core::policy::{Objection, RefusalKind};
use forecourt_core::{AgentCard, Message, Part, PolicyPart, Rule};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_mcp::bridge::bridge;
use forecourt_testhost::{ServerBlueprint, consent_first};
use forecourt_testkit::{ScriptedAgent, card};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ContentBlock, ElicitRequestParams, ElicitResult,
    ElicitationAction, Implementation, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam,
    ResourceUpdatedNotificationParam, SetLevelRequestParams, SubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::scripted_server::{far, host, listed, listen, server, tools};
use crate::support::{Setup, modern, next};

/// The revisions that are spoken with servers.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

#[tokio::test]
async fn tools_are_listed_with_a_prefix_at_the_host_and_as_they_are_at_the_servers_path() {
    let (url, _) = far().await;
    let place = host(vec![server(&url, "except = [\"drop\"]\n[tools.ask]\nname = \"question\"\n")]).await;
    let all = listed(&place, "far_get").await;
    assert_eq!(all, ["await_task", "ask_chef", "far_get", "question", "far_steps"]);
    assert_eq!(tools(&place, "/mcp/far").await, ["get", "question", "steps"]);
    assert_eq!(tools(&place, "/mcp/chef").await, ["ask_chef", "await_task"]);
    let listed = place.modern("/mcp/far", "tools/list", json!({})).await;
    let get = &listed.last()["result"]["tools"][0];
    assert_eq!((&get["title"], &get["annotations"]["readOnlyHint"]), (&json!("Get"), &json!(true)));
    assert_eq!(get["_meta"], json!({"ui": {"resourceUri": "ui://far/widget"}}));
    assert_eq!(get["inputSchema"]["required"], json!(["n"]));
    assert_eq!(place.modern("/mcp/nobody", "tools/list", json!({})).await.status.as_u16(), 404);
}

#[tokio::test]
async fn a_result_comes_back_whole_and_arguments_that_do_not_fit_never_arrive() {
    let (url, seen) = far().await;
    let place = host(vec![server(&url, "")]).await;
    listed(&place, "far_get").await;
    let answer = place.call("far_get", json!({"n": 7})).await;
    let result = &answer.last()["result"];
    assert_eq!((&result["structuredContent"], &result["_meta"]["far/x"]), (&json!({"n": 7}), &json!(1)));
    assert_eq!(result["content"][1]["mimeType"], "image/png");
    assert_eq!(result["resultType"], "complete");
    let same = place.modern("/mcp/far", "tools/call", json!({"name": "get", "arguments": {"n": 7}})).await;
    assert_eq!(same.last()["result"]["structuredContent"], json!({"n": 7}));
    let unfit = place.call("far_get", json!({"n": "x"})).await;
    assert_eq!(unfit.last()["result"]["isError"], true, "{:?}", unfit.last());
    assert_eq!(seen.calls.lock().len(), 2, "the server heard of two");
    let error = place.call("far_drop", json!({})).await;
    assert_eq!(error.last()["error"]["data"], json!({"own": true}), "errors of the server are its own");
}

#[tokio::test]
async fn nothing_that_a_caller_proves_itself_by_reaches_the_server() {
    let (url, seen) = far().await;
    let place = host(vec![server(&url, "headers = { X-Own = \"ours\" }\n")]).await;
    listed(&place, "far_get").await;
    let said = json!({"vendor/x": 1, "x402/payment": {"a": 1}});
    let params = json!({"name": "far_get", "arguments": {"n": 1}, "_meta": said});
    let mut request = modern("/mcp", "tools/call", params, json!({}));
    for (name, value) in [("cookie", "a=b"), ("x-secret", "s")] {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    place.send(request).await;
    let heads = seen.heads.lock();
    assert!(heads.iter().all(|head| head["x-own"] == "ours"));
    assert!(
        heads.iter().all(|head| !["authorization", "cookie", "x-secret"].iter().any(|name| head.contains_key(*name)))
    );
    let metas = seen.metas.lock();
    assert_eq!((&metas[0]["forecourt/hops"], &metas[0]["vendor/x"]), (&json!(1), &json!(1)));
    assert_eq!(metas[0]["x402/payment"], Value::Null, "what is paid to this host is no payment to a server");
}

fn refusing() -> Arc<dyn Rule> {
    struct Never;
    impl Rule for Never {
        fn judge<'a>(
            &'a self,
            _: &'a forecourt_core::AgentCard,
            _: &'a forecourt_core::Message,
        ) -> futures::future::BoxFuture<'a, Result<(), Objection>> {
            let part = PolicyPart::new(RefusalKind::Forbidden, "Not you.");
            Box::pin(async move { Err(Objection::from(part)) })
        }
    }
    Arc::new(Never)
}

#[tokio::test]
async fn rules_stand_before_the_tools_that_they_name() {
    let (url, seen) = far().await;
    let rules = vec![("dr* as?", refusing()), ("steps", consent_first())];
    let place = host(vec![ServerBlueprint { rules, ..server(&url, "") }]).await;
    listed(&place, "far_get").await;
    let refused = place.call("far_drop", json!({})).await;
    let part = &refused.last()["result"]["_meta"]["mentionable"]["policy"]["part"];
    assert_eq!((&part["kind"], &part["message"]), (&json!("forbidden"), &json!("Not you.")));
    let asked = place.call("far_steps", json!({})).await;
    assert_eq!(asked.last()["result"]["structuredContent"]["refusal"]["kind"], "consent_required");
    let promising = vec![("get", refusing())];
    let other = host(vec![ServerBlueprint { rules: promising, ..server(&url, "") }]).await;
    listed(&other, "far_get").await;
    let refused = other.call("far_get", json!({"n": 1})).await;
    let result = &refused.last()["result"];
    assert_eq!(result["structuredContent"], Value::Null, "the tool promises another form of results");
    assert_eq!(result["_meta"]["mentionable"]["error"]["refusal"]["kind"], "forbidden");
    assert!(seen.calls.lock().is_empty(), "the server heard of none");
    assert_eq!(place.call("far_get", json!({"n": 1})).await.last()["result"]["isError"], false);
}

/// Notes what calls say, as rules and guardrails judge it.
#[derive(Default)]
struct Noted(Mutex<Vec<Value>>);

impl Rule for Noted {
    fn judge<'a>(&'a self, _: &'a AgentCard, message: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        let data = message.parts.iter().filter_map(|part| match part {
            Part::Data(data) => Some(data.data.clone().into_value()),
            _ => None,
        });
        self.0.lock().extend(data);
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test]
async fn all_that_a_call_says_to_a_server_is_judged() {
    let (url, _) = far().await;
    let noted = Arc::new(Noted::default());
    let rules: Vec<(&str, Arc<dyn Rule>)> = vec![("", noted.clone())];
    let place = host(vec![ServerBlueprint { rules, ..server(&url, "") }]).await;
    listed(&place, "far_get").await;
    let meta = json!({"vendor/x": "word"});
    let judged = async |method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        place.modern("/mcp", method, params).await;
        noted.0.lock().pop().expect("it was judged")
    };
    let called = judged("tools/call", json!({"name": "far_get", "arguments": {"n": 1}})).await;
    assert_eq!(called, json!({"tool": "get", "arguments": {"n": 1}, "_meta": meta}));
    let read = judged("resources/read", json!({"uri": "far://one"})).await;
    assert_eq!(read, json!({"resource": "far://one", "_meta": meta}));
    let got = judged("prompts/get", json!({"name": "far_greet"})).await;
    assert_eq!((&got["prompt"], &got["_meta"]), (&json!("greet"), &meta));
    let of = json!({"type": "ref/resource", "uri": "far://one"});
    let completed = judged("completion/complete", json!({"ref": of, "argument": {"name": "a", "value": "x"}})).await;
    assert_eq!((&completed["ref"], &completed["argument"]["value"]), (&of, &json!("x")), "{completed}");
    assert_eq!(completed["_meta"], meta);
}

#[tokio::test]
async fn a_server_that_is_away_is_listed_as_it_was_and_says_so() {
    let place = Setup { servers: vec![server("http://127.0.0.1:9/mcp", "")], ..Setup::default() };
    let lists = json!({"tools": [{"name": "lost", "inputSchema": {"type": "object"}}]});
    let setup = Setup { server_lists: vec![("far", lists)], ..place };
    let place = setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await;
    let marked = async {
        loop {
            let listed = place.modern("/mcp/far", "tools/list", json!({})).await;
            let tool = listed.last()["result"]["tools"][0].clone();
            assert_eq!(tool["name"], "lost", "it is listed from the beginning");
            if tool["_meta"]["mentionable"]["server"]["answers"] == false {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), marked).await.expect("it is found out");
    let mut kinds = Vec::new();
    for _ in 0..8 {
        let answer = place.call("far_lost", json!({})).await;
        let result = answer.last()["result"].clone();
        assert_eq!(result["isError"], true);
        kinds.push(result["_meta"]["mentionable"]["policy"]["part"]["retry_after_seconds"].clone());
    }
    assert_eq!(kinds[0], Value::Null, "it was asked");
    assert!(kinds[7].is_u64(), "after so many failures it is not asked any more: {kinds:?}");
}

#[tokio::test]
async fn resources_and_prompts_are_read_at_both_paths() {
    let (url, _) = far().await;
    let place = host(vec![server(&url, "")]).await;
    listed(&place, "far_get").await;
    for (path, prompt) in [("/mcp", "far_greet"), ("/mcp/far", "greet")] {
        let resources = place.modern(path, "resources/list", json!({})).await;
        let text = resources.last()["result"]["resources"].to_string();
        assert!(text.contains("far://one"), "{text}");
        for uri in ["far://one", "ui://far/widget"] {
            let read = place.modern(path, "resources/read", json!({"uri": uri})).await;
            assert_eq!(read.last()["result"]["contents"][0]["text"], "read", "{:?}", read.last());
        }
        let prompts = place.modern(path, "prompts/list", json!({})).await;
        assert!(prompts.last()["result"]["prompts"].to_string().contains(&format!("\"{prompt}\"")));
        let got = place.modern(path, "prompts/get", json!({"name": prompt})).await;
        assert_eq!(got.last()["result"]["messages"][0]["content"]["text"], "hi from greet");
    }
    let missing = place.modern("/mcp", "resources/read", json!({"uri": "far://none"})).await;
    assert!(missing.last()["error"].is_object());
}

#[tokio::test]
async fn arguments_of_prompts_and_addresses_are_completed_by_their_server() {
    let (url, _) = far().await;
    let place = host(vec![server(&url, "except = [\"hidden\"]\n")]).await;
    listed(&place, "far_get").await;
    let completed = async |path: &str, of: Value| {
        let params = json!({"ref": of, "argument": {"name": "a", "value": "x"}});
        place.modern(path, "completion/complete", params).await.last()["result"]["completion"]["values"].clone()
    };
    for (path, prompt) in [("/mcp", "far_greet"), ("/mcp/far", "greet")] {
        assert_eq!(completed(path, json!({"type": "ref/prompt", "name": prompt})).await, json!(["greet x"]));
        let of = json!({"type": "ref/resource", "uri": "far://one"});
        assert_eq!(completed(path, of).await, json!(["far://one x"]));
    }
    for nobodys in ["greet", "far_hidden", "chef"] {
        assert_eq!(completed("/mcp", json!({"type": "ref/prompt", "name": nobodys})).await, json!([]));
    }
}

#[tokio::test]
async fn a_client_of_2026_hears_of_changes_of_a_servers_resource() {
    for revision in REVISIONS {
        let (url, _) = far().await;
        let place = host(vec![server(&url, &format!("revision = \"{revision}\"\n"))]).await;
        listed(&place, "far_get").await;
        let wanted = json!({"notifications": {"resourceSubscriptions": ["far://one", "far://none"]}});
        let mut heard = place.raw(modern("/mcp", "subscriptions/listen", wanted, json!({}))).await.into_body();
        let known = next(&mut heard, "notifications/subscriptions/acknowledged").await;
        assert_eq!(known["params"]["notifications"]["resourceSubscriptions"], json!(["far://one"]), "{revision}");
        assert_eq!(next(&mut heard, "notifications/resources/updated").await["params"]["uri"], "far://one");
    }
}

/// A client of 2025 whose person answers `red`.
#[derive(Clone, Default)]
struct Red {
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    logged: Arc<Mutex<Vec<Value>>>,
    updated: Arc<Notify>,
}

impl ClientHandler for Red {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities = serde_json::from_value(json!({"elicitation": {"form": {}}})).unwrap();
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"a": "red"})))
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().push(told);
    }

    async fn on_logging_message(&self, message: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        self.logged.lock().push(message.data);
    }

    async fn on_resource_updated(&self, _: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.updated.notify_one();
    }
}

#[tokio::test]
async fn s5_a_client_of_2025_is_asked_in_the_middle_and_told_how_far_it_is() {
    for revision in REVISIONS {
        let (url, _) = far().await;
        let place = host(vec![server(&url, &format!("revision = \"{revision}\"\n"))]).await;
        listed(&place, "far_get").await;
        let near = listen(place.router.clone()).await;
        let person = Red::default();
        let (theirs, ours) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(ours);
        tokio::spawn(async move {
            let egress = Egress::builder(EgressConfig::default()).build().unwrap();
            bridge(egress, &near, None, input, output).await
        });
        let client = person.clone().serve(theirs).await.unwrap();
        let asked = client.call_tool(CallToolRequestParams::new("far_ask")).await.unwrap();
        let ContentBlock::Text(text) = &asked.content[0] else { panic!("{asked:?}") };
        assert_eq!(
            serde_json::from_str::<Value>(&text.text).unwrap(),
            json!({"action": "accept", "content": {"a": "red"}})
        );
        client.set_level(SetLevelRequestParams::new(LoggingLevel::Info)).await.unwrap();
        client.call_tool(CallToolRequestParams::new("far_steps")).await.unwrap();
        client.subscribe(SubscribeRequestParams::new("far://one")).await.unwrap();
        tokio::time::timeout(Duration::from_secs(20), person.updated.notified())
            .await
            .expect("it is told of the change");
        if revision == REVISIONS[0] {
            assert_eq!(*person.logged.lock(), [json!("low")]);
        }
        let told = person.progress.lock();
        assert_eq!((told[0].progress, told[0].total, told[0].message.as_deref()), (2.0, Some(4.0), Some("half")));
    }
}

#[tokio::test]
async fn s5_a_client_of_2026_answers_a_question_by_calling_again_and_nobody_else_can() {
    for revision in REVISIONS {
        let (url, seen) = far().await;
        let place = host(vec![server(&url, &format!("revision = \"{revision}\"\n"))]).await;
        listed(&place, "far_get").await;
        let may_ask = json!({"elicitation": {"form": {}}});
        let call = |more: Value| {
            let mut params = json!({"name": "far_ask", "arguments": {}});
            params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            modern("/mcp", "tools/call", params, may_ask.clone())
        };
        let asked = place.send(call(json!({}))).await;
        let result = asked.last()["result"].clone();
        assert_eq!(result["resultType"], "input_required", "{result}");
        assert_eq!(result["inputRequests"]["input"]["params"]["message"], "Which?");
        let said = json!({"input": {"action": "accept", "content": {"a": "blue"}}});
        let forged = place.send(call(json!({"requestState": "server.x", "inputResponses": said}))).await;
        assert!(forged.last()["error"].is_object());
        let again = json!({"requestState": result["requestState"], "inputResponses": said});
        let answer = place.send(call(again.clone())).await;
        let text = answer.last()["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["content"], json!({"a": "blue"}));
        let twice = place.send(call(again)).await;
        assert!(twice.last()["error"]["message"].as_str().unwrap().contains("call again"), "{:?}", twice.last());
        let rounds = if revision == REVISIONS[0] { 1 } else { 2 };
        assert_eq!(seen.calls.lock().len(), rounds, "it was one call");
    }
}

#[tokio::test]
async fn a_caller_has_a_session_of_its_own_with_a_server_that_gives_them_out() {
    let (url, seen) = far().await;
    let servers = vec![server(&url, "revision = \"2025-11-25\"\n")];
    let setup = Setup { servers, issuer: true, ..Setup::default() };
    let place = setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await;
    listed(&place, "far_get").await;
    for who in ["alice", "alice", "bob"] {
        let mut request = modern("/mcp", "tools/call", json!({"name": "far_get", "arguments": {"n": 1}}), json!({}));
        request.headers_mut().insert("authorization", place.token(who).parse().unwrap());
        let answer = place.send(request).await;
        assert_eq!(answer.last()["result"]["isError"], false, "{:?}", answer.last());
    }
    let sessions = seen.sessions.lock();
    assert_eq!(sessions.len(), 3);
    assert_eq!(sessions[0], sessions[1], "alice goes on in hers");
    assert_ne!(sessions[0], sessions[2], "bob has another");
    assert!(seen.heads.lock().iter().all(|head| !head.contains_key("authorization")), "no token goes on");
}

#[tokio::test]
async fn so_many_servers_and_patterns_there_are_and_no_more() {
    let wrong = |count: usize, patterns: usize| async move {
        let section = format!("url = \"http://127.0.0.1:9/mcp\"\nonly = {:?}\n", vec!["a"; patterns]);
        let server = |n| ServerBlueprint { name: format!("far{n}"), section: section.clone(), rules: Vec::new() };
        let setup = Setup { servers: (0..count).map(server).collect(), ..Setup::default() };
        let started = setup.with(card("chef"), ScriptedAgent::saying(["soup"])).try_start().await;
        started.err().map(|problems| problems.to_string())
    };
    assert_eq!(wrong(1, 100).await, None);
    assert!(wrong(1, 101).await.unwrap().contains("at most 100 patterns"));
    assert_eq!(wrong(200, 1).await, None);
    assert!(wrong(201, 1).await.unwrap().contains("at most 200 servers"));
}

#[tokio::test]
async fn so_many_tools_are_changed_and_no_more() {
    let wrong = |count: usize| async move {
        let changes: String = (0..count).map(|n| format!("[tools.t{n}]\ntitle = \"T\"\n")).collect();
        let setup = Setup { servers: vec![server("http://127.0.0.1:9/mcp", &changes)], ..Setup::default() };
        let started = setup.with(card("chef"), ScriptedAgent::saying(["soup"])).try_start().await;
        started.err().map(|problems| problems.to_string())
    };
    assert_eq!(wrong(1000).await, None);
    assert!(wrong(1001).await.unwrap().contains("at most 1000 tools"));
}

#[tokio::test]
async fn definitions_that_are_wrong_say_where() {
    for (toml, what) in [
        ("", "a server needs either `url` or `command`"),
        ("url = \"https://a.example/mcp\"\nprefix = \"a b\"", "`prefix` has 0 to 64"),
        ("url = \"https://a.example/mcp\"\nonly = [\"\"]", "a pattern has 1 to"),
        ("url = \"https://a.example/mcp\"\nnothing = 1", "nothing"),
        ("url = \"https://a.example/mcp\"\ntotal_seconds = 0", "total_seconds"),
        ("url = \"https://a.example/mcp\"\n[tools.a]\nname = \"x\"\n[tools.b]\nname = \"x\"", "both called `x`"),
    ] {
        let servers = vec![ServerBlueprint { name: "far".into(), section: toml.into(), rules: Vec::new() }];
        let setup = Setup { servers, ..Setup::default() };
        let wrong = setup.with(card("chef"), ScriptedAgent::saying(["soup"])).try_start().await;
        let words = wrong.err().expect(what).to_string();
        assert!(words.contains(what) && words.contains("servers/far.toml"), "{words}");
    }
}

#[tokio::test]
async fn a_refused_sign_in_at_a_server_leads_to_where_it_is_done() {
    let wants = || async {
        let challenge = "Bearer resource_metadata=\"https://far.example/meta\"";
        (http::StatusCode::UNAUTHORIZED, [("www-authenticate", challenge)], Body::empty())
    };
    let url = listen(axum::Router::new().fallback(wants)).await;
    let lists = json!({"tools": [{"name": "get", "inputSchema": {"type": "object"}}]});
    let setup = Setup { servers: vec![server(&url, "")], server_lists: vec![("far", lists)], ..Setup::default() };
    let place = setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await;
    let answer = place.call("far_get", json!({})).await;
    assert_eq!(answer.status.as_u16(), 401, "{:?}", answer.last());
    assert!(answer.field("www-authenticate").contains("resource_metadata=\"https://far.example/meta\""));
}
