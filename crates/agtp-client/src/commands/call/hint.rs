//! This module turns answers that are no success into a failure of the command, with a hint what to do next. Base 4,
//! AGTP-API 11.

use forecourt_agtp_wire::message::{Request, Response};
use forecourt_agtp_wire::uri::AgtpUri;
use forecourt_client::output::{Failure, Outcome, stderrln};
use forecourt_client::printable::line;
use serde_json::Value;

use super::answer::parsed;

/// Characters of the server's own words that are shown.
const WORDS_CHARS_MAX: usize = 400;

/// Fine, or what went wrong. 262 says that authority is missing, which is no success whatever its number.
pub(super) fn judge(response: &Response, request: &Request, uri: &AgtpUri) -> Outcome {
    let code = response.start.code;
    if matches!(code, 200..=299) && code != 262 {
        tell_next(code, response, uri);
        return Ok(());
    }
    let body = parsed(response).unwrap_or_default();
    let message = error_text(&body);
    // The server's words go to a terminal: on one line, and without sequences that terminals obey.
    let reason = line(&response.start.reason, 80);
    let failure = Failure::yours(match message.is_empty() {
        true => format!("{code} {reason}"),
        false => format!("{code} {reason}: {message}"),
    });
    match hint(code, &body, request, uri) {
        Some(hint) => Err(failure.hint(line(&hint, WORDS_CHARS_MAX))),
        None => Err(failure),
    }
}

/// What follows a proposal, for people: a hint beside the answer, which is on standard output.
fn tell_next(code: u16, response: &Response, uri: &AgtpUri) {
    if let Some(next) = next(code, &parsed(response).unwrap_or_default(), uri) {
        stderrln!("hint: {}", line(&next, WORDS_CHARS_MAX));
    }
}

/// The command that follows a proposal. AGTP-API 10.3, 11.
fn next(code: u16, body: &Value, uri: &AgtpUri) -> Option<String> {
    let at = place(uri);
    match code {
        261 => Some(format!(
            "`forecourt agtp QUERY agtp://{at}{}` tells what became of it",
            non_empty(text(body, "polling_path"))?
        )),
        263 => {
            let (method, path) = (non_empty(text(body, "method"))?, text(body, "path"));
            let id = non_empty(text(body, "synthesis_id"))?;
            Some(format!(
                "`forecourt agtp {method} agtp://{at}{path} -H 'Contract-Synthesized: {id}'` calls it, with the same --agent-id"
            ))
        }
        _ => None,
    }
}

/// A member of the error, or of the body around it: servers differ.
fn member<'a>(body: &'a Value, name: &str) -> &'a Value {
    match &body["error"][name] {
        Value::Null => &body[name],
        found => found,
    }
}

fn text<'a>(body: &'a Value, name: &str) -> &'a str {
    member(body, name).as_str().unwrap_or_default()
}

/// What the server says of its error: in words, else by its code.
fn error_text(body: &Value) -> String {
    let words = ["message", "explanation", "detail"].map(|name| text(body, name)).into_iter().find(|t| !t.is_empty());
    let code = text(body, "code");
    match (words, code) {
        (Some(words), _) => line(words, WORDS_CHARS_MAX),
        (None, code) => line(code, WORDS_CHARS_MAX),
    }
}

/// A list of words, if there are any.
fn words(list: &Value, between: &str) -> Option<String> {
    let words: Vec<&str> = list.as_array()?.iter().filter_map(Value::as_str).collect();
    (!words.is_empty()).then(|| words.join(between))
}

fn list(body: &Value, name: &str, between: &str) -> Option<String> {
    words(member(body, name), between)
}

