//! The parts of an answer, by what a terminal can show of them.

use serde_json::Value;

/// The words of a part. Those of several are joined by nothing. Mentionable REST 5.3.
pub(super) fn words(part: &Value) -> Option<&str> {
    let is_text = part["kind"] == "text";
    part["content"].as_str().or_else(|| part["text"].as_str()).filter(|_| is_text)
}

/// A part that is no words, by what can be said about it.
pub(super) fn part_line(part: &Value) -> Option<String> {
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
