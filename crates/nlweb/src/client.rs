//! A client for any NLWeb agent: requests and responses as values. Whoever uses it opens the connections.

use forecourt_client::ask::AnswerPiece;
use serde_json::{Map, Value, json};

use crate::api_error::code;
use crate::from_wire::CONVERSATION;
use crate::wire::Dialect;

/// The last segment of addresses that are asked.
const ASK: &str = "ask";
/// The last segment of addresses where promises are checked on.
const AWAIT: &str = "await";

/// A question to any NLWeb agent, as `POST /ask` takes it. NLWeb 3.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question {
    /// The question in words.
    pub(crate) text: String,
    /// The conversation that it goes on with, as an earlier answer named it.
    pub(crate) conversation: Option<String>,
    /// The language to answer in.
    pub(crate) language: Option<String>,
    /// Whether the answer may come as it is made.
    pub(crate) streaming: bool,
}

impl Question {
    /// The request, which wants a summary among the items.
    pub(crate) fn to_request(&self) -> Value {
        let mut prefer = json!({"streaming": self.streaming, "mode": "list, summarize"});
        if let Some(language) = &self.language {
            prefer["accept-language"] = language.clone().into();
        }
        let mut meta = json!({"version": Dialect::V0_55.version()});
        if let Some(conversation) = &self.conversation {
            meta["session_context"] = json!({ CONVERSATION: conversation });
        }
        json!({"query": {"text": self.text}, "prefer": prefer, "meta": meta})
    }
}

/// The request that checks on a promise. NLWeb 4.2.
pub(crate) fn checkin(token: &str) -> Value {
    json!({"promise_token": token, "action": "checkin", "meta": {"version": Dialect::V0_55.version()}})
}

/// Where to ask, from the address of an agent or of a host: one that ends with `/ask` as it is.
pub(crate) fn ask_path(path: &str) -> String {
    let path = path.trim_end_matches('/');
    if path.rsplit('/').next() == Some(ASK) { path.to_owned() } else { format!("{path}/{ASK}") }
}

/// Where to check on what was asked at `ask_path`.
pub(crate) fn await_path(ask_path: &str) -> String {
    format!("{}{AWAIT}", ask_path.strip_suffix(ASK).unwrap_or(ask_path))
}

/// What an event of a stream tells. Names that we don't know are passed over. NLWeb 6.1.
pub(crate) fn event(name: &str, data: Value) -> Vec<AnswerPiece> {
    match name {
        "result" => data.get("item").cloned().map(item).into_iter().collect(),
        "error" => vec![failure(&data)],
        "complete" => {
            let kind = data.pointer("/_meta/response_type").and_then(Value::as_str).unwrap_or_default();
            let whole = kind != "failure";
            let questions = data.get("elicitation").map(questions);
            questions.into_iter().chain(conversation(&data)).chain([AnswerPiece::End { whole }]).collect()
        }
        _ => Vec::new(),
    }
}

/// What a whole response tells, in the order in which people read it. NLWeb 4.
pub(crate) fn response(body: &Value) -> Vec<AnswerPiece> {
    let list = |key: &str| body.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let kind = body.pointer("/_meta/response_type").and_then(Value::as_str).unwrap_or_default();
    let mut told: Vec<AnswerPiece> = match kind {
        "answer" => {
            let words = list("content").into_iter().filter_map(|part| Some(AnswerPiece::Words(text(&part, "text")?)));
            words.chain(list("results").into_iter().chain(list("structuredData")).map(item)).collect()
        }
        "promise" => vec![promise(&body["promise"])],
        "elicitation" => vec![questions(&body["elicitation"])],
        _ => vec![failure(body)],
    };
    told.extend(conversation(body));
    told.push(AnswerPiece::End { whole: matches!(kind, "answer" | "promise" | "elicitation") });
    told
}

fn item(item: Value) -> AnswerPiece {
    match (item["@type"].as_str(), text(&item, "text")) {
        (Some("SearchSummary" | "Summary" | "Answer"), Some(words)) => AnswerPiece::Words(words),
        _ => AnswerPiece::Item(item),
    }
}

