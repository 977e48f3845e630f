//! This module prints an answer: indented on a terminal, byte for byte into a pipe, or into a file.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use forecourt_agtp_wire::message::Response;
use forecourt_client::output::{Failure, Outcome, print_json, stderrln};
use forecourt_client::printable::{Words, line};
use forecourt_core::json;
use serde_json::{Map, Value, json};

use crate::commands::args::CallArguments;

/// Fields that tell callers to move on. AGTP-API 4.4 and 6.5.
const WARNINGS: [&str; 2] = ["AGTP-Catalog-Warning", "AGTP-Endpoint-Warning"];

/// Prints what was asked for: the body, with its head, or all of it as JSON. Warnings go aside.
pub(super) fn print(response: &Response, arguments: &CallArguments) -> Outcome {
    for name in WARNINGS {
        response.field(name).iter().for_each(|warning| stderrln!("warning: {name}: {}", line(warning, 200)));
    }
    if arguments.json {
        return print_json(&whole(response));
    }
    let mut text = if arguments.include { head(response) } else { String::new() };
    let is_terminal = io::stdout().is_terminal();
    // Programs get the bytes as the server sent them.
    let pretty = parsed(response).filter(|_| is_terminal).and_then(|value| serde_json::to_string_pretty(&value).ok());
    match (pretty, std::str::from_utf8(&response.body)) {
        (Some(pretty), _) => text.push_str(&pretty),
        (None, Ok(body)) => text.push_str(body),
        (None, Err(_)) => return binary(response, &text, is_terminal),
    }
    print_text(&text)
}

/// Writes the body to a file, which is there whole or not at all.
pub(super) fn write(response: &Response, file: &Path) -> Outcome {
    // Renamed once it is whole: what is there before stays until then.
    let draft = file.with_added_extension("tmp");
    let written = std::fs::write(&draft, &response.body).and_then(|()| std::fs::rename(&draft, file));
    written.map_err(|error| Failure::yours(format!("{}: {error}", file.display())))
}

fn print_text(text: &str) -> Outcome {
    let mut words = Words::new();
    match words.say(text).and_then(|()| words.end()) {
        // A reader that went away, such as `head`, has what it wanted.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn binary(response: &Response, head: &str, is_terminal: bool) -> Outcome {
    if is_terminal {
        return Err(Failure::yours(format!("the body is {} bytes that are no text", response.body.len()))
            .hint("send it to a file: > FILE"));
    }
    print_text(head)?;
    Ok(io::stdout().write_all(&response.body)?)
}

fn head(response: &Response) -> String {
    let mut text = format!("AGTP/1.0 {} {}\n", response.start.code, response.start.reason);
    response.fields.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\n")));
    text.push('\n');
    text
}

/// The body, if it is JSON.
pub(super) fn parsed(response: &Response) -> Option<Value> {
    json::parse(&response.body).ok()
}

fn whole(response: &Response) -> Value {
    let text = || Value::from(String::from_utf8_lossy(&response.body));
    let body = match response.body.is_empty() {
        true => Value::Null,
        false => parsed(response).unwrap_or_else(text),
    };
    let fields: Map<String, Value> =
        response.fields.iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    json!({"status": response.start.code, "reason": response.start.reason, "headers": fields, "body": body})
}

#[cfg(test)]
mod tests {
    use super::*;
    use forecourt_agtp_wire::message::StatusLine;

    #[test]
    fn the_whole_answer_is_one_object() {
        let mut response = Response::new(StatusLine::new(200, "OK"));
        response.fields.push("Server-ID", "a.example").unwrap();
        assert_eq!(whole(&response)["body"], Value::Null);
        response.body = "{\"a\": 1}".into();
        let printed = whole(&response);
        assert_eq!(
            (&printed["status"], &printed["headers"]["Server-ID"], &printed["body"]["a"]),
            (&200.into(), &"a.example".into(), &1.into())
        );
        response.body = "a: 1".into();
        assert_eq!(whole(&response)["body"], "a: 1");
        assert_eq!(head(&response), "AGTP/1.0 200 OK\nServer-ID: a.example\n\n");
    }
}
