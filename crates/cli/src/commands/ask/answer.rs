//! An answer, whatever form it has, on the terminal.

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, PolicyPart, json};
use forecourt_egress::UpstreamResponse;
use http::StatusCode;
use http::header::{CONTENT_TYPE, LOCATION};
use serde_json::Value;

use super::question::AnswerRest;
use super::{Line, SESSION, stream};
use crate::commands::printable::{Words, line, printable};
use crate::output::{Failure, Outcome, print_json, stderrln};

/// Characters of what a server says about an error.
const ERROR_CHARS_MAX: usize = 300;

/// Prints an answer, and gives what it leaves to do.
pub(super) async fn print(incoming: UpstreamResponse, to: &Line, as_json: bool) -> Result<AnswerRest, Failure> {
    let session = incoming.headers.get(&SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let media_type = incoming.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if incoming.status.is_success() && media_type == "text/event-stream" {
        return Ok(AnswerRest { session, ..stream::print(incoming, to).await? });
    }
    let mut answered = AnswerRest { session, ..AnswerRest::default() };
    whole(incoming, &media_type, to, as_json, &mut answered).await?;
    Ok(answered)
}

async fn whole(
    incoming: UpstreamResponse,
    media_type: &str,
    to: &Line,
    as_json: bool,
    answered: &mut AnswerRest,
) -> Outcome {
    let status = incoming.status;
    let location = incoming.headers.get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bytes = incoming.body.collect().await;
    let bytes = bytes.map_err(|error| Failure::unreachable(format!("the answer broke off: {}", error.log_reason())))?;
    let value = if media_type == "application/json" { json::parse(&bytes).ok() } else { None };
    match value {
        Some(value) if as_json => {
            print_json(&value)?;
            read(&value, status, to).map(drop)
        }
        Some(value) => {
            value["parts"].as_array().into_iter().flatten().for_each(|part| answered.note(part));
            said(&read(&value, status, to)?)
        }
        None if !status.is_success() => Err(failed(status, location, &String::from_utf8_lossy(&bytes))),
        None if status == StatusCode::NO_CONTENT => Ok(()),
        None if as_json => Err(Failure::unreachable(format!("the answer is not JSON but {}", line(media_type, 80)))),
        None if media_type.starts_with("text/") && media_type != "text/html" => said(&String::from_utf8_lossy(&bytes)),
        None => Err(Failure::yours(format!("the answer is {}, a page for browsers", line(media_type, 80)))
            .hint("is this the endpoint of an agent?")),
    }
}

fn said(text: &str) -> Outcome {
    let mut words = Words::new();
    reading(words.say(text).and_then(|()| words.end()))
}

/// A reader that went away, such as `head`, has what it wanted.
pub(super) fn reading(written: std::io::Result<()>) -> Outcome {
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// The words of an answer in JSON. Mentionable REST 4.4.
fn read(value: &Value, status: StatusCode, to: &Line) -> Result<String, Failure> {
    if let Some(policy) = value.get("policy") {
        return Err(refused(policy, to));
    }
    if !status.is_success() || value.get("error").is_some() {
        let error = value["error"].as_str().unwrap_or_default();
        let failure = match value["code"].as_str() {
            // What the agent itself says: no token for this host changes it.
            Some(Ending::DECLINED) => {
                Failure::yours(format!("{} declined: {}", to.shown, line(error, ERROR_CHARS_MAX)))
            }
            Some(Ending::SIGN_IN) => Failure::yours(format!("{}: {}", to.shown, line(error, ERROR_CHARS_MAX)))
                .hint("sign in there, then go on with your answer in the same conversation"),
            _ => failed(status, None, error),
        };
        return Err(match value["hint"].as_str() {
            Some(hint) => failure.hint(line(hint, ERROR_CHARS_MAX)),
            None => failure,
        });
    }
    let parts = value["parts"].as_array().map_or(&[][..], Vec::as_slice);
    let words: String = parts.iter().filter_map(words).collect();
    let words = Some(words).filter(|words| !words.is_empty());
    Ok(words.into_iter().chain(parts.iter().filter_map(beside)).collect::<Vec<_>>().join("\n\n"))
}

/// The words of a part. Those of several are joined by nothing. Mentionable REST 5.3.
fn words(part: &Value) -> Option<&str> {
    let is_text = part["kind"] == "text";
    part["content"].as_str().or_else(|| part["text"].as_str()).filter(|_| is_text)
}

/// A part that is no words, by what can be said about it.
pub(super) fn beside(part: &Value) -> Option<String> {
    let text = |name: &str| part[name].as_str();
    match text("kind")? {
        "text" => None,
        "link" => Some(format!("[{}]({})", text("title").unwrap_or("link"), text("url")?)),
        "file" | "artifact" => {
            let name = text("name").unwrap_or("file");
            let url = text("url").or_else(|| part.pointer("/bytes_ref/url").and_then(Value::as_str));
            Some(url.map_or_else(|| format!("({name})"), |url| format!("[{name}]({url})")))
        }
        "tool_call" => None,
        // They are put in words already.
        "data" if part["data"].get("questions").is_some() => None,
        kind => Some(format!("({kind})")),
    }
}

/// What a status other than success means for who asked.
fn failed(status: StatusCode, location: Option<String>, words: &str) -> Failure {
    let words = line(words, ERROR_CHARS_MAX);
    let text = match words.is_empty() {
        true => format!("the agent answered with status {}", status.as_u16()),
        false => format!("the agent answered with status {}: {words}", status.as_u16()),
    };
    let failure = if status.is_server_error() { Failure::unreachable(text) } else { Failure::yours(text) };
    match (status.as_u16(), location) {
        (300..=399, Some(to)) => failure.hint(format!("the endpoint is at {}", line(&to, ERROR_CHARS_MAX))),
        (401 | 403, _) => failure.hint("--token TOKEN says who you are"),
        _ => failure,
    }
}

/// A refusal is an answer: it says what to do next.
pub(super) fn refused(policy: &Value, to: &Line) -> Failure {
    let part = policy.as_object().cloned().map(PolicyPart::from_json);
    match part {
        Some(Ok(part)) => refused_with(&part, &to.shown, &to.canonical_host),
        _ => Failure::yours(format!("{} declined, in a form that can't be read", to.shown)),
    }
}

/// The same of a refusal that was read. `shown` is what the agent is called.
pub(super) fn refused_with(part: &PolicyPart, shown: &str, canonical_host: &str) -> Failure {
    let title = part.title.as_deref().unwrap_or_else(|| part.kind.title());
    stderrln!("{shown} declined: {} ({})", line(title, ERROR_CHARS_MAX), line(part.kind(), 60));
    stderrln!("{}", printable(part.message.trim()));
    match &part.url {
        // PolicyPart 3.2: a link to anywhere else may be somebody's trap.
        Some(_) if part.validate(canonical_host).is_err() => {
            stderrln!("Its link is not shown: it leads somewhere else than to the agent.");
        }
        Some(url) => {
            let label = part.action_label.as_deref().unwrap_or_else(|| part.kind.action_label());
            stderrln!("{}: {}", line(label, 80), printable(url));
        }
        None => {}
    }
    if let Some(seconds) = wait(&part.kind) {
        stderrln!("Try again in {seconds} seconds.");
    }
    Failure::yours("")
}

/// Seconds to wait, if the refusal says so.
fn wait(kind: &RefusalKind) -> Option<u64> {
    match kind {
        RefusalKind::TooManyRequests { retry_after_seconds }
        | RefusalKind::ServiceUnavailable { retry_after_seconds } => *retry_after_seconds,
        _ => None,
    }
}
