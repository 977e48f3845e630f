//! `model`, against a real language model behind a real server: the one at FORECOURT_LLM_URL, which
//! `dev/llm/with` starts. Nothing is said about how clever the answers are, beyond what any model knows.

use std::sync::Arc;

use forecourt_agents::tool::{EndpointTool, Tool, ToolResult};
use forecourt_agents::{BuiltAgent, Context};
use forecourt_core::{Ending, Event, Message, Part, Role, Turn};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};

use crate::support::{ask, ask_after, build, context, events, message, stream};

const CUT: &str = "cut off at its length limit";

/// An agent whose answers hold no chance. `None` when there is no model to ask.
fn agent_with(more: &str, context: &Context) -> Option<BuiltAgent> {
    let Ok(url) = std::env::var("FORECOURT_LLM_URL") else {
        println!("skipped: no language model at FORECOURT_LLM_URL");
        return None;
    };
    let toml = format!(
        "[backend]\nkind = \"model\"\nbase_url = \"{url}\"\nmodel = \"small\"\ntemperature = 0.0\n\
         system = \"You are a helpful assistant.\"\n{more}"
    );
    Some(build(&toml, context))
}

fn agent(more: &str) -> Option<BuiltAgent> {
    agent_with(more, &context())
}

fn texts(events: &[Event]) -> Vec<&str> {
    events.iter().filter_map(|event| if let Event::Text(text) = event { Some(text.as_str()) } else { None }).collect()
}

#[tokio::test]
async fn an_answer_streams_in_fragments_and_is_complete() {
    let Some(agent) = agent("max_tokens = 64\n") else { return };
    let events = events(&agent, message(vec![Part::text("What is the capital of France?")])).await;
    let fragments = texts(&events);
    assert!(fragments.len() > 1 && fragments.concat().contains("Paris"), "{events:?}");
    assert_eq!(events.last(), Some(&Event::Ending(Ending::Complete)));
}

#[tokio::test]
async fn an_answer_in_one_piece_is_the_same() {
    let Some(agent) = agent("max_tokens = 64\nstream = false\n") else { return };
    let events = events(&agent, message(vec![Part::text("What is the capital of France?")])).await;
    assert!(
        matches!(&events[..], [Event::Text(text), Event::Ending(Ending::Complete)] if text.contains("Paris")),
        "{events:?}"
    );
}

#[tokio::test]
async fn max_tokens_bounds_an_answer_which_then_says_that_it_was_cut() {
    let question = "Tell me a long story about a dragon.";
    for tokens in [1, 8] {
        let Some(agent) = agent(&format!("max_tokens = {tokens}\n")) else { return };
        let events = events(&agent, message(vec![Part::text(question)])).await;
        let (note, fragments) = texts(&events).split_last().map(|(note, rest)| (*note, rest.to_vec())).unwrap();
        assert!(note.contains(CUT), "{events:?}");
        assert!((1..=tokens).contains(&fragments.len()), "{events:?}");
        assert_eq!(events.last(), Some(&Event::Ending(Ending::Complete)));
    }
}

#[tokio::test]
async fn an_earlier_turn_is_remembered() {
    let Some(agent) = agent("max_tokens = 64\n") else { return };
    let history =
        vec![Turn::text(Role::User, "My cat is called Whiskers."), Turn::text(Role::Assistant, "What a lovely name!")];
    let question = "What is my cat called?";
    let answer = ask_after(&agent, history, question).await;
    assert!(answer.text().contains("Whiskers"), "{answer:?}");
    assert_eq!(answer.ending, Ending::Complete);
    assert!(!ask(&agent, question).await.text().contains("Whiskers"));
}

/// The server answers one at a time, and the first answer takes far longer than the second one waits.
#[tokio::test]
async fn an_answer_that_nobody_waits_for_frees_the_server() {
    let Some(endless) = agent("max_tokens = 3900\nbody = { ignore_eos = true }\n") else { return };
    let mut events = stream(&endless, message(vec![Part::text("Tell me a story.")])).await;
    assert!(matches!(events.next().await, Some(Event::Text(_))));
    drop(events);
    let Some(next) = agent("max_tokens = 8\nfirst_token_seconds = 20\n") else { return };
    let answer = ask(&next, "Say hello.").await;
    assert_eq!(answer.ending, Ending::Complete, "{answer:?}");
}

#[tokio::test]
async fn more_than_the_model_can_read_is_refused_with_the_bound() {
    for preset in ["", "provider = \"llama.cpp\"\n"] {
        let Some(agent) = agent(&format!("max_tokens = 8\n{preset}")) else { return };
        let answer = ask(&agent, &"hello ".repeat(8_000)).await;
        let Ending::Refused(part) = &answer.ending else { panic!("{answer:?}") };
        assert!(part.message.contains("at most"), "{part:?}");
        assert_eq!(ask(&agent, "Say hello.").await.ending, Ending::Complete);
    }
}

#[tokio::test]
async fn a_conversation_that_is_longer_than_the_window_goes_on() {
    let Some(agent) = agent("provider = \"llama.cpp\"\nmax_tokens = 16\nhistory_turns = 40\nhistory_bytes = 262144\n")
    else {
        return;
    };
    let role = |n: usize| if n.is_multiple_of(2) { Role::User } else { Role::Assistant };
    let history = (0..40).map(|n| Turn::text(role(n), "one two three four five six seven eight ".repeat(60)));
    let answer = ask_after(&agent, history.collect(), "Say hello.").await;
    assert_eq!(answer.ending, Ending::Complete, "{answer:?}");
}

struct Lookup;

impl Tool for Lookup {
    fn name(&self) -> &str {
        "lookup"
    }

    fn description(&self) -> &str {
        "Looks a word up."
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]})
    }

    fn call<'a>(&'a self, arguments: Value, _: &'a Message) -> BoxFuture<'a, ToolResult> {
        async move { Ok(json!({"word": arguments["word"], "meaning": "unknown"})) }.boxed()
    }
}

/// A model this small calls no tools; being offered one must not keep it from answering.
#[tokio::test]
async fn a_model_that_is_offered_a_tool_still_answers() {
    let lookup = EndpointTool { pair: "QUERY /words".to_owned(), tool: Arc::new(Lookup) };
    let context = Context { endpoints: vec![lookup], ..context() };
    let settings = "max_tokens = 64\nendpoints = [\"QUERY /words\"]\n";
    let Some(agent) = agent_with(settings, &context) else { return };
    let answer = ask(&agent, "What is the capital of France?").await;
    assert!(!answer.text().is_empty(), "{answer:?}");
    assert_eq!(answer.ending, Ending::Complete);
}
