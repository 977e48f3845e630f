//! This host as others reach it over a real listener: fronted as an agent, and bridged to a pipe.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use forecourt_agents::siblings::Siblings;
use forecourt_agents::{BuiltAgent, Context};
use forecourt_core::policy::RefusalKind;
use forecourt_core::reply::collect;
use forecourt_core::{
    CollectedReply, ContentMode, Ending, Event, EventStream, File, Handle, Language, Message, MessageId, Part, Policy,
    PolicyPart, Question, ThreadId,
};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_mcp::bridge::bridge;
use forecourt_settings::{Problems, Section};
use forecourt_testkit::{CountedEntropy, HandClock, ScriptedAgent, card};
use futures::StreamExt;
use rmcp::ServiceExt;
use serde_json::{Value, json};

use crate::support::{Place, Setup, ends, says};

/// Listens for a host and says where; for as long as the test goes on.
async fn listen(place: &Place) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = place.router.clone();
    tokio::spawn(async { axum::serve(listener, router).await });
    url
}

fn egress() -> Egress {
    Egress::builder(EgressConfig::default()).build().unwrap()
}

fn build(toml: &str) -> Result<BuiltAgent, Problems> {
    let mut root = Section::parse(Path::new("agents/front.toml"), toml, &|_: &str| None)?;
    let context = Context {
        handle: Handle::parse("front").unwrap(),
        host: "near.example".to_owned(),
        language: Language::english(),
        folder: PathBuf::from("."),
        data_dir: PathBuf::from(".forecourt"),
        clock: Arc::new(HandClock::new()),
        entropy: Arc::new(CountedEntropy::default()),
        egress: egress(),
        path_variable: None,
        variable: |_| None,
        budget: forecourt_agents::budget::BudgetSettings::default(),
        usage: Arc::new(forecourt_agents::usage::NoUsage),
        endpoints: Vec::new(),
        siblings: Siblings::default(),
        goes_on: false,
        builtin: Vec::new(),
    };
    (forecourt_mcp::BACKEND.build)(root.take("backend").expect("a [backend]"), &context)
}

async fn ask(built: &BuiltAgent, text: &str, hop: u32) -> CollectedReply {
    say(built, text, hop, None).await
}

#[track_caller]
fn failure(answer: CollectedReply) -> String {
    match answer.ending {
        Ending::Failed { reason, .. } => reason,
        other => panic!("not a failure: {other:?}"),
    }
}

async fn say(built: &BuiltAgent, text: &str, hop: u32, thread: Option<&ThreadId>) -> CollectedReply {
    collect(begin(built, text, hop, thread).await).await
}

fn message(parts: Vec<Part>) -> Message {
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    Message::new(MessageId::parse("m1").unwrap(), Handle::parse("front").unwrap(), parts, "test", at)
}

async fn begin(built: &BuiltAgent, text: &str, hop: u32, thread: Option<&ThreadId>) -> EventStream {
    put(built, Message { hop, thread: thread.cloned(), ..message(vec![Part::text(text)]) }).await
}

async fn handle(built: &BuiltAgent, parts: Vec<Part>) -> EventStream {
    put(built, message(parts)).await
}

async fn put(built: &BuiltAgent, message: Message) -> EventStream {
    let admitted = Policy::new(Vec::new()).admit(Arc::new(card("front")), message, &[]).await.unwrap();
    built.agent.handle(admitted)
}

#[tokio::test]
async fn an_agent_in_front_gives_the_words_and_tells_how_many_stand_in_line() {
    let (setup, agent) = Setup::default().playing("chef", vec![says("soup"), ends(Ending::Complete)]);
    let place = setup.start().await;
    let url = listen(&place).await;
    let built = build(&format!("[backend]\nkind = \"mcp\"\nurl = \"{url}\"\ntool = \"ask_chef\"\n")).unwrap();
    for _ in 0..2 {
        let answer = ask(&built, "hi {text}", 2).await;
        assert_eq!((answer.text().as_str(), &answer.ending), ("soup", &Ending::Complete));
    }
    let heard = agent.heard();
    assert_eq!((heard[1].text().as_str(), heard[1].hop), ("hi {text}", 3));
}

/// An agent in front of one that asks, which may ask through it.
async fn asking(more: &str) -> (BuiltAgent, Arc<ScriptedAgent>, Place) {
    let questions = vec![json!({"id": "kind", "type": "single_select", "text": "Which?", "options": ["pea", "leek"]})];
    let question = Ending::Question(Question { text: "One thing.".into(), questions });
    let (setup, agent) = Setup::default().playing("chef", vec![ends(question)]);
    let place = setup.start().await;
    let url = listen(&place).await;
    let built = build(&format!("[backend]\nkind = \"mcp\"\nurl = \"{url}\"\ntool = \"ask_chef\"\n{more}")).unwrap();
    (built, agent, place)
}

