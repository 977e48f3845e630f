//! Documents of a judged set as items that can be indexed.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde_json::Value;

use crate::judged::id_of;
use crate::limits::{LINE_BYTES_MAX, NAME_BYTES_MAX, PROBLEMS_MAX};
use crate::problem::FileProblem;

/// Writes the documents of a corpus into a file of items, each with its `_id` and a name; a document without a title
/// is named by its first words. Returns how many there are.
///
/// # Errors
/// The corpus can't be read or is not in shape (with the lines, at most [`PROBLEMS_MAX`]), or the file of items can't
/// be written.
pub fn write_items(corpus: &Path, items: &Path) -> Result<usize, Vec<FileProblem>> {
    let failed = |file: &Path| {
        let file = file.to_owned();
        move |error: std::io::Error| vec![FileProblem::of(&file, error.to_string())]
    };
    let mut input = BufReader::new(File::open(corpus).map_err(failed(corpus))?);
    let mut out = BufWriter::new(File::create(items).map_err(failed(items))?);
    let (mut seen, mut problems, mut line) = (HashMap::new(), Vec::new(), Vec::new());
    for at in 1.. {
        line.clear();
        // A corpus without line breaks would otherwise be read into memory whole.
        let mut bounded = input.by_ref().take(LINE_BYTES_MAX as u64 + 1);
        if bounded.read_until(b'\n', &mut line).map_err(failed(corpus))? == 0 || problems.len() == PROBLEMS_MAX {
            break;
        }
        if line.len() > LINE_BYTES_MAX {
            problems.push(FileProblem::at(corpus, at, format!("it has more than {LINE_BYTES_MAX} bytes")));
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match item(&line) {
            Ok((id, item)) => match seen.insert(id, at) {
                None => writeln!(out, "{item}").map_err(failed(items))?,
                Some(first) => {
                    problems.push(FileProblem::at(corpus, at, format!("its `_id` is on line {first} already")))
                }
            },
            Err(reason) => problems.push(FileProblem::at(corpus, at, reason)),
        }
    }
    out.flush().map_err(failed(items))?;
    if problems.is_empty() { Ok(seen.len()) } else { Err(problems) }
}

fn item(line: &[u8]) -> Result<(String, Value), String> {
    let mut value: Value = serde_json::from_slice(line).map_err(|error| format!("not a line of JSON: {error}"))?;
    let id = id_of(&value).ok_or("a document needs an `_id`")?;
    let Value::Object(fields) = &mut value else { return Err("a document is an object".to_owned()) };
    // As a text, since judgements name documents by text, and some sets number them.
    fields.insert("_id".to_owned(), id.clone().into());
    let has_name = ["name", "headline", "title"].iter().any(|key| text(fields.get(*key)).is_some());
    if !has_name {
        let name = text(fields.get("text")).map(first_words).ok_or("a document needs a `title` or a `text`")?;
        fields.insert("name".to_owned(), name.into());
    }
    Ok((id, value))
}

fn text(value: Option<&Value>) -> Option<&str> {
    value?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

fn first_words(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut end = line.len().min(NAME_BYTES_MAX);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let cut = &line[..end];
    // A word is not cut in two, unless it is all there is.
    match cut.rfind(char::is_whitespace) {
        Some(at) if end < line.len() => cut[..at].trim_end().to_owned(),
        _ => cut.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(corpus: &str) -> Result<Vec<Value>, Vec<FileProblem>> {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("corpus.jsonl"), folder.path().join("items.jsonl"));
        std::fs::write(&from, corpus).unwrap();
        let count = write_items(&from, &to)?;
        let items: Vec<Value> =
            std::fs::read_to_string(to).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(items.len(), count);
        Ok(items)
    }

    #[test]
    fn a_document_without_a_title_is_called_by_its_first_words() {
        let text = "word ".repeat(100);
        let corpus =
            format!("{{\"_id\": 7, \"title\": \" \", \"text\": \"{text}\"}}\n\n{{\"_id\": \"8\", \"title\": \"T\"}}\n");
        let items = written(&corpus).unwrap();
        assert_eq!(items[0]["_id"], "7");
        assert_eq!(items[0]["name"].as_str().unwrap(), "word ".repeat(NAME_BYTES_MAX / 5).trim_end());
        assert_eq!(items[1].get("name"), None);
    }

    #[test]
    fn lines_out_of_shape_are_told() {
        let problems = written(
            "{\"_id\":\"1\",\"title\":\"a\"}\n{\n{\"_id\":\"1\",\"title\":\"b\"}\n{\"_id\":\"2\"}\n{\"title\":\"x\"}",
        )
        .unwrap_err();
        let told: Vec<(Option<usize>, &str)> = problems.iter().map(|p| (p.line, p.reason.as_str())).collect();
        assert!(told[0].1.starts_with("not a line of JSON") && told[0].0 == Some(2));
        assert_eq!(
            told[1..],
            [
                (Some(3), "its `_id` is on line 1 already"),
                (Some(4), "a document needs a `title` or a `text`"),
                (Some(5), "a document needs an `_id`"),
            ]
        );
    }

    #[test]
    fn a_line_ends_at_its_bound() {
        let line = |bytes: usize| {
            let frame = "{\"_id\":\"1\",\"title\":\"\"}";
            format!("{{\"_id\":\"1\",\"title\":\"{}\"}}", "x".repeat(bytes - frame.len()))
        };
        assert!(written(&line(LINE_BYTES_MAX)).is_ok());
        assert!(written(&line(LINE_BYTES_MAX + 1)).is_err());
    }
}
