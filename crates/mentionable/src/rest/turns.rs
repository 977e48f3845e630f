//! The POST form, second step: fields into turns. A run of fields of one name is a turn, and the
//! terminal `user` run is the current one. REST 3.2.

use forecourt_core::Role;
use forecourt_pages::query::ANSWER_PREFIX;
use mediatype::{MediaType, ReadParams};

use super::answers::Answers;
use super::multipart::Field;
use super::sidecar;
use super::wire::{Ask, DecodeError, Entry, Run};

/// Groups fields. Unknown names are ignored and do not part a run. A sidecar that is not valid is
/// passed over, since the turns beside it say the same; of several valid ones the last counts.
pub(crate) fn group(fields: Vec<Field>) -> Result<Ask, DecodeError> {
    let mut ask = Ask::default();
    let mut answers = Answers::default();
    for field in fields {
        match field.name.as_str() {
            "user" => push(&mut ask.runs, Role::User, entry(field)?),
            "assistant" => push(&mut ask.runs, Role::Assistant, entry(field)?),
            "session" if ask.session.replace(words(&field.bytes)).is_some() => return Err(DecodeError::TwoSessions),
            "state" => ask.state = ask.state.or_else(|| Some(words(&field.bytes))),
            "parts" => ask.parts = sidecar::parts(&field.bytes).or(ask.parts),
            "history" => ask.history = sidecar::history(&field.bytes).or(ask.history),
            name => {
                if let Some(question) = name.strip_prefix(ANSWER_PREFIX) {
                    answers.take(question, &words(&field.bytes));
                }
            }
        }
    }
    answers.into_entries().for_each(|entry| push(&mut ask.runs, Role::User, entry));
    match ask.runs.last() {
        Some(Run { role: Role::User, .. }) => Ok(ask),
        // The question was kept with the state.
        None if ask.state.is_some() => Ok(ask),
        Some(_) | None => Err(DecodeError::NoTerminalUser),
    }
}

fn push(runs: &mut Vec<Run>, role: Role, entry: Entry) {
    match runs.last_mut() {
        Some(run) if run.role == role => run.entries.push(entry),
        _ => runs.push(Run { role, entries: vec![entry] }),
    }
}

/// Dispatches a field by its media type alone. REST 3.3.
fn entry(field: Field) -> Result<Entry, DecodeError> {
    let Some(declared) = field.mime else { return Ok(Entry::text(words(&field.bytes))) };
    let Some(mime) = MediaType::parse(&declared).ok() else {
        let mime = "application/octet-stream".to_owned();
        return Ok(Entry::File { mime, name: field.file_name, bytes: field.bytes });
    };
    if mime.ty != mediatype::names::TEXT {
        return Ok(Entry::File { mime: declared, name: field.file_name, bytes: field.bytes });
    }
    match mime.get_param(mediatype::names::CHARSET).map(|charset| charset.unquoted_str().to_ascii_lowercase()) {
        Some(charset) if !["utf-8", "utf8", "us-ascii", "ascii"].contains(&charset.as_str()) => {
            Err(DecodeError::Charset)
        }
        _ => Ok(Entry::Text { mime: mime.essence().to_string().to_ascii_lowercase(), text: words(&field.bytes) }),
    }
}

/// Bytes as text; broken UTF-8 is replaced, as in the GET form.
fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn field(name: &str, mime: Option<&str>, bytes: &'static [u8]) -> Field {
        let mime = mime.map(str::to_owned);
        Field { name: name.to_owned(), file_name: None, mime, bytes: Bytes::from_static(bytes) }
    }

    fn texts(names: &[&str]) -> Result<Vec<(Role, usize)>, DecodeError> {
        let ask = group(names.iter().map(|name| field(name, None, b"x")).collect())?;
        Ok(ask.runs.iter().map(|run| (run.role, run.entries.len())).collect())
    }

    #[test]
    fn s3_2_a_run_of_one_name_is_a_turn() {
        let runs = texts(&["user", "assistant", "assistant", "user", "other", "user"]);
        assert_eq!(runs, Ok(vec![(Role::User, 1), (Role::Assistant, 2), (Role::User, 2)]));
    }

    #[test]
    fn s3_2_the_terminal_run_is_the_callers() {
        for names in [&[][..], &["session"], &["assistant"], &["user", "assistant"]] {
            assert_eq!(texts(names), Err(DecodeError::NoTerminalUser), "{names:?}");
        }
        assert_eq!(texts(&["session", "session", "user"]), Err(DecodeError::TwoSessions));
        assert_eq!(texts(&["state", "session"]), Ok(Vec::new()), "the question was kept with the state");
        assert_eq!(texts(&["state", "assistant"]), Err(DecodeError::NoTerminalUser));
    }

    #[test]
    fn s3_3_the_media_type_decides() {
        let dispatched = |mime| entry(field("user", mime, b"a\xff"));
        assert_eq!(dispatched(None), Ok(Entry::text("a\u{fffd}")));
        let text = Entry::Text { mime: "text/markdown".into(), text: "a\u{fffd}".into() };
        assert_eq!(dispatched(Some("TEXT/Markdown; charset=UTF-8")), Ok(text));
        assert_eq!(dispatched(Some("text/plain; charset=utf-7")), Err(DecodeError::Charset));
        for (declared, kept) in [("image/png", "image/png"), ("nonsense", "application/octet-stream")] {
            let file = Entry::File { mime: kept.into(), name: None, bytes: Bytes::from_static(b"a\xff") };
            assert_eq!(dispatched(Some(declared)), Ok(file));
        }
    }
}
