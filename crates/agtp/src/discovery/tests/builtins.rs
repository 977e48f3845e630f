//! The surfaces below the root. AGTP-API 5.8.

use forecourt_agtp_wire::status::Status;
use forecourt_core::{AgentId, Handle};
use forecourt_identity::genesis::Genesis;
use forecourt_surface::tool::Tool;

use super::*;

fn tool(name: &str, agent: Option<&str>) -> Tool {
    Tool {
        name: name.to_owned(),
        title: name.to_owned(),
        description: format!("Does {name}."),
        input: json!({"type": "object"}).into(),
        output: None,
        agent: agent.map(|handle| Handle::parse(handle).unwrap()),
        reads_only: true,
        is_idempotent: false,
        as_tool: true,
        as_skill: false,
        call: Arc::new(|_| Box::pin(futures::stream::empty())),
        outcome: None,
    }
}

#[tokio::test]
async fn s5_8_methods_lists_every_endpoint_with_its_tier() {
    let place =
        Place::of_contract(endpoints(vec![definition("QUERY", "/catalogue"), definition("BOOK", "/room")])).await;
    let methods = place.json(&stranger("/methods")).await;
    let methods = methods.as_array().unwrap();
    assert_eq!(methods.len(), 8 + 2);
    let own = json!({
        "method": "DISCOVER", "path": "/methods", "tier": "A",
        "description": "Lists all registered endpoints on this server.",
    });
    assert!(methods.contains(&own), "the list is on the list");
    let booked = json!({"method": "BOOK", "path": "/room", "tier": "B", "description": "Does BOOK at /room."});
    assert!(methods.contains(&booked));
}

#[tokio::test]
async fn s5_8_what_the_policy_refuses_is_not_listed() {
    let refused = contract(vec![definition("BOOK", "/room")], json!({"disallow": ["BOOK"]}), RecipeBook::default());
    let place = Place::of_contract(refused).await;
    let methods = place.json(&stranger("/methods")).await;
    assert!(methods.as_array().unwrap().iter().all(|entry| entry["tier"] == "A"));
    assert_eq!(place.json(&stranger("/agents")).await[0]["methods_count"], 0);
    let manifest = place.manifest().await;
    assert!(manifest["endpoints"].as_array().unwrap().iter().all(|endpoint| endpoint["method"] == "DISCOVER"));
}

#[tokio::test]
async fn s5_8_what_the_operator_overrides_is_listed_once_and_as_the_operator_s() {
    let place = Place::of_contract(endpoints(vec![definition("DISCOVER", "/tools")])).await;
    let methods = place.json(&stranger("/methods")).await;
    let tools: Vec<_> = methods.as_array().unwrap().iter().filter(|entry| entry["path"] == "/tools").collect();
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0]["tier"], "B");
    let directory = place.json(&place.by("chef", "/")).await;
    assert!(directory["directory"].as_array().unwrap().contains(&json!({"path": "/tools", "tier": "B"})));
}

#[tokio::test]
async fn s5_8_methods_may_be_asked_for_by_what_they_are() {
    let place = Place::of_contract(endpoints(vec![
        definition("QUERY", "/catalogue"),
        definition("BOOK", "/room"),
        definition("CANCEL", "/room"),
    ]))
    .await;
    let asked = async |filter: Value| -> Vec<Value> {
        let mut ask = stranger("/methods");
        ask.call.body = filter.as_object().unwrap().clone();
        place.json(&ask).await.as_array().unwrap().clone()
    };
    let booked = json!({"method": "BOOK", "path": "/room", "tier": "B", "description": "Does BOOK at /room."});
    assert_eq!(asked(json!({"method": "book", "path": "/room"})).await, [booked]);
    assert_eq!(asked(json!({"path": "/room"})).await.len(), 2);
    assert_eq!(asked(json!({"q": "does ROOM"})).await.len(), 2);
    let best = asked(json!({"q": "reserve a room"})).await;
    assert_eq!((&best[0]["method"], &best[0]["path"]), (&json!("BOOK"), &json!("/room")));
    assert_eq!(asked(json!({"q": "submarines"})).await, Vec::<Value>::new());
    assert_eq!(asked(json!({"namespace": "none"})).await, Vec::<Value>::new());
    // What came in the query is text.
    let full = asked(json!({"method": "BOOK", "full": "true"})).await;
    let manifest = place.manifest().await;
    let mut whole = manifest["endpoints"].as_array().unwrap().iter().find(|e| e["method"] == "BOOK").unwrap().clone();
    whole["tier"] = json!("B");
    whole["semantic_types"] = json!({"input": {"guest_id": "guest.id"}, "output": {}});
    assert_eq!(full, [whole], "as the manifest has it, with what its members mean");
}

