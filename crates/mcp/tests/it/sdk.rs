//! The client of the SDK, over a pipe.

use forecourt_core::Ending;
use forecourt_core::reply::Question;
use forecourt_testkit::{ScriptedAgent, card};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    Implementation,
};
use rmcp::service::RequestContext;
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use serde_json::json;

use crate::support::{Setup, ends};

/// A client whose person answers every question with `vegan`.
#[derive(Clone, Default)]
struct Vegan;

impl ClientHandler for Vegan {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities = serde_json::from_value(json!({"elicitation": {"form": {}}})).unwrap();
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"answer": "vegan"})))
    }
}

fn ask(message: &str) -> CallToolRequestParams {
    let arguments = json!({"message": message}).as_object().cloned().unwrap_or_default();
    CallToolRequestParams::new("ask_chef").with_arguments(arguments)
}

/// Serves a host in memory over a pipe and hands back the other end.
async fn pipe(setup: Setup) -> (tokio::io::DuplexStream, tokio::task::JoinHandle<()>) {
    let place = setup.start().await;
    let (theirs, ours) = tokio::io::duplex(64 * 1024);
    let pipe = place.pipe();
    let serving = tokio::spawn(async move {
        let (input, output) = tokio::io::split(ours);
        pipe.serve(input, output).await;
        drop(place);
    });
    (theirs, serving)
}

#[tokio::test]
async fn over_a_pipe_the_client_lists_calls_and_leaves() {
    let (end, serving) = pipe(Setup::default().with(card("chef"), ScriptedAgent::saying(["soup"]))).await;
    let client = ().serve(end).await.unwrap();
    let names: Vec<_> = client.list_all_tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["await_task", "ask_chef"]);
    let result = client.call_tool(ask("hi")).await.unwrap();
    assert_eq!(result.structured_content, Some(json!({"state": "completed", "text": "soup"})));
    client.cancel().await.unwrap();
    serving.await.unwrap();
}

#[tokio::test]
async fn over_a_pipe_a_person_is_asked_in_the_middle_of_a_call() {
    let question = Question { text: "Which diet?".into(), questions: Vec::new() };
    let (setup, agent) = Setup::default().playing("chef", vec![ends(Ending::Question(question))]);
    let (end, _serving) = pipe(setup).await;
    let client = Vegan.serve(end).await.unwrap();
    client.call_tool(ask("dinner")).await.unwrap();
    let heard: Vec<_> = agent.heard().iter().map(forecourt_core::Message::text).collect();
    assert_eq!(heard, ["dinner", "vegan", "vegan", "vegan"], "three questions, then the fourth is the result");
}

#[tokio::test]
async fn a_pipe_that_says_nothing_or_nonsense_ends() {
    for said in ["", "nonsense\n", "{}\n"] {
        let place = Setup::default().with(card("chef"), ScriptedAgent::saying(["soup"])).start().await;
        place.pipe().serve(std::io::Cursor::new(said.as_bytes().to_vec()), tokio::io::sink()).await;
    }
}
