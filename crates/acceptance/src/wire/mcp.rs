//! MCP 2026-07-28, which has no sessions: a call of the tool that asks the agent.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{Conversation, refusal_in, text_of};
use crate::answer::{Answer, Ending};

/// The revision.
const REVISION: &str = "2026-07-28";

pub(super) async fn say(conversation: &mut Conversation, words: &str) -> Result<Answer, String> {
    let tool = format!("ask_{}", conversation.peer.agent);
    let mut arguments = json!({"message": words});
    if let Some(context) = &conversation.session {
        arguments["context_id"] = context.as_str().into();
    }
    if let Some(task) = conversation.task.take() {
        arguments["task_id"] = task.into();
    }
    let own = |name: &str| format!("io.modelcontextprotocol/{name}");
    let client = json!({"name": "forecourt-test", "version": env!("CARGO_PKG_VERSION")});
    let meta = json!({own("protocolVersion"): REVISION, own("clientInfo"): client, own("clientCapabilities"): {}});
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let fields = [("mcp-protocol-version", REVISION), ("mcp-method", "tools/call"), ("mcp-name", tool.as_str())];
    let reply = conversation.post_json("/mcp", &fields, &body).await?;
    let content = &reply.body["result"]["structuredContent"];
    conversation.session = content["context_id"].as_str().map(str::to_owned).or(conversation.session.take());
    let is_open = content["state"] == "input_required";
    conversation.task = content["task_id"].as_str().filter(|_| is_open).map(str::to_owned);
    let answer = read(&reply.body);
    Ok(match (challenged(reply.status), answer.ending) {
        (Some(kind), Ending::Failure { message, .. }) => {
            Answer { ending: Ending::Refusal { kind: kind.to_owned(), message }, ..answer }
        }
        (_, ending) => Answer { ending, ..answer },
    })
}

/// The kind of a refusal that is a status and no answer, as the authorization of MCP has it.
fn challenged(status: u16) -> Option<&'static str> {
    match status {
        401 => Some("unauthorized"),
        403 => Some("forbidden"),
        _ => None,
    }
}

pub(super) fn read(body: &Value) -> Answer {
    let (result, content) = (&body["result"], &body["result"]["structuredContent"]);
    let mut answer = Answer {
        text: text_of(content, "text"),
        items: content["items"].as_array().cloned().unwrap_or_default(),
        ..Answer::default()
    };
    let pieces = || result["content"].as_array().into_iter().flatten();
    let files = pieces().filter(|piece| !matches!(piece["type"].as_str(), Some("text") | None));
    answer.files = files.map(file_name).collect();
    let said = || pieces().filter_map(|piece| piece["text"].as_str()).collect::<Vec<_>>().join("\n");
    answer.ending = match (refusal_in(body, 0), content["state"].as_str()) {
        (Some(refusal), _) => refusal,
        _ if body.get("error").is_some() => {
            let error = &body["error"];
            Ending::Failure { code: error["code"].to_string(), message: text_of(error, "message") }
        }
        (None, Some("input_required")) => Ending::Question(said()),
        (None, Some("working")) => {
            Ending::Failure { code: "working".to_owned(), message: "it goes on as a task".to_owned() }
        }
        _ if result["isError"] == true => {
            let message = content["error"].as_str().map_or_else(said, str::to_owned);
            Ending::Failure { code: text_of(content, "code"), message }
        }
        _ => Ending::Complete,
    };
    answer
}

/// What a file is called: by itself, or at the end of its address, as a resource has it.
fn file_name(piece: &Value) -> String {
    let address = || {
        let address = piece["resource"]["uri"].as_str()?;
        let end = address.rsplit(['/', ':']).next()?;
        Some(percent_decode_str(end).decode_utf8_lossy().into_owned())
    };
    piece["name"].as_str().map(str::to_owned).or_else(address).unwrap_or_else(|| "file".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_content(content: Value, is_error: bool) -> Answer {
        read(&json!({"result": {"content": [{"type": "text", "text": "Said."}, {"type": "image", "data": ""}],
            "structuredContent": content, "isError": is_error}}))
    }

    #[test]
    fn a_file_is_called_as_the_agent_called_it() {
        let file = |piece: Value| read(&json!({"result": {"content": [piece]}})).files;
        let within = |uri: &str| file(json!({"type": "resource", "resource": {"uri": uri, "text": "a"}}));
        assert_eq!(within("attachment:the%20pattern.txt"), ["the pattern.txt"]);
        assert_eq!(within("https://demo.localhost/files/plan.pdf"), ["plan.pdf"]);
        assert_eq!(file(json!({"type": "resource_link", "uri": "https://a.example/b", "name": "c.csv"})), ["c.csv"]);
        assert_eq!(file(json!({"type": "image", "data": ""})), ["file"]);
    }

    #[test]
    fn each_state_is_an_ending() {
        let answer = read_content(json!({"state": "completed", "text": "hi", "items": [{"name": "a"}]}), false);
        assert_eq!((answer.text.as_str(), answer.items.len(), answer.files.len()), ("hi", 1, 1));
        assert_eq!(answer.ending, Ending::Complete);
        let asked = read_content(json!({"state": "input_required", "text": "hi"}), false).ending;
        assert_eq!(asked, Ending::Question("Said.".to_owned()));
        let failed =
            read_content(json!({"state": "failed", "code": "agent-failed", "error": "It broke."}), true).ending;
        assert_eq!(failed, Ending::Failure { code: "agent-failed".to_owned(), message: "It broke.".to_owned() });
        let refused = read_content(json!({"refusal": {"kind": "forbidden", "message": "No."}}), true).ending;
        assert!(matches!(refused, Ending::Refusal { .. }));
    }
}