fn promise(promise: &Value) -> AnswerPiece {
    AnswerPiece::Promise {
        token: text(promise, "token").unwrap_or_default(),
        seconds: promise["estimated_time"].as_u64(),
        progress: promise["progress"].as_f64(),
        message: text(promise, "message"),
    }
}

fn questions(elicitation: &Value) -> AnswerPiece {
    let questions = elicitation["questions"].as_array().cloned().unwrap_or_default();
    AnswerPiece::Questions { text: text(elicitation, "text").unwrap_or_default(), questions }
}

fn failure(body: &Value) -> AnswerPiece {
    let error = &body["error"];
    let code = text(error, "code").unwrap_or_default();
    AnswerPiece::Failure {
        may_pass: [code::INTERNAL_ERROR, code::TIMEOUT, code::SERVICE_UNAVAILABLE].contains(&code.as_str()),
        code,
        message: text(error, "message").unwrap_or_else(|| "it gave no reason".to_owned()),
        policy: body.pointer("/_meta/mentionable/policy/part").cloned(),
    }
}

fn conversation(body: &Value) -> Option<AnswerPiece> {
    let session: &Map<String, Value> = body.pointer("/_meta/session_context")?.as_object()?;
    Some(AnswerPiece::Conversation(session.get(CONVERSATION)?.as_str()?.to_owned()))
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_agents_become_those_that_are_asked() {
        for (path, ask) in
            [("/", "/ask"), ("", "/ask"), ("/~chef", "/~chef/ask"), ("/x/ask", "/x/ask"), ("/task", "/task/ask")]
        {
            assert_eq!(ask_path(path), ask);
        }
        assert_eq!(await_path("/~chef/ask"), "/~chef/await");
    }

    #[test]
    fn a_question_is_one_that_the_other_side_reads() {
        let question = Question {
            text: "soup".to_owned(),
            conversation: Some("c".to_owned()),
            language: Some("de".to_owned()),
            streaming: true,
        };
        let read = crate::decode::ask(question.to_request()).expect("it is a question");
        assert_eq!((read.query.text.as_str(), read.prefer.streaming, read.style.summarize), ("soup", Some(true), true));
        assert_eq!(read.meta.session[CONVERSATION], "c");
        assert!(crate::decode::awaited(checkin("t")).is_ok());
    }

    #[test]
    fn each_type_of_response_is_told() {
        let answer = json!({"_meta": {"response_type": "answer", "session_context": {"conversation_id": "c"}},
            "results": [{"@type": "SearchSummary", "text": "One."}, {"name": "Soup"}]});
        assert_eq!(
            response(&answer),
            [
                AnswerPiece::Words("One.".to_owned()),
                AnswerPiece::Item(json!({"name": "Soup"})),
                AnswerPiece::Conversation("c".to_owned()),
                AnswerPiece::End { whole: true }
            ]
        );
        let promise = json!({"_meta": {"response_type": "promise"}, "promise": {"token": "t", "estimated_time": 3}});
        assert!(matches!(&response(&promise)[0], AnswerPiece::Promise { token, seconds: Some(3), .. } if token == "t"));
        let failure = json!({"_meta": {"response_type": "failure"}, "error": {"code": "TIMEOUT"}});
        assert!(
            matches!(&response(&failure)[0], AnswerPiece::Failure { code, may_pass: true, .. } if code == "TIMEOUT")
        );
        let nothing = json!({"_meta": {"response_type": "failure"}, "error": {"code": "NO_RESULTS"}});
        assert!(matches!(&response(&nothing)[0], AnswerPiece::Failure { may_pass: false, .. }));
        assert_eq!(response(&json!(3)).last(), Some(&AnswerPiece::End { whole: false }));
    }

    #[test]
    fn a_stream_that_fails_does_not_end_whole() {
        let told = event("complete", json!({"_meta": {"response_type": "failure"}}));
        assert_eq!(told, [AnswerPiece::End { whole: false }]);
        assert_eq!(event("result", json!({"index": 0, "item": {"a": 1}})), [AnswerPiece::Item(json!({"a": 1}))]);
        assert_eq!(event("banana", json!({})), []);
    }
}