#[tokio::test]
async fn s5_8_a_filtered_list_comes_in_pages() {
    let place = Place::of_contract(endpoints(vec![definition("BOOK", "/room"), definition("CANCEL", "/room")])).await;
    let mut ask = stranger("/methods");
    ask.call.body = json!({"path": "/room", "max_results": "1"}).as_object().unwrap().clone();
    let first = place.reply(&ask).await;
    let token =
        |reply: &Reply| reply.fields.iter().find(|(name, _)| *name == "Continuation-Token").map(|(_, v)| v.to_string());
    assert_eq!((body(&first)[0]["method"].clone(), token(&first)), (json!("BOOK"), Some("BOOK /room".to_owned())));
    ask.call.body.insert("after".to_owned(), json!(token(&first)));
    let second = place.reply(&ask).await;
    assert_eq!((body(&second)[0]["method"].clone(), token(&second)), (json!("CANCEL"), None));
    ask.call.body.insert("after".to_owned(), json!("BOOK /nowhere"));
    let refused = place.refused(&ask).await;
    assert_eq!(refused.status, Status::UNPROCESSABLE);
    ask.call.body = json!({"max_results": 1_001}).as_object().unwrap().clone();
    assert_eq!(place.refused(&ask).await.status, Status::UNPROCESSABLE, "one more than there may be");
}

#[tokio::test]
async fn s5_8_each_surface_keeps_what_it_promises() {
    let place = Place::of(Blueprint { tools: vec![tool("ask", None)], ..blueprint() }).await;
    let mut natives = 0;
    for (_, native) in place.discovery.inventory.endpoints() {
        let path = native.path.as_str();
        let answer = place.json(&place.by("chef", path)).await;
        native.output.check(&answer).unwrap_or_else(|violation| panic!("{path}: {violation:?}"));
        natives += 1;
    }
    assert_eq!(natives, 8, "every endpoint of the protocol's own can be described");
}

#[tokio::test]
async fn s5_8_2_agents_says_who_is_here_and_how_far_each_is_vouched_for() {
    let place = Place::of_contract(endpoints(vec![definition("BOOK", "/room")])).await;
    let agents = place.json(&stranger("/agents")).await;
    let [chef, clerk] = agents.as_array().unwrap().as_slice() else { panic!("{agents}") };
    assert_eq!(chef["agent_id"], place.agent("chef").agent_id.as_str());
    assert_eq!((&chef["name"], &chef["skills_summary"]), (&json!("chef"), &json!("Recipes")));
    assert_eq!(clerk["skills_summary"], "Rooms, Bills");
    assert_eq!(chef["methods_count"], 1);
    assert_eq!((&chef["trust_tier"], &chef["verification_path"]), (&json!(2), &json!("org-asserted")));
    assert_eq!(chef["trust_warning"], "verification-incomplete");
    assert_eq!(chef["owner_id"], "demo.localhost");
    let document = place.agent("chef").document().unwrap();
    for name in ["trust_tier", "verification_path", "trust_warning", "owner_id"] {
        assert_eq!(chef.get(name), document.fields().get(name), "{name} is what the agent's own document says");
    }
}

#[tokio::test]
async fn s5_8_2_agents_are_withheld_without_a_word() {
    let place = Place::with("agents.disclosure = \"authenticated\"").await;
    assert_eq!(place.json(&stranger("/agents")).await, json!([]));
    assert_eq!(place.json(&place.by("chef", "/agents")).await.as_array().unwrap().len(), 2);
    let place = Place::with("agents.disclosure = \"private\"").await;
    assert_eq!(place.json(&place.by("chef", "/agents")).await, json!([]));
}

