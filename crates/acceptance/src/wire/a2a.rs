//! A2A 1.0 over JSON-RPC: `SendMessage`, and the task that it gives back.

use serde_json::{Value, json};

use super::{Conversation, refusal_in, take_data, text_of};
use crate::answer::{Answer, Ending, ToolUse};

/// How the states of tasks begin.
const STATE: &str = "TASK_STATE_";

pub(super) async fn say(conversation: &mut Conversation, words: &str) -> Result<Answer, String> {
    let id = format!("test-{}", conversation.turns);
    let mut message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": words}]});
    if let Some(context) = &conversation.session {
        message["contextId"] = context.as_str().into();
    }
    if let Some(task) = conversation.task.take() {
        message["taskId"] = task.into();
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let path = format!("/a2a/{}", conversation.peer.agent);
    let reply = conversation.post_json(&path, &[("a2a-version", "1.0")], &body).await?;
    let task = &reply.body["result"]["task"];
    let context = task["contextId"].as_str().or(reply.body["result"]["message"]["contextId"].as_str());
    conversation.session = context.map(str::to_owned).or(conversation.session.take());
    let is_open = task["status"]["state"] == format!("{STATE}INPUT_REQUIRED");
    conversation.task = task["id"].as_str().filter(|_| is_open).map(str::to_owned);
    Ok(read(&reply.body))
}

pub(super) fn read(body: &Value) -> Answer {
    let mut answer = Answer::default();
    let (task, message) = (&body["result"]["task"], &body["result"]["message"]);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for artifact in list(&task["artifacts"]) {
        list(&artifact["parts"]).iter().for_each(|part| drop(take(part, &mut answer)));
    }
    list(&message["parts"]).iter().for_each(|part| drop(take(part, &mut answer)));
    let earlier = list(&task["history"]);
    let told =
        earlier.iter().filter(|message| message["role"] == "ROLE_AGENT").flat_map(|message| list(&message["parts"]));
    // Calls that were made and those under way alike, each once.
    for part in told.chain(list(&task["status"]["message"]["parts"])) {
        take_call(&part["data"], &mut answer);
    }
    answer.ending = ending(body, &mut answer);
    answer
}

fn ending(body: &Value, answer: &mut Answer) -> Ending {
    if let Some(refusal) = refusal_in(body, 0) {
        return refusal;
    }
    if let Some(error) = body.get("error") {
        return Ending::Failure { code: error["code"].to_string(), message: text_of(error, "message") };
    }
    let status = &body["result"]["task"]["status"];
    let mut said = Answer::default();
    let parts = status["message"]["parts"].as_array().into_iter().flatten();
    let asked: Vec<String> = parts.filter_map(|part| take(part, &mut said)).collect();
    let words = said.text.clone();
    let code = text_of(&status["message"]["metadata"]["forecourt/ending"], "code");
    match status["state"].as_str().unwrap_or_default().trim_start_matches(STATE) {
        // A message in place of a task is an answer.
        "COMPLETED" | "" => {
            answer.text.push_str(&words);
            Ending::Complete
        }
        "INPUT_REQUIRED" | "AUTH_REQUIRED" => Ending::Question([vec![words], asked].concat().join("\n")),
        state => {
            let code = if code.is_empty() { state.to_lowercase() } else { code };
            Ending::Failure { code, message: words }
        }
    }
}

/// Adds a part; gives the words of questions.
fn take(part: &Value, answer: &mut Answer) -> Option<String> {
    if let Some(text) = part["text"].as_str() {
        answer.text.push_str(text);
    } else if part.get("raw").is_some() || part.get("url").is_some() {
        answer.files.push(text_of(part, "filename"));
    } else if part.get("data").is_some() && !take_call(&part["data"], answer) {
        return take_data(&part["data"], &mut answer.items);
    }
    None
}

/// Whether data tells of a call of a tool, which is added once.
fn take_call(data: &Value, answer: &mut Answer) -> bool {
    let is_one = data["type"].as_str().is_some_and(|kind| kind.starts_with("tool-")) && data["toolName"].is_string();
    let call = ToolUse { tool: text_of(data, "toolName"), arguments: data["input"].clone() };
    if is_one && !answer.calls.contains(&call) {
        answer.calls.push(call);
    }
    is_one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_words_items_files_and_calls() {
        let body = json!({"result": {"task": {
            "artifacts": [{"parts": [{"text": "There are three."}, {"data": {"name": "Soup"}}]},
                {"parts": [{"filename": "a.png", "raw": "cG5n"}]}],
            "history": [{"role": "ROLE_USER", "parts": [{"text": "tool"}]},
                {"role": "ROLE_AGENT", "parts": [{"data": {"type": "tool-result", "toolName": "search", "input": {"q": 1}}}]}],
            "status": {"state": "TASK_STATE_COMPLETED"}}}});
        let answer = read(&body);
        assert_eq!((answer.text.as_str(), answer.items.len(), answer.files.len()), ("There are three.", 1, 1));
        assert_eq!((answer.calls.len(), answer.ending), (1, Ending::Complete));
    }

    #[test]
    fn each_state_is_an_ending() {
        let state = |name: &str, metadata: Value| {
            let message = json!({"parts": [{"text": "Words."}], "metadata": metadata});
            read(&json!({"result": {"task": {"status": {"state": format!("{STATE}{name}"), "message": message}}}}))
                .ending
        };
        assert_eq!(state("INPUT_REQUIRED", json!({})), Ending::Question("Words.".to_owned()));
        let failed = state("FAILED", json!({"forecourt/ending": {"code": "agent-failed"}}));
        assert_eq!(failed, Ending::Failure { code: "agent-failed".to_owned(), message: "Words.".to_owned() });
        let refused = json!({"mentionable": {"policy": {"part": {"kind": "forbidden", "message": "No."}}}});
        assert!(matches!(state("REJECTED", refused), Ending::Refusal { .. }));
        let error = read(&json!({"error": {"code": -32601, "message": "What?"}})).ending;
        assert_eq!(error, Ending::Failure { code: "-32601".to_owned(), message: "What?".to_owned() });
    }
}
