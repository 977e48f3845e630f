//! Tools of agents and of other protocols.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forecourt_core::part::Data;
use forecourt_core::policy::RefusalKind;
use forecourt_core::reply::Progress;
use forecourt_core::{AgentCard, Ending, Event, File, Link, Part, PolicyPart};
use forecourt_surface::tool::{Tool, ToolCall, ToolEvent, ToolOutput};
use forecourt_testkit::{ScriptedAgent, Step, card};
use futures::stream::{self, StreamExt};
use serde_json::{Value, json};

use crate::support::{Setup, ends, modern, says};

const PATIENCE: Duration = Duration::from_secs(25);

fn ask(message: &str) -> Value {
    json!({"message": message})
}

/// A tool of another protocol that does what `events` say.
fn scripted(name: &str, events: Vec<ToolEvent>) -> Tool {
    Tool {
        name: name.to_owned(),
        title: "A tool".to_owned(),
        description: "Does something.".to_owned(),
        input: json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}).into(),
        output: Some(json!({"type": "object"}).into()),
        agent: None,
        reads_only: true,
        is_idempotent: true,
        as_tool: true,
        as_skill: false,
        call: Arc::new(move |_: ToolCall| stream::iter(events.clone()).boxed()),
        outcome: None,
    }
}

#[tokio::test]
async fn s3_words_items_files_and_links_of_an_agent() {
    let steps = vec![
        says("Two "),
        says("results."),
        Step::Do(Event::Part(Part::Data(Data { data: json!({"@type": "Recipe", "name": "Soup"}).into(), mime: None }))),
        Step::Do(Event::Part(Part::File(File::inline("image/png", Some("a.png".into()), Bytes::from_static(b"png"))))),
        Step::Do(Event::Part(Part::Link(Link {
            url: "https://example.com/".into(),
            title: Some("Example".into()),
            description: None,
        }))),
        ends(Ending::Complete),
    ];
    let (setup, _) = Setup::default().playing("chef", steps);
    let answer = setup.start().await.call("ask_chef", ask("soup")).await;
    let result = &answer.last()["result"];
    let kinds: Vec<_> = result["content"].as_array().into_iter().flatten().map(|block| block["type"].clone()).collect();
    assert_eq!(kinds, ["text", "text", "image", "resource_link"]);
    assert_eq!(result["content"][0]["text"], "Two results.");
    let shown: Value = serde_json::from_str(result["content"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(shown["items"], result["structuredContent"]["items"]);
    assert_eq!(result["structuredContent"]["items"][0]["name"], "Soup");
    assert_eq!(result["isError"], false);
}

#[tokio::test]
async fn s3_arguments_that_mean_nothing_are_told_to_the_model() {
    let place = Setup::default().with(card("chef"), ScriptedAgent::saying(["x"])).start().await;
    for wrong in [json!({}), json!({"message": " "}), json!({"message": 7}), json!({"message": "x", "context_id": []})]
    {
        let answer = place.call("ask_chef", wrong.clone()).await;
        assert_eq!(answer.last()["result"]["isError"], true, "{wrong}");
    }
    let answer = place.call("ask_nobody", ask("x")).await;
    assert_eq!(answer.last()["error"]["code"], -32602);
}

#[tokio::test]
async fn s3_a_failure_and_a_refusal_say_so() {
    let refusal = PolicyPart::new(RefusalKind::TooManyRequests { retry_after_seconds: Some(30) }, "Slowly.");
    let (setup, _) = Setup::default().playing("sad", vec![ends(Ending::failed("No gas."))]);
    let (setup, _) = setup.playing("gate", vec![ends(Ending::Refused(Box::new(refusal)))]);
    let (setup, _) = setup.playing("mad", vec![Step::Panic]);
    let place = setup.start().await;
    let of = async |name: &str| place.call(name, ask("x")).await.last()["result"].clone();
    let failed = of("ask_sad").await;
    assert_eq!((&failed["isError"], &failed["content"][0]["text"]), (&json!(true), &json!("No gas.")));
    let refused = of("ask_gate").await;
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["structuredContent"]["refusal"]["kind"], "too_many_requests");
    assert_eq!(refused["_meta"]["mentionable"]["policy"]["part"]["message"], "Slowly.");
    assert_eq!(of("ask_mad").await["isError"], true);
}

#[tokio::test]
async fn a_conversation_goes_on_by_its_context_id() {
    let agent = ScriptedAgent::saying(["hello"]);
    let chef = AgentCard { remembers: true, ..card("chef") };
    let place = Setup::default().with(chef, agent.clone()).start().await;
    let first = place.call("ask_chef", ask("one")).await;
    let context = first.last()["result"]["structuredContent"]["context_id"].clone();
    assert!(context.is_string());
    let again = place.call("ask_chef", json!({"message": "two", "context_id": context})).await;
    assert_eq!(again.last()["result"]["structuredContent"]["context_id"], context);
    let heard = agent.heard();
    assert_eq!((heard[0].history.len(), heard[1].history.len()), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn what_takes_long_becomes_a_task_that_can_be_awaited() {
    let steps = vec![says("Well, "), Step::Wait(PATIENCE * 5 / 2), says("soup."), ends(Ending::Complete)];
    let (setup, _) = Setup::default().playing("chef", steps);
    let place = setup.start().await;
    let began = tokio::time::Instant::now();
    let answer = place.call("ask_chef", ask("soup")).await;
    assert_eq!(began.elapsed().as_secs(), PATIENCE.as_secs());
    let first = answer.last()["result"]["structuredContent"].clone();
    assert_eq!((&first["state"], &first["text"]), (&json!("working"), &json!("Well, ")));
    let task = json!({"task_id": first["task_id"]});
    let second = place.call("await_task", task.clone()).await.last()["result"]["structuredContent"].clone();
    assert_eq!(second["state"], "working");
    let third = place.call("await_task", task.clone()).await.last()["result"]["structuredContent"].clone();
    assert_eq!((&third["state"], &third["text"]), (&json!("completed"), &json!("Well, soup.")));
    assert_eq!(place.call("await_task", task).await.last()["result"]["structuredContent"], third);
}

#[tokio::test(start_paused = true)]
async fn a_task_can_be_cancelled_once() {
    let (setup, agent) = Setup::default().playing("chef", vec![Step::Hang]);
    let place = setup.start().await;
    let begun = place.call("ask_chef", ask("soup")).await;
    let task = begun.last()["result"]["structuredContent"]["task_id"].clone();
    let cancelled = place.call("await_task", json!({"task_id": task, "cancel": true})).await;
    assert_eq!(cancelled.last()["result"]["structuredContent"]["state"], "canceled");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(agent.begun_and_left(), (1, 1));
    let again = place.call("await_task", json!({"task_id": task, "cancel": true})).await;
    assert_eq!(again.last()["result"]["isError"], true);
}

#[tokio::test(start_paused = true)]
async fn tasks_of_others_do_not_exist() {
    let (setup, _) = Setup { issuer: true, ..Setup::default() }.playing("chef", vec![Step::Hang]);
    let place = setup.start().await;
    let as_who = async |name: Option<&str>, tool: &str, arguments: Value| {
        let mut request = modern("/mcp", "tools/call", json!({"name": tool, "arguments": arguments}), json!({}));
        if let Some(name) = name {
            request.headers_mut().insert("authorization", place.token(name).parse().unwrap());
        }
        place.send(request).await.last()["result"].clone()
    };
    let begun = as_who(Some("ann"), "ask_chef", ask("soup")).await;
    let task = json!({"task_id": begun["structuredContent"]["task_id"]});
    for stranger in [Some("bob"), None] {
        let answer = as_who(stranger, "await_task", task.clone()).await;
        assert_eq!(answer["content"][0]["text"], "no such task", "{stranger:?}");
    }
    assert_eq!(as_who(Some("ann"), "await_task", task).await["structuredContent"]["state"], "working");
    for none in ["", "x", &"A".repeat(43)] {
        assert_eq!(as_who(None, "await_task", json!({"task_id": none})).await["isError"], true, "{none}");
    }
}

#[tokio::test(start_paused = true)]
async fn s5_progress_is_told_to_who_asked_for_it() {
    let progress =
        |fraction: f64| Event::Progress(Progress { fraction: Some(fraction), note: Some("Stirring.".into()) });
    let steps = vec![
        Step::Do(progress(0.2)),
        Step::Wait(Duration::from_secs(5)),
        Step::Do(progress(0.7)),
        says("Done."),
        ends(Ending::Complete),
    ];
    let (setup, _) = Setup::default().playing("chef", steps);
    let place = setup.start().await;
    let params = json!({"name": "ask_chef", "arguments": ask("x"), "_meta": {"progressToken": "p1"}});
    let answer = place.send(modern("/mcp", "tools/call", params, json!({}))).await;
    let told: Vec<_> = answer.messages.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert_eq!(told.len(), 2, "{:?}", answer.messages);
    assert_eq!(told[0]["params"]["progressToken"], "p1");
    assert_eq!((&told[1]["params"]["progress"], &told[1]["params"]["message"]), (&json!(0.7), &json!("Stirring.")));
    assert_eq!(answer.last()["result"]["structuredContent"]["text"], "Done.");
    let silent = place.call("ask_chef", ask("x")).await;
    assert_eq!(silent.messages.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn s1_a_client_that_leaves_ends_the_work() {
    let (setup, agent) = Setup::default().playing("chef", vec![Step::Hang]);
    let place = setup.start().await;
    for after in [1, 10] {
        let call = place.call("ask_chef", ask("x"));
        assert!(tokio::time::timeout(Duration::from_secs(after), call).await.is_err());
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(agent.begun_and_left(), (2, 2));
}

#[tokio::test]
async fn operations_of_other_protocols_are_carried_with_all_they_give() {
    let called = ToolOutput {
        structured: json!({"answer": 42}),
        text: vec!["Forty-two.".into(), "Or so.".into()],
        meta: json!({"response_type": "answer"}).as_object().cloned().unwrap_or_default(),
        ..ToolOutput::default()
    };
    let tool = scripted("deep", vec![ToolEvent::Done(Box::new(called))]);
    let setup = Setup { tools: vec![tool, scripted("silent", Vec::new())], ..Setup::default() };
    let place = setup.with(card("chef"), ScriptedAgent::saying(["x"])).start().await;
    let listed = place.modern("/mcp", "tools/list", json!({})).await;
    let first = &listed.last()["result"]["tools"][0];
    assert_eq!((&first["name"], &first["annotations"]["readOnlyHint"]), (&json!("deep"), &json!(true)));
    assert_eq!(first["annotations"]["idempotentHint"], true);
    assert!(first["inputSchema"].get("$schema").is_none());
    let result = place.call("deep", json!({})).await.last()["result"].clone();
    assert_eq!(result["content"][1]["text"], "Or so.");
    assert_eq!(
        (&result["structuredContent"]["answer"], &result["_meta"]["response_type"]),
        (&json!(42), &json!("answer"))
    );
    assert_eq!(place.call("silent", json!({})).await.last()["result"]["isError"], true);
}

#[tokio::test]
async fn of_two_tools_with_one_name_the_hosts_counts() {
    let named = |text: &str| {
        let called = ToolOutput { text: vec![text.into()], ..ToolOutput::default() };
        scripted("ask", vec![ToolEvent::Done(Box::new(called))])
    };
    let agent = card("chef").handle().clone();
    let own = Tool { agent: Some(agent), ..named("the agent's") };
    let setup = Setup { tools: vec![own, named("the host's")], ..Setup::default() };
    let place = setup.with(card("chef"), ScriptedAgent::saying(["x"])).start().await;
    assert_eq!(place.call("ask", json!({})).await.last()["result"]["content"][0]["text"], "the host's");
    let at_agent = place.modern("/mcp/chef", "tools/call", json!({"name": "ask", "arguments": {}})).await;
    assert_eq!(at_agent.last()["result"]["content"][0]["text"], "the agent's");
}