fn hint(code: u16, body: &Value, request: &Request, uri: &AgtpUri) -> Option<String> {
    let at = place(uri);
    let reason = || non_empty(text(body, "reason"));
    let about_server = || format!("`forecourt agtp DISCOVER agtp://{at}/methods` lists what is there");
    Some(match code {
        262 => authority(body),
        301 => format!("ask for {} instead", non_empty(text(body, "location"))?),
        401 if text(body, "reason").starts_with("oauth") => "-H 'Authorization: Bearer TOKEN' says for whom".to_owned(),
        401 => "--agent-id ID says who you are, --certificate FILE proves it".to_owned(),
        404 => about_server(),
        405 => allowed(body).unwrap_or_else(about_server),
        410 => format!("that was for good; `forecourt agtp DISCOVER agtp://{at}/agents` lists the others"),
        422 => match member(body, "field").as_str()? {
            "" => format!("the input of {} as a whole is what to change", request.start.method),
            field => format!("the value at {field} is what to change"),
        },
        429 | 503 => "try again later".to_owned(),
        455 => format!("--scope {} claims what is missing, if the agent may", list(body, "missing_scopes", ",")?),
        456 => "-H 'Budget-Limit: ...' raises the limit".to_owned(),
        459 => match list(body, "suggestions", " or ") {
            Some(names) => format!("did you mean {names}?"),
            None => about_server(),
        },
        460 => match member(body, "segment").as_str()? {
            "" => "leave the empty segment out, such as a slash at the end".to_owned(),
            segment => format!("the segment `{segment}` is what to change"),
        },
        461 => format!(
            "nothing was done yet: the same call with -H 'Contract-Synthesized: {}' accepts it",
            non_empty(text(body, "synthesis_id"))?
        ),
        463 if !member(body, "escalate").is_null() => {
            format!("`forecourt agtp ESCALATE agtp://{at}` asks a person to decide")
        }
        463 => format!("the reason is `{}`; `forecourt agtp DISCOVER agtp://{at}/patterns` lists what fits", reason()?),
        464 => no_contract(reason()?, &at),
        _ => return None,
    })
}

/// What to do where no contract can be had. AGTP-API 10.1.
fn no_contract(reason: &str, at: &str) -> String {
    match reason {
        "composition-impossible" => {
            format!("`forecourt agtp DISCOVER agtp://{at}/patterns` lists the shapes that are negotiated")
        }
        "contract-revoked" | "contract-not-yours" => {
            "call without `Contract-Synthesized`; -H 'Allow-RCNS: true' asks for a contract of your own".to_owned()
        }
        "identity-unverified" => "--certificate FILE proves who you are".to_owned(),
        _ => format!("the reason is `{reason}`; only the operator can change that"),
    }
}

/// What 262 asks for. Base 4.
fn authority(body: &Value) -> String {
    let details = member(body, "details");
    let excess = words(&details["excess_scopes"], ", ");
    let missing = words(&details["missing_scopes"], ",").or_else(|| list(body, "missing_scopes", ","));
    match (text(body, "type"), excess, missing) {
        ("anonymous-discovery-disabled" | "credentials-missing", _, _) => "--agent-id ID says who you are".to_owned(),
        ("wildcards-required", _, _) => "the agent must have consented to calls of what is not declared".to_owned(),
        (_, Some(excess), _) => format!("the agent does not hold {excess}: leave that out of --scope"),
        (_, None, Some(missing)) => format!("--scope {missing} claims that authority"),
        (_, None, None) => "--scope SCOPES claims authority, such as `booking:room`".to_owned(),
    }
}

fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// What can be called at the path instead: both recovery fields of section 11.
fn allowed(body: &Value) -> Option<String> {
    let here = list(body, "allowed_methods_for_path", ", ").map(|methods| format!("{methods} can be called there"));
    let redirects = member(body, "redirects_for_path").as_object();
    let elsewhere: Vec<String> = redirects
        .into_iter()
        .flatten()
        .filter_map(|(from, to)| Some(format!("{from} is taken for {}", to.as_str()?)))
        .collect();
    let all: Vec<String> = here.into_iter().chain(elsewhere).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Host and port, as they were written.
fn place(uri: &AgtpUri) -> String {
    match uri.port() {
        Some(port) => format!("{}:{port}", uri.host()),
        None => uri.host().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::client::RequestBuilder;
    use forecourt_agtp_wire::message::StatusLine;

    fn explained(code: u16, body: &Value) -> String {
        let uri = AgtpUri::parse("agtp://a.example:4481/room").unwrap();
        let request = RequestBuilder::new("BOOK", uri.target()).finish().unwrap();
        let mut response = Response::new(StatusLine::new(code, "Reason"));
        response.body = body.to_string().into();
        match judge(&response, &request, &uri) {
            Ok(()) => "fine".to_owned(),
            Err(failure) => format!("{failure:?}"),
        }
    }

    #[test]
    fn s11_every_status_says_what_to_do_next() {
        for (code, body, said) in [
            (262, json!({"error": {"type": "anonymous-discovery-disabled"}}), "--agent-id"),
            (262, json!({"error": {"type": "scope-required", "details": {"missing_scopes": ["a:b"]}}}), "--scope a:b"),
            (262, json!({"error": {"details": {"excess_scopes": ["a:b"]}}}), "does not hold a:b"),
            (262, json!({}), "--scope"),
            (401, json!({"reason": "oauth-required"}), "Authorization"),
            (401, json!({"reason": "agent-unauthenticated"}), "--agent-id"),
            (404, json!({"error": {"message": "There is none."}}), "There is none."),
            (404, json!({}), "DISCOVER agtp://a.example:4481/methods"),
            (405, json!({"allowed_methods_for_path": ["LIST", "FETCH"]}), "LIST, FETCH can be called"),
            (405, json!({"error": {"redirects_for_path": {"BOOK": "RESERVE"}}}), "BOOK is taken for RESERVE"),
            (410, json!({}), "for good"),
            (422, json!({"error": {"field": "/guest", "detail": "it is no text"}}), "/guest"),
            (422, json!({"error": {"code": "room_unavailable"}}), "room_unavailable"),
            (455, json!({"error": {"missing_scopes": ["booking:room", "a:b"]}}), "--scope booking:room,a:b"),
            (459, json!({"error": {"suggestions": ["BOOK", "LOOKUP"]}}), "BOOK or LOOKUP?"),
            (460, json!({"error": {"segment": "order"}}), "`order`"),
            (460, json!({"error": {"segment": ""}}), "a slash at the end"),
            (461, json!({"synthesis_id": "s1"}), "Contract-Synthesized: s1"),
            (463, json!({"error": {"reason": "synthesis-disabled"}}), "synthesis-disabled"),
            (463, json!({"error": {"reason": "policy-refused", "escalate": {}}}), "ESCALATE agtp://a.example:4481"),
            (464, json!({"error": {"reason": "contract-revoked"}}), "without `Contract-Synthesized`"),
            (464, json!({"error": {"reason": "composition-impossible"}}), "/patterns"),
            (464, json!({"error": {"reason": "rcns-disabled"}}), "rcns-disabled"),
            (503, json!({}), "later"),
        ] {
            let text = explained(code, &body);
            assert!(text.contains(said), "{code}: {text}");
        }
    }

    #[test]
    fn success_is_2xx_and_authority_that_is_missing_is_none() {
        for code in [200, 202, 204, 261, 263] {
            assert_eq!(explained(code, &json!({})), "fine");
        }
        for code in [199, 262, 300, 400, 500, 999] {
            assert_ne!(explained(code, &json!({})), "fine", "{code}");
        }
    }

    #[test]
    fn s10_3_what_follows_a_proposal_is_told_as_a_command() {
        let uri = AgtpUri::parse("agtp://a.example:4481/").unwrap();
        let approved = json!({"method": "BOOK", "path": "/room", "synthesis_id": "s1"});
        let text = next(263, &approved, &uri).unwrap();
        assert!(text.contains("BOOK agtp://a.example:4481/room -H 'Contract-Synthesized: s1'"), "{text}");
        let pending = json!({"polling_path": "/proposals/p1"});
        assert!(next(261, &pending, &uri).unwrap().contains("QUERY agtp://a.example:4481/proposals/p1"));
        assert_eq!((next(200, &approved, &uri), next(263, &json!([]), &uri)), (None, None));
    }

    #[test]
    fn the_words_of_servers_are_shown_on_one_line_and_without_what_terminals_obey() {
        let text = explained(422, &json!({"error": {"message": "a\u{1b}[31m\nb", "field": "/\u{202e}x"}}));
        assert!(text.contains("a[31m b") && !text.contains('\u{202e}'), "{text}");
        for body in [json!(7), json!([]), json!({"error": 7}), json!({"error": {"suggestions": 7}})] {
            assert!(!explained(459, &body).is_empty());
        }
    }
}
