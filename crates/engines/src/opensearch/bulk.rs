//! Bulk requests: changes in lines, and what is tried again of them.

use bytes::Bytes;
use forecourt_retrieval::{Change, EngineDocument, RetrievalError, last_changes};
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::attempts::Attempts;
use super::exchange::{Body, Exchange, is_busy, refused};
use super::query::{key_text, number_name};

/// Makes changes in an index, the last of each document. What the engine was too busy for is sent again; what is too
/// large for it, in halves.
pub(super) async fn write(exchange: &Exchange, index: &str, changes: &[Change]) -> Result<(), RetrievalError> {
    // One change of each document: what is sent again would else undo what was taken meanwhile.
    let mut waiting: Vec<Vec<&Change>> = vec![last_changes(changes)];
    while let Some(part) = waiting.pop() {
        if !send(exchange, index, &part).await? {
            if part.len() == 1 {
                let what = "one item is larger than its bulk requests may be; raise `http.max_content_length`";
                return Err(RetrievalError::Refused(what.to_owned()));
            }
            let (first, second) = part.split_at(part.len() / 2);
            // From behind: the first half is the next.
            waiting.extend([second.to_vec(), first.to_vec()]);
        }
    }
    Ok(())
}

/// Sends changes until each was made. `false`: they are too large together.
async fn send(exchange: &Exchange, index: &str, changes: &[&Change]) -> Result<bool, RetrievalError> {
    let mut left = changes.to_vec();
    let mut attempts = Attempts::of_bulk();
    while !left.is_empty() {
        let body = lines(&left);
        let answer =
            exchange.send_within(&mut attempts, Method::POST, &format!("/{index}/_bulk"), Body::Lines(&body)).await?;
        if answer.status == StatusCode::PAYLOAD_TOO_LARGE {
            return Ok(false);
        }
        let asked = answer.retry_after;
        left = not_taken(&answer.success()?, &left)?;
        if !left.is_empty() && !attempts.wait(asked).await {
            let (left, made) = (left.len(), attempts.made());
            return Err(RetrievalError::Unavailable(format!(
                "{left} changes were not taken in {made} attempts: it is busy"
            )));
        }
    }
    Ok(true)
}

/// Those of the changes that the engine was too busy for.
fn not_taken<'a>(answer: &Value, changes: &[&'a Change]) -> Result<Vec<&'a Change>, RetrievalError> {
    let items = answer["items"].as_array().filter(|items| items.len() == changes.len());
    let items = items.ok_or_else(|| RetrievalError::Unreadable("a bulk answer tells of other changes".to_owned()))?;
    let mut busy = Vec::new();
    for (item, change) in items.iter().zip(changes) {
        let result = item.as_object().and_then(|actions| actions.values().next()).unwrap_or(&Value::Null);
        let status =
            result["status"].as_u64().and_then(|status| StatusCode::from_u16(u16::try_from(status).ok()?).ok());
        match status {
            Some(status) if status.is_success() => {}
            // What was to be removed is not there.
            Some(StatusCode::NOT_FOUND) if matches!(change, Change::Remove(_)) => {}
            Some(status) if is_busy(status) => busy.push(*change),
            Some(status) => return Err(refused(status, result)),
            None => return Err(RetrievalError::Unreadable("a bulk answer has no status".to_owned())),
        }
    }
    Ok(busy)
}

fn lines(changes: &[&Change]) -> Bytes {
    let mut lines = String::new();
    for change in changes {
        match change {
            Change::Put(put) => {
                lines.push_str(&format!("{}\n{}\n", json!({"index": {"_id": key_text(put.key)}}), document(put)));
            }
            Change::Remove(key) => lines.push_str(&format!("{}\n", json!({"delete": {"_id": key_text(*key)}}))),
        }
    }
    lines.into()
}

/// A document with the fields of the mapping.
fn document(document: &EngineDocument) -> Value {
    let numbers = document.numbers.iter().map(|(path, numbers)| (number_name(path), json!(numbers)));
    let numbers: Map<String, Value> = numbers.collect();
    let entry = document.entry();
    json!({
        "key": key_text(document.key), "lengths": [entry.words, entry.pairs], "hash": key_text(document.hash), "origin": key_text(document.origin),
        "id": document.id, "words": document.words.join(" "), "pairs": document.pairs, "spelled": document.spelled,
        "facts": document.facts, "numbers": numbers, "item": document.item,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_bulk_answer_only_what_was_too_much_is_left() {
        let changes = [Change::Remove(1), Change::Remove(2), Change::Remove(3)];
        let all: Vec<&Change> = changes.iter().collect();
        let item = |status: u16| json!({"delete": {"_id": "x", "status": status, "error": {"reason": "why"}}});
        let answer =
            |statuses: &[u16]| json!({"items": statuses.iter().map(|status| item(*status)).collect::<Vec<_>>()});
        assert_eq!(not_taken(&answer(&[200, 429, 404]), &all).unwrap(), [&changes[1]]);
        let refused = not_taken(&answer(&[200, 400, 200]), &all).unwrap_err();
        assert!(refused.to_string().contains("why") && !refused.is_passing());
        assert!(not_taken(&answer(&[200, 200]), &all).is_err(), "one is not told of");
    }

    #[test]
    fn a_line_is_one_line_whatever_the_item_says() {
        let put = EngineDocument { key: 5, item: "{\"name\":\"a\\n\"}\n".to_owned(), ..Default::default() };
        let lines = lines(&[&Change::Put(Box::new(put)), &Change::Remove(6)]);
        let lines: Vec<&str> = std::str::from_utf8(&lines).unwrap().lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[2], r#"{"delete":{"_id":"00000000000000000006"}}"#);
    }
}