#[tokio::test]
async fn s5_a_question_in_the_middle_of_a_call_is_the_callers_and_the_answer_goes_on_with_it() {
    let (built, agent, _place) = asking("questions = true\n").await;
    assert!(built.remembers);
    let thread = ThreadId::mint(&CountedEntropy::default());
    let asked = say(&built, "soup", 0, Some(&thread)).await;
    let Ending::Question(question) = asked.ending else { panic!("it asks: {:?}", asked.ending) };
    assert_eq!((question.text.as_str(), &question.questions[0]["options"]), ("One thing.", &json!(["pea", "leek"])));
    say(&built, "leek", 0, Some(&thread)).await;
    let heard: Vec<String> = agent.heard().iter().map(Message::text).collect();
    assert_eq!(heard, ["soup", "Which? leek"], "the same call went on");
    say(&built, "rather a stew", 0, Some(&thread)).await;
    assert_eq!(agent.heard().last().unwrap().text(), "rather a stew", "what is no answer begins another call");
}

#[tokio::test]
async fn s5_words_before_a_question_in_the_middle_of_a_call_come_with_it() {
    let question = Ending::Question(Question { text: "Which one?".into(), questions: Vec::new() });
    let (setup, agent) = Setup::default().playing("chef", vec![says("Soup, then."), ends(question)]);
    let place = setup.start().await;
    let url = listen(&place).await;
    for more in ["questions = true\n", ""] {
        let built = build(&format!("[backend]\nkind = \"mcp\"\nurl = \"{url}\"\ntool = \"ask_chef\"\n{more}")).unwrap();
        let thread = ThreadId::mint(&CountedEntropy::default());
        let asked = say(&built, "soup", 0, Some(&thread)).await;
        let Ending::Question(question) = &asked.ending else { panic!("it asks: {:?}", asked.ending) };
        let all = format!("{}\n\n{}", asked.text(), question.text);
        assert_eq!(all.trim(), "Soup, then.\n\nWhich one?", "{more}");
    }
    let heard = agent.heard().len();
    assert_eq!(heard, 2, "each was asked once");
}

#[tokio::test]
async fn s5_without_a_conversation_or_leave_to_ask_the_server_is_not_answered() {
    for more in ["questions = true\n", ""] {
        let (built, agent, _place) = asking(more).await;
        assert!(matches!(ask(&built, "soup", 0).await.ending, Ending::Question(_)), "as the result has it");
        assert_eq!(agent.heard().len(), 1, "{more}");
    }
}

#[tokio::test]
async fn refusals_failures_and_servers_that_are_not_there() {
    let refusal = PolicyPart::new(RefusalKind::Forbidden, "Not you.");
    let (setup, _) = Setup::default().playing("gate", vec![ends(Ending::Refused(Box::new(refusal)))]);
    let place = setup.start().await;
    let url = listen(&place).await;
    let built = build(&format!("[backend]\nkind = \"mcp\"\nurl = \"{url}\"\ntool = \"ask_gate\"\n")).unwrap();
    let Ending::Refused(part) = ask(&built, "x", 0).await.ending else { panic!("it was refused") };
    assert_eq!(part.message, "Not you.");
    for (url, tool, what) in [
        (url.as_str(), "ask_nobody", "did not take the call"),
        ("http://127.0.0.1:9/mcp", "ask_gate", "can't be reached at the moment"),
    ] {
        let built = build(&format!("[backend]\nkind = \"mcp\"\nurl = \"{url}\"\ntool = \"{tool}\"\n")).unwrap();
        assert_eq!(failure(ask(&built, "x", 0).await), format!("The server behind this agent {what}."));
    }
}

#[tokio::test]
async fn a_program_that_speaks_no_mcp_is_a_failure() {
    let built = build("[backend]\nkind = \"mcp\"\ncommand = [\"/bin/cat\", \"/dev/null\"]\n").unwrap();
    assert!(matches!(ask(&built, "x", 0).await.ending, Ending::Failed { .. }));
    let built = build("[backend]\nkind = \"mcp\"\ncommand = [\"/no/such/program\"]\n").unwrap();
    assert_eq!(failure(ask(&built, "x", 0).await), "The server behind this agent could not be started.");
}

/// A program that shakes hands, hears of one call, and goes on with `then`, where `$id` is the call's.
fn program(then: &str, more: &str) -> BuiltAgent {
    let hello =
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}"#;
    let script = format!(
        "id() {{ printf %s \"$1\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p'; }}\nread -r hello\n\
         printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{hello}}}\\n' \"$(id \"$hello\")\"\n\
         read -r told\nread -r call\nid=$(id \"$call\")\n{then}"
    );
    let script = serde_json::Value::from(script).to_string();
    build(&format!("[backend]\nkind = \"mcp\"\ncommand = [\"/bin/sh\", \"-c\", {script}]\n{more}")).unwrap()
}

