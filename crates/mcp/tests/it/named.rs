//! Tools and prompts of the owner's naming.

use forecourt_testkit::{ScriptedAgent, card};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Setup, modern};

const SECTION: &str = r#"
[[tools]]
name = "find_recipe"
agent = "chef"
description = "Finds recipes."
message = "recipes with {ingredient}, ready in {minutes} minutes"
read_only = true
arguments = { ingredient = { type = "string", "x-mcp-header" = "Ingredient" }, minutes = { type = "integer", default = 30 } }

[[tools]]
name = "menu"
agent = "chef"
description = "Today's menu."
message = "today's menu"

[[prompts]]
name = "dinner"
description = "Plans a dinner."
text = "Plan a dinner for {guests} guests."
arguments = { guests = "How many." }
"#;

fn chef() -> (Setup, std::sync::Arc<ScriptedAgent>) {
    let agent = ScriptedAgent::saying(["soup"]);
    (Setup { section: SECTION, ..Setup::default() }.with(card("chef"), agent.clone()), agent)
}

#[tokio::test]
async fn a_tool_of_ones_own_naming_is_listed_and_makes_the_message() {
    let (setup, agent) = chef();
    let place = setup.with(card("echo"), ScriptedAgent::saying(["x"])).start().await;
    let listed = place.modern("/mcp", "tools/list", json!({})).await;
    let tools = listed.last()["result"]["tools"].as_array().unwrap().clone();
    let tool = tools.iter().find(|tool| tool["name"] == "find_recipe").unwrap();
    assert_eq!(tool["inputSchema"]["required"], json!(["ingredient"]));
    assert_eq!((&tool["annotations"]["readOnlyHint"], &tool["title"]), (&json!(true), &json!("find_recipe")));
    let at_echo = place.modern("/mcp/echo", "tools/list", json!({})).await;
    assert!(!at_echo.last().to_string().contains("find_recipe"));
    for path in ["/mcp", "/mcp/chef"] {
        let params = json!({"name": "menu", "arguments": {}});
        let answer = place.send(modern(path, "tools/call", params, json!({}))).await;
        assert_eq!(answer.last()["result"]["structuredContent"]["text"], "soup");
    }
    let call = async |arguments: Value| {
        let params = json!({"name": "find_recipe", "arguments": arguments});
        let mut request = modern("/mcp", "tools/call", params, json!({}));
        request.headers_mut().insert("mcp-param-ingredient", "leek {minutes}".parse().unwrap());
        place.send(request).await
    };
    call(json!({"ingredient": "leek {minutes}"})).await;
    call(json!({"ingredient": "leek {minutes}", "minutes": 5})).await;
    let heard: Vec<_> = agent.heard().iter().map(forecourt_core::Message::text).collect();
    assert_eq!(heard[2], "recipes with leek {minutes}, ready in 30 minutes", "arguments are never templates");
    assert_eq!(heard[3], "recipes with leek {minutes}, ready in 5 minutes");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_to_the_model() {
    let (setup, agent) = chef();
    let place = setup.start().await;
    let plain = async |arguments: Value| {
        let mut request =
            modern("/mcp", "tools/call", json!({"name": "find_recipe", "arguments": arguments}), json!({}));
        request.headers_mut().insert("mcp-param-ingredient", "leek".parse().unwrap());
        place.send(request).await.last().clone()
    };
    let wrong = plain(json!({"ingredient": "leek", "minutes": "soon"})).await;
    assert_eq!(wrong["result"]["isError"], true);
    assert!(wrong["result"]["content"][0]["text"].as_str().unwrap().contains("`minutes`"), "{wrong}");
    assert!(agent.heard().is_empty());
}

#[tokio::test]
async fn s2_a_marked_argument_must_be_in_its_field_too() {
    let (setup, agent) = chef();
    let place = setup.start().await;
    let params = || json!({"name": "find_recipe", "arguments": {"ingredient": "leek"}});
    for field in [None, Some("pear"), Some("=?base64?!!?=")] {
        let mut request = modern("/mcp", "tools/call", params(), json!({}));
        if let Some(field) = field {
            request.headers_mut().insert("mcp-param-ingredient", field.parse().unwrap());
        }
        let answer = place.send(request).await;
        assert_eq!((answer.status, &answer.last()["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(-32020)));
    }
    assert!(agent.heard().is_empty());
}

#[tokio::test]
async fn a_prompt_of_ones_own_naming_is_filled_in() {
    let place = chef().0.start().await;
    let listed = place.modern("/mcp", "prompts/list", json!({})).await;
    let prompt = &listed.last()["result"]["prompts"][0];
    let argument = json!([{"name": "guests", "description": "How many.", "required": true}]);
    assert_eq!((&prompt["name"], &prompt["arguments"]), (&json!("dinner"), &argument));
    let get = async |arguments: Value| {
        place.modern("/mcp", "prompts/get", json!({"name": "dinner", "arguments": arguments})).await.last().clone()
    };
    let filled = get(json!({"guests": "six"})).await;
    assert_eq!(filled["result"]["messages"][0]["content"]["text"], "Plan a dinner for six guests.");
    assert_eq!(get(json!({})).await["error"]["code"], -32602);
    assert_eq!(get(json!({"guests": "x".repeat(20_000)})).await["error"]["code"], -32602);
}

#[tokio::test]
async fn s3_a_tool_may_have_a_whole_schema_and_is_held_to_it() {
    let section = r##"
[[tools]]
name = "contact"
agent = "chef"
description = "d"
message = "call {phone} {count}"
[tools.schema]
"$schema" = "https://json-schema.org/draft/2020-12/schema"
type = "object"
additionalProperties = false
properties = { phone = { "$ref" = "#/$defs/number" }, email = { type = "string" }, count = { type = "integer", default = 2 } }
anyOf = [{ required = ["phone"] }, { required = ["email"] }]
"$defs" = { number = { "$anchor" = "n", type = "string", minLength = 3 } }
"##;
    let agent = ScriptedAgent::saying(["soup"]);
    let place = Setup { section, ..Setup::default() }.with(card("chef"), agent.clone()).start().await;
    let listed = place.modern("/mcp", "tools/list", json!({})).await;
    let tools = listed.last()["result"]["tools"].as_array().unwrap().clone();
    let schema = &tools.iter().find(|tool| tool["name"] == "contact").unwrap()["inputSchema"];
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["$defs"]["number"]["$anchor"], "n");
    assert!(schema["anyOf"].is_null(), "interfaces of models refuse it; it holds all the same: {schema}");
    for wrong in [json!({}), json!({"phone": "1"}), json!({"phone": "123", "more": 1}), json!({"email": "a@b"})] {
        let answer = place.call("contact", wrong.clone()).await;
        assert_eq!(answer.last()["result"]["isError"], true, "{wrong}");
    }
    place.call("contact", json!({"phone": "123"})).await;
    place.call("contact", json!({"phone": "123", "email": null, "count": 3.0})).await;
    let heard: Vec<_> = agent.heard().iter().map(forecourt_core::Message::text).collect();
    assert_eq!(heard, ["call 123 2", "call 123 3"], "integers are integers however they are written");
}

#[tokio::test]
async fn s1_a_tool_may_require_what_a_client_must_be_able_to_do() {
    let section = r#"
[[tools]]
name = "slow"
agent = "chef"
description = "d"
message = "m"
requires = ["tasks", "elicitation"]
"#;
    let place = Setup { section, ..Setup::default() }.with(card("chef"), ScriptedAgent::saying(["x"])).start().await;
    let answer = place.call("slow", json!({})).await;
    assert_eq!((answer.status, &answer.last()["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(-32021)));
    let required = &answer.last()["error"]["data"]["requiredCapabilities"];
    assert_eq!(*required, json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}));
    let able = json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    let call = modern("/mcp", "tools/call", json!({"name": "slow", "arguments": {}}), able);
    assert_eq!(place.send(call).await.last()["result"]["isError"], false);
}

#[tokio::test]
async fn a_prompt_asks_for_arguments_that_are_missing_where_the_client_can() {
    let place = chef().0.start().await;
    let forms = json!({"elicitation": {}});
    let get = async |params: Value| place.send(modern("/mcp", "prompts/get", params, forms.clone())).await;
    let asked = get(json!({"name": "dinner"})).await;
    let request = &asked.last()["result"]["inputRequests"]["guests"];
    assert_eq!(request["params"]["requestedSchema"]["properties"]["guests"]["title"], "How many.");
    let said = json!({"guests": {"action": "accept", "content": {"guests": "six"}}});
    let filled = get(json!({"name": "dinner", "inputResponses": said})).await;
    assert_eq!(filled.last()["result"]["messages"][0]["content"]["text"], "Plan a dinner for six guests.");
    let declined = get(json!({"name": "dinner", "inputResponses": {"guests": {"action": "decline"}}})).await;
    assert_eq!(declined.last()["error"]["code"], -32602);
}

#[tokio::test]
async fn all_that_is_wrong_with_names_and_templates_is_found() {
    let tool = |name: &str, more: &str| {
        format!("[[tools]]\nname = \"{name}\"\nagent = \"chef\"\ndescription = \"d\"\nmessage = \"m\"\n{more}\n")
    };
    let many = |count: usize| (0..count).map(|n| tool(&format!("t{n}"), "")).collect::<String>();
    let fine = |section: String| async move {
        let setup = Setup { section: section.leak(), ..Setup::default() };
        setup.with(card("chef"), ScriptedAgent::saying(["x"])).try_start().await.is_ok()
    };
    assert!(fine(many(100)).await);
    for wrong in [
        many(101),
        tool("", ""),
        tool("a b", ""),
        tool(&"n".repeat(65), ""),
        tool("same", "") + &tool("same", ""),
        tool("t", "").replace("chef", "nobody"),
        tool("t", "").replace("\"m\"", "\"{city}\""),
        tool("t", "").replace("\"m\"", "\"{\""),
        tool("t", "arguments = { city = 7 }"),
        tool("t", "schema = { type = \"string\" }"),
        tool("t", "schema = { type = \"object\", properties = { a = { type = \"nonsense\" } } }"),
        tool("t", "schema = { type = \"object\" }\narguments = { city = { type = \"string\" } }"),
        "[[prompts]]\nname = \"p\"\ndescription = \"d\"\ntext = \"{city}\"\n".to_owned(),
    ] {
        assert!(!fine(wrong.clone()).await, "{wrong}");
    }
    assert!(fine(tool(&"n".repeat(64), "")).await);
}