#[tokio::test]
async fn s5_8_2_a_long_list_of_skills_is_cut_short() {
    let mut talker = card("talker");
    talker.description = "é".repeat(crate::limits::SKILLS_SUMMARY_CHARS_MAX + 1);
    let mut terse = card("terse");
    terse.description = "é".repeat(crate::limits::SKILLS_SUMMARY_CHARS_MAX);
    let residents = [talker, terse].map(|card| resident(card, ScriptedAgent::saying(["hi"]), Vec::new()));
    let place = Place::of(Blueprint { residents: residents.into(), ..Blueprint::default() }).await;
    let agents = place.json(&stranger("/agents")).await;
    for (at, ends) in [(0, true), (1, false)] {
        let summary = agents[at]["skills_summary"].as_str().unwrap();
        assert_eq!(summary.chars().count(), crate::limits::SKILLS_SUMMARY_CHARS_MAX);
        assert_eq!(summary.ends_with('…'), ends);
    }
}

#[tokio::test]
async fn s5_8_1_genesis_is_the_loaded_document_byte_for_byte() {
    let place = Place::with("").await;
    let agent = place.agent("clerk");
    let reply = place.reply(&place.by("clerk", "/genesis")).await;
    let served = bytes(&reply);
    assert_eq!(served, forecourt_core::json::canonical(agent.genesis().unwrap().document()).unwrap());
    let genesis = Genesis::parse(&served, Some(&agent.agent_id)).expect("it verifies offline");
    assert!(genesis.document().contains_key("signature"));
    assert_eq!(bytes(&place.reply(&place.by("clerk", "/genesis")).await), served, "and stays as it is");
}

#[tokio::test]
async fn s5_8_1_genesis_is_of_the_agent_that_is_addressed() {
    let place = Place::with("").await;
    let clerk = place.agent("clerk");
    let by_id = asking(place.by("chef", "/genesis"), json!({"agent_id": clerk.agent_id.as_str()}));
    let by_path = Ask { addressed: Some(clerk.clone()), ..place.by("chef", "/genesis") };
    let by_stranger = asking(stranger("/genesis"), json!({"agent_id": clerk.agent_id.as_str()}));
    for ask in [by_id, by_path, by_stranger] {
        let served = bytes(&place.reply(&ask).await);
        assert!(Genesis::parse(&served, Some(&clerk.agent_id)).is_ok());
    }
    let nobody = place.refused(&stranger("/genesis")).await;
    assert_eq!((nobody.status, &nobody.error["code"]), (Status::BAD_REQUEST, &json!("missing-agent-id")));
}

#[tokio::test]
async fn s5_8_1_no_genesis_is_a_404() {
    let place = Place::with("").await;
    let unknown = AgentId::of_hash(&[7; 32]);
    let problem = place.refused(&asking(place.by("chef", "/genesis"), json!({"agent_id": unknown.as_str()}))).await;
    assert_eq!((problem.status, &problem.error["code"]), (Status::NOT_FOUND, &json!("genesis-not-found")));
    let mut without = AgentIdentity::clone(&place.agent("chef"));
    without.genesis = None;
    let ask = Ask { known: Some(Arc::new(without)), ..place.by("chef", "/genesis") };
    assert_eq!(place.refused(&ask).await.status, Status::NOT_FOUND);
    let malformed = place.refused(&asking(stranger("/genesis"), json!({"agent_id": "chef"}))).await;
    assert_eq!(malformed.status, Status::UNPROCESSABLE);
}

#[tokio::test]
async fn s8_5_the_origin_of_an_agent_that_is_not_named_is_its_own_alone() {
    let place = Place::with("agents.disclosure = \"private\"").await;
    let clerk = json!({"agent_id": place.agent("clerk").agent_id.as_str()});
    assert_eq!(place.refused(&asking(place.by("chef", "/genesis"), clerk.clone())).await.status, Status::NOT_FOUND);
    assert!(place.discovery.discover(&asking(place.by("clerk", "/genesis"), clerk)).await.is_ok());
}

