//! NLWeb 0.55: a query, and results with a summary.

use serde_json::{Value, json};

use super::{Conversation, refusal_in, text_of};
use crate::answer::{Answer, Ending};

/// The version that is spoken.
const VERSION: &str = "0.55";

pub(super) async fn say(conversation: &mut Conversation, words: &str) -> Result<Answer, String> {
    let mut meta = json!({"version": VERSION});
    if let Some(context) = &conversation.session {
        meta["session_context"] = json!({"conversation_id": context});
    }
    let body = json!({"query": {"text": words}, "prefer": {"streaming": false}, "meta": meta});
    let path = format!("/~{}/ask", conversation.peer.agent);
    let reply = conversation.post_json(&path, &[], &body).await?;
    let context = reply.body["_meta"]["session_context"]["conversation_id"].as_str();
    conversation.session = context.map(str::to_owned).or(conversation.session.take());
    Ok(read(&reply.body))
}

pub(super) fn read(body: &Value) -> Answer {
    let mut answer = Answer::default();
    let pieces = ["results", "content"].into_iter().filter_map(|name| body[name].as_array()).flatten();
    let mut texts = vec![body["summary"]["text"].as_str().or(body["summary"].as_str()).unwrap_or_default().to_owned()];
    for piece in pieces {
        match (piece["@type"].as_str(), piece["text"].as_str()) {
            // The words of an agent that lists nothing.
            (Some("Answer") | None, Some(text)) => texts.push(text.to_owned()),
            _ if piece.is_object() => answer.items.push(piece.clone()),
            _ => {}
        }
    }
    texts.retain(|text| !text.is_empty());
    answer.text = texts.join("\n");
    answer.ending = match (refusal_in(body, 0), body["_meta"]["response_type"].as_str()) {
        (Some(refusal), _) => refusal,
        (None, Some("elicitation")) => Ending::Question(question(&body["elicitation"])),
        (None, Some("answer")) => Ending::Complete,
        (None, Some("promise")) => {
            Ending::Failure { code: "working".to_owned(), message: "it goes on as a task".to_owned() }
        }
        _ => Ending::Failure { code: text_of(&body["error"], "code"), message: text_of(&body["error"], "message") },
    };
    answer
}

fn question(elicitation: &Value) -> String {
    let asked = elicitation["questions"].as_array().into_iter().flatten();
    let texts = std::iter::once(text_of(elicitation, "text")).chain(asked.map(|question| text_of(question, "text")));
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_response_type_is_an_ending() {
        let of = |kind: &str, more: Value| {
            let mut body = json!({"_meta": {"response_type": kind}});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            read(&body)
        };
        let results = json!([{"@type": "Answer", "text": "hello"}, {"@type": "Recipe", "name": "Soup", "text": "x"}]);
        let answer = of("answer", json!({"results": results, "summary": {"text": "Two."}}));
        assert_eq!((answer.text.as_str(), answer.items.len(), answer.ending), ("Two.\nhello", 1, Ending::Complete));
        let asked = of("elicitation", json!({"elicitation": {"text": "Tell.", "questions": [{"text": "Which?"}]}}));
        assert_eq!(asked.ending, Ending::Question("Tell.\nWhich?".to_owned()));
        let failed = of("failure", json!({"error": {"code": "INTERNAL_ERROR", "message": "It broke."}})).ending;
        assert_eq!(failed, Ending::Failure { code: "INTERNAL_ERROR".to_owned(), message: "It broke.".to_owned() });
    }
}
