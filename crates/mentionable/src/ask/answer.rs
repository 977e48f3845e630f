//! An answer, whatever form it has, on the terminal.

use forecourt_client::ask::AskTarget;
use forecourt_client::output::{Failure, Outcome, ignore_broken_pipe, print_json};
use forecourt_client::printable::{Words, line};
use forecourt_core::{Ending, json};
use forecourt_egress::UpstreamResponse;
use http::StatusCode;
use http::header::{CONTENT_TYPE, LOCATION};
use serde_json::Value;

use super::part::{part_line, words};
use super::question::AnswerRest;
use super::{SESSION, stream};

/// Characters of what a server says about an error.
const ERROR_CHARS_MAX: usize = 300;

/// Prints an answer, and gives what it leaves to do. `pays`: whether it may have been paid for.
pub(super) async fn print(
    incoming: UpstreamResponse,
    to: &AskTarget,
    as_json: bool,
    pays: bool,
) -> Result<AnswerRest, Failure> {
    let session = incoming.headers.get(&SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let media_type = incoming.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if incoming.status.is_success() && media_type == "text/event-stream" {
        return Ok(AnswerRest { session, ..stream::print(incoming, to, pays).await? });
    }
    let mut rest = AnswerRest { session, ..AnswerRest::default() };
    whole(incoming, &media_type, to, as_json, &mut rest).await?;
    Ok(rest)
}

async fn whole(
    incoming: UpstreamResponse,
    media_type: &str,
    to: &AskTarget,
    as_json: bool,
    rest: &mut AnswerRest,
) -> Outcome {
    let status = incoming.status;
    let location = incoming.headers.get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bytes = incoming.body.collect().await;
    let bytes = bytes.map_err(|error| Failure::unreachable(format!("the answer broke off: {}", error.log_reason())))?;
    let value = if media_type == "application/json" { json::parse(&bytes).ok() } else { None };
    match value {
        Some(mut value) => {
            if as_json {
                print_json(&value)?;
            }
            if let Some(policy) = value.get_mut("policy") {
                rest.policy = Some(policy.take());
                return Ok(());
            }
            value["parts"].as_array().into_iter().flatten().for_each(|part| rest.note(part));
            let words = read(&value, status, to)?;
            if as_json { Ok(()) } else { show(&words) }
        }
        None if !status.is_success() => Err(failed(status, location, &String::from_utf8_lossy(&bytes))),
        // REST 5: reserved, and to be taken for no reply.
        None if status == StatusCode::NO_CONTENT => Ok(()),
        None if as_json => Err(Failure::unreachable(format!("the answer is not JSON but {}", line(media_type, 80)))),
        None if media_type.starts_with("text/") && media_type != "text/html" => show(&String::from_utf8_lossy(&bytes)),
        None => Err(Failure::yours(format!("the answer is {}, a page for browsers", line(media_type, 80)))
            .hint("is this the endpoint of an agent?")),
    }
}

fn show(text: &str) -> Outcome {
    let mut words = Words::of_markdown();
    ignore_broken_pipe(words.say(text).and_then(|()| words.end()))
}

/// The words of an answer in JSON that is no refusal. Mentionable REST 4.4.
fn read(value: &Value, status: StatusCode, to: &AskTarget) -> Result<String, Failure> {
    if !status.is_success() || value.get("error").is_some() {
        let error = value["error"].as_str().unwrap_or_default();
        let failure = match value["code"].as_str() {
            // What the agent itself says: no token for this host changes it.
            Some(Ending::DECLINED) => {
                Failure::yours(format!("{} declined: {}", to.label, line(error, ERROR_CHARS_MAX)))
            }
            Some(Ending::SIGN_IN) => Failure::yours(format!("{}: {}", to.label, line(error, ERROR_CHARS_MAX)))
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
    Ok(words.into_iter().chain(parts.iter().filter_map(part_line)).collect::<Vec<_>>().join("\n\n"))
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