#[tokio::test]
async fn s5_8_4_tools_are_described_as_their_carriers_do_with_who_owns_them() {
    let tools = vec![tool("ask", None), tool("cook", Some("chef"))];
    let place = Place::of(Blueprint { tools: tools.clone(), ..blueprint() }).await;
    let listed = place.json(&stranger("/tools")).await;
    assert_eq!((&listed[0]["name"], &listed[0]["description"]), (&json!("ask"), &json!("Does ask.")));
    assert_eq!(listed[0]["inputSchema"], json!({"type": "object"}));
    assert!(listed[0].get("agent_id").is_none());
    assert_eq!(listed[1]["agent_id"], place.agent("chef").agent_id.as_str());
    let section = "agents.disclosure = \"private\"".to_owned();
    let place = Place::of(Blueprint { tools, section, ..blueprint() }).await;
    assert_eq!(place.json(&stranger("/tools")).await.as_array().unwrap().len(), 1, "an agent's tools name it");
}

#[tokio::test]
async fn s5_8_5_apis_are_the_gateway_and_what_the_operator_names() {
    assert_eq!(Place::with("").await.json(&stranger("/apis")).await, json!([]));
    let section = "gateway = \"127.0.0.1:8088\"\n\
                   [[apis]]\npath = \"/crm\"\nmethods = [\"GET\"]\ndescription = \"Customers.\"\n\
                   [[apis]]\npath = \"https://other.example/api\"\nname = \"other\"\n\
                   http_documentation = \"/openapi.json\"";
    let apis = Place::with(section).await.json(&stranger("/apis")).await;
    assert_eq!((&apis[0]["name"], &apis[0]["base_url"]), (&json!("gateway"), &json!("http://127.0.0.1:8088")));
    assert_eq!(
        (&apis[1]["base_url"], &apis[1]["description"]),
        (&json!("https://demo.localhost/crm"), &json!("Customers."))
    );
    let other = json!({
        "name": "other", "base_url": "https://other.example/api",
        "http_documentation": "https://demo.localhost/openapi.json",
    });
    assert_eq!(apis[2], other, "B.3: an HTTP face says where it is described");
}

#[tokio::test]
async fn s5_8_6_patterns_say_that_nothing_is_negotiated_and_what_would_be() {
    let recipes = recipes(
        r#"
        [[recipe]]
        name = "book-room"
        version = "3"
        description = "Books a room."
        pattern = { name_exact = "BOOK", path_exact = "/room" }
        steps = [{ method = "QUERY" }]
        [[recipe]]
        name = "any-report"
        pattern = { name_exact = "QUERY", path_regex = "/reports/[a-z]+" }
        steps = [{ method = "QUERY" }]
        [[recipe]]
        name = "any-where"
        pattern = { category = "analysis" }
        steps = [{ method = "QUERY" }]
        [[recipe]]
        name = "inner"
        steps = [{ method = "QUERY" }]
        "#,
    );
    let place = Place::of_contract(contract(Vec::new(), json!({}), recipes)).await;
    let patterns = place.json(&stranger("/patterns")).await;
    assert_eq!(patterns["rcns_enabled"], false);
    let patterns = patterns["patterns"].as_array().unwrap();
    let room = json!({
        "recipe_name": "book-room", "recipe_version": "3", "method": "BOOK", "path_exact": "/room",
        "description": "Books a room.",
    });
    assert_eq!(patterns[0], room);
    assert_eq!(patterns[1]["path_regex"], "^(?:/reports/[a-z]+)$");
    assert_eq!(patterns[2]["method"], "*");
    assert_eq!(patterns.len(), 3, "what is for compositions alone is nobody's business");
    for pattern in patterns {
        assert!(pattern.get("path_exact").is_some() != pattern.get("path_regex").is_some(), "{pattern}");
    }
    assert_eq!(
        Place::with("").await.json(&stranger("/patterns")).await,
        json!({"rcns_enabled": false, "patterns": []})
    );
}

#[tokio::test]
async fn s5_8_7_contracts_belong_to_a_caller() {
    let place = Place::with("").await;
    let problem = place.refused(&stranger("/contracts")).await;
    assert_eq!((problem.status, &problem.error["reason"]), (Status::UNAUTHORIZED, &json!("agent-unauthenticated")));
    assert_eq!(place.json(&place.by("chef", "/contracts")).await, json!([]));
}