/// Prints an answer to the call.
const ANSWER: &str = "printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"soup\"}]}}\\n' \"$id\"; read -r end";

#[tokio::test]
async fn a_program_that_dies_in_a_call_fails_that_call_and_is_started_again() {
    let mark = std::env::temp_dir().join(format!("forecourt-died-{}", std::process::id()));
    let once = format!("if [ ! -e {0} ]; then : > {0}; exit 1; fi\n{ANSWER}", mark.display());
    let built = program(&once, "");
    let reason = failure(ask(&built, "x", 0).await);
    assert_eq!(reason, "The server behind this agent broke off before its answer was whole.");
    assert_eq!(ask(&built, "x", 0).await.text(), "soup");
    std::fs::remove_file(mark).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_program_that_says_nothing_is_waited_for_no_longer_than_it_may_take() {
    let built = build("[backend]\nkind = \"mcp\"\ncommand = [\"/bin/cat\"]\ntotal_seconds = 2\n").unwrap();
    let answer = ask(&built, "x", 0).await;
    assert!(matches!(answer.ending, Ending::Failed { .. }), "{:?}", answer.ending);
}

#[tokio::test]
async fn what_a_program_prints_beside_messages_is_passed_over() {
    // The last one is more than a pipe holds.
    for noise in ["echo starting", "echo '{}'", "echo '[1,2'", "printf '\\377\\376\\n'", "head -c 200000 /dev/zero >&2"]
    {
        let built = program(&format!("{noise}\n{ANSWER}"), "");
        let answer = ask(&built, "x", 0).await;
        assert_eq!(answer.text(), "soup", "{noise}: {:?}", answer.ending);
    }
}

#[tokio::test]
async fn a_line_without_an_end_is_not_read_for_ever() {
    let built = program("yes | tr -d '\\n'", "");
    assert!(matches!(ask(&built, "x", 0).await.ending, Ending::Failed { .. }));
}

/// A server whose every answer to a call is `answer`, which is given the request.
async fn scripted<A>(answer: A) -> BuiltAgent
where
    A: Fn(&Value) -> Response + Clone + Send + Sync + 'static,
{
    scripted_with(answer, "").await
}

async fn scripted_with<A>(answer: A, more: &str) -> BuiltAgent
where
    A: Fn(&Value) -> Response + Clone + Send + Sync + 'static,
{
    let app = Router::new().fallback(move |body: axum::body::Bytes| {
        let answer = answer.clone();
        async move {
            let heard: Value = serde_json::from_slice(&body).unwrap_or_default();
            match heard["method"].as_str() {
                Some("initialize") => json_rpc(
                    &heard,
                    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                        "serverInfo": {"name": "t", "version": "1"}}),
                ),
                Some("tools/call") => answer(&heard),
                _ => StatusCode::ACCEPTED.into_response(),
            }
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, app).await });
    build(&format!("[backend]\nkind = \"mcp\"\nurl = \"{url}\"\ntool = \"t\"\n{more}")).unwrap()
}

fn json_rpc(heard: &Value, result: Value) -> Response {
    let answer = json!({"jsonrpc": "2.0", "id": heard["id"], "result": result});
    ([(CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

#[tokio::test]
async fn what_a_status_says_is_told_apart_and_tells_nothing_of_the_inside() {
    let told = async |code: u16, body: &'static str| {
        let answer = move |_: &Value| {
            let status = StatusCode::from_u16(code).unwrap();
            let head = [
                ("retry-after", "7"),
                ("www-authenticate", "Bearer realm=\"inside\""),
                ("content-type", "application/json"),
            ];
            (status, head, body).into_response()
        };
        ask(&scripted(answer).await, "x", 0).await.ending
    };
    // An error in words of the protocol says no more than that it failed.
    let error = r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "secret"}}"#;
    for (body, kinds) in [("secret", 6), (error, 4)] {
        for code in [429, 503] {
            let Ending::Refused(part) = told(code, body).await else { panic!("{code} is for later") };
            assert_eq!(part.kind, RefusalKind::ServiceUnavailable { retry_after_seconds: Some(7) });
        }
        let mut said = Vec::new();
        for code in [401, 402, 403, 404, 422, 500] {
            let Ending::Failed { reason, .. } = told(code, body).await else { panic!("{code} is a failure") };
            assert!(reason.starts_with("The server behind this agent "), "{reason}");
            assert!(!reason.contains("secret") && !reason.contains("inside"), "{reason}");
            said.push(reason);
        }
        said.sort();
        said.dedup();
        assert_eq!(said.len(), kinds, "{said:?}");
    }
}

#[tokio::test]
async fn progress_is_passed_on_while_the_call_goes_on() {
    let answer = |heard: &Value| {
        let token = &heard["params"]["_meta"]["progressToken"];
        let event = |value: Value| Ok::<_, std::io::Error>(format!("data: {value}\n\n"));
        let progress = |done: f64, note: &str| {
            let params = json!({"progressToken": token, "progress": done, "total": 4, "message": note});
            event(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
        };
        let foreign = json!({"progressToken": "another", "progress": 1, "message": "of another"});
        let events = vec![
            progress(1.0, "chopping"),
            event(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": foreign})),
            progress(2.0, "boiling"),
        ];
        // The result never comes: what was told before it does.
        let body =
            Body::from_stream(futures::StreamExt::chain(futures::stream::iter(events), futures::stream::pending()));
        ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
    };
    let built = scripted(answer).await;
    let mut events = begin(&built, "x", 0, None).await;
    let mut notes = Vec::new();
    while notes.len() < 2 {
        let Some(Event::Progress(progress)) = events.next().await else { panic!("progress") };
        notes.push((progress.fraction, progress.note.unwrap()));
    }
    notes.sort_by(|a, b| b.1.cmp(&a.1)); // Each is handled by itself.
    assert_eq!(notes, [(Some(0.25), "chopping".to_owned()), (Some(0.5), "boiling".to_owned())]);
}

#[tokio::test]
async fn files_go_where_the_arguments_have_a_place_for_them_and_are_turned_away_otherwise() {
    let echo = |heard: &Value| {
        let text = heard["params"]["arguments"].to_string();
        json_rpc(heard, json!({"content": [{"type": "text", "text": format!("got {text}")}]}))
    };
    let file = || Part::File(File::inline("image/png".to_owned(), Some("a.png".to_owned()), "png".into()));
    let parts = || vec![Part::text("see"), file()];
    let built = scripted_with(echo, "arguments = { q = \"{text}\", files = \"{attachments}\" }\n").await;
    assert!(built.input_modes.iter().any(|mode| matches!(mode, ContentMode::File { .. })));
    let given = collect(handle(&built, parts()).await).await.text();
    assert!(given.contains(r#""name":"a.png""#) && given.contains("cG5n"), "{given}");
    let built = scripted(echo).await;
    assert!(!built.input_modes.iter().any(|mode| matches!(mode, ContentMode::File { .. })));
    let turned_away = failure(collect(handle(&built, parts()).await).await);
    assert!(turned_away.contains("a.png was not passed on"), "{turned_away}");
}

#[tokio::test]
async fn words_of_errors_are_for_the_log_and_pages_to_visit_first_for_the_caller() {
    let error = |error: Value| {
        move |heard: &Value| {
            let answer = json!({"jsonrpc": "2.0", "id": heard["id"], "error": error});
            ([(CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
        }
    };
    for (code, what) in [(-32602, "did not take the call"), (-32603, "failed"), (7, "failed")] {
        let built = scripted(error(json!({"code": code, "message": "db01.internal", "data": "db01.internal"}))).await;
        assert_eq!(failure(ask(&built, "x", 0).await), format!("The server behind this agent {what}."));
    }
    let page = json!({"mode": "url", "elicitationId": "1", "url": "https://far.example/in", "message": "Sign in."});
    let built = scripted(error(json!({"code": -32042, "message": "x", "data": {"elicitations": [page]}}))).await;
    let Ending::SignIn(wanted) = ask(&built, "x", 0).await.ending else { panic!("it can go on") };
    assert_eq!(wanted.question.text, "Sign in.\n\nhttps://far.example/in");
}

#[test]
fn settings_name_one_server() {
    for wrong in [
        "",
        "url = \"https://a.example/mcp\"\ncommand = [\"x\"]\n",
        "url = \"ftp://a.example\"\n",
        "url = \"https://a.example/mcp\"\ntotal_seconds = 0\n",
        "url = \"https://a.example/mcp\"\ntols = \"x\"\n",
    ] {
        assert!(build(&format!("[backend]\nkind = \"mcp\"\n{wrong}")).is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn a_bridge_carries_a_client_to_the_server_and_ends_with_it() {
    let place = Setup::default().with(card("chef"), ScriptedAgent::saying(["soup"])).start().await;
    let url = listen(&place).await;
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(far);
    let carried = tokio::spawn(async move { bridge(egress(), &url, None, input, output).await });
    let client = ().serve(near).await.unwrap();
    let arguments = json!({"message": "hi"}).as_object().cloned().unwrap();
    let call = rmcp::model::CallToolRequestParams::new("ask_chef").with_arguments(arguments);
    let result = client.call_tool(call).await.unwrap();
    assert_eq!(result.structured_content, Some(json!({"state": "completed", "text": "soup"})));
    client.cancel().await.unwrap();
    assert_eq!(carried.await.unwrap(), Ok(()));
}
