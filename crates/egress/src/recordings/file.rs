//! Recorded exchanges on disk: a file of JSON for each request, for people to read, compare and edit.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::canonical::RecordedRequest;
use super::redaction::{Secrets, text_without};
use super::{RECORDED_ANSWERS_MAX, RECORDED_BYTES_MAX, RECORDED_FILES_MAX};

/// Bytes of a file, with all of its answers: what is longer is neither written nor read.
pub(super) const FILE_BYTES_MAX: u64 = 8 * RECORDED_BYTES_MAX as u64;
/// What stands between two events of a stream.
const EVENT_END: &str = "\n\n";
/// The headers of an answer that mean something to whoever asked. All others, cookies among them, are left out.
const KEPT: [HeaderName; 5] =
    [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE, header::LOCATION, header::RETRY_AFTER];

/// One request and what it was answered, in the order of the calls within a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedFile {
    pub(super) request: RecordedRequest,
    pub(super) answers: Vec<RecordedAnswer>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RecordedAnswer {
    status: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(flatten)]
    body: RecordedBody,
}

/// What an answer held, in the form that is read most easily.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedBody {
    Json(Value),
    /// The events of a stream, which come one by one again.
    Events(Vec<String>),
    Text(String),
    Base64(String),
}

impl RecordedAnswer {
    pub(super) fn of(status: StatusCode, headers: &HeaderMap, body: &[u8], secrets: &Secrets) -> Self {
        let kept = KEPT.iter().filter_map(|name| Some((name, headers.get(name)?.to_str().ok()?)));
        let kept = kept.map(|(name, value)| (name.to_string(), secrets.left_out_of(value))).collect();
        let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        Self { status: status.as_u16(), headers: kept, body: RecordedBody::of(media_type, body, secrets) }
    }

    /// The answer as it is given again. `None`: somebody edited it into what is none.
    pub(super) fn played(&self) -> Option<(StatusCode, HeaderMap, Vec<Bytes>)> {
        let named = |(name, value): (&String, &String)| {
            Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(value).ok()?))
        };
        let headers = self.headers.iter().map(named).collect::<Option<HeaderMap>>()?;
        let chunks = match &self.body {
            RecordedBody::Json(value) => vec![Bytes::from(value.to_string())],
            RecordedBody::Events(events) => {
                events.iter().map(|event| Bytes::from(format!("{event}{EVENT_END}"))).collect()
            }
            RecordedBody::Text(text) => vec![Bytes::from(text.clone())],
            RecordedBody::Base64(text) => vec![Bytes::from(STANDARD.decode(text).ok()?)],
        };
        Some((StatusCode::from_u16(self.status).ok()?, headers, chunks))
    }
}

impl RecordedBody {
    fn of(media_type: &str, body: &[u8], secrets: &Secrets) -> Self {
        if media_type.contains("json")
            && let Ok(value) = serde_json::from_slice(body)
        {
            return Self::Json(secrets.left_out_of_value(value));
        }
        match std::str::from_utf8(body) {
            Ok(text) if media_type.starts_with("text/event-stream") => {
                let events = text.split(EVENT_END).filter(|event| !event.is_empty());
                Self::Events(events.map(|event| text_without(event, secrets)).collect())
            }
            Ok(text) => Self::Text(text_without(text, secrets)),
            Err(_) => Self::Base64(STANDARD.encode(body)),
        }
    }
}

impl RecordedFile {
    /// Writes it in one step, so that a crash leaves the old one or the new one. Nothing is written that
    /// [`read_all`] would refuse: one such file keeps every test from running.
    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        let wrong = |error: std::io::Error| format!("{} can't be written: {error}", path.display());
        let text = serde_json::to_string_pretty(self).map_err(|error| wrong(error.into()))?;
        if !has_room(text.len()) {
            return Err(format!("{} would have more than {FILE_BYTES_MAX} bytes", path.display()));
        }
        // Too many levels, for one: what an answer nests stands deeper in a file.
        if let Err(error) = serde_json::from_str::<Self>(&text) {
            return Err(format!("{} could not be read again: {error}", path.display()));
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(wrong)?;
        }
        let beside = path.with_extension("json.new");
        fs::write(&beside, text + "\n").and_then(|()| fs::rename(&beside, path)).map_err(wrong)
    }

    fn read(path: &Path) -> Result<Self, String> {
        let wrong = |why: String| format!("{} {why}", path.display());
        let length = fs::metadata(path).map_err(|error| wrong(format!("can't be read: {error}")))?.len();
        if length > FILE_BYTES_MAX {
            return Err(wrong(format!("has more than {FILE_BYTES_MAX} bytes")));
        }
        let text = fs::read_to_string(path).map_err(|error| wrong(format!("can't be read: {error}")))?;
        let file: Self = serde_json::from_str(&text).map_err(|error| wrong(format!("is no recording: {error}")))?;
        match file.answers.len() {
            1..=RECORDED_ANSWERS_MAX => Ok(file),
            found => Err(wrong(format!("has {found} answers, and 1 to {RECORDED_ANSWERS_MAX} are taken"))),
        }
    }
}

/// Whether a file may hold a text of so many bytes, and the line end behind it.
fn has_room(bytes: usize) -> bool {
    (bytes as u64) < FILE_BYTES_MAX
}

/// All recordings in a folder, by their paths.
pub(super) fn read_all(folder: &Path) -> Result<Vec<(PathBuf, RecordedFile)>, String> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{} can't be read: {error}", folder.display())),
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_one = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut paths: Vec<PathBuf> = paths.filter(is_one).take(RECORDED_FILES_MAX + 1).collect();
    if paths.len() > RECORDED_FILES_MAX {
        return Err(format!("{} has more than {RECORDED_FILES_MAX} recordings", folder.display()));
    }
    paths.sort();
    paths.into_iter().map(|path| RecordedFile::read(&path).map(|file| (path, file))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn played(media_type: &'static str, body: &[u8]) -> Vec<Bytes> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(header::SET_COOKIE, HeaderValue::from_static("session=1"));
        let answer = RecordedAnswer::of(StatusCode::OK, &headers, body, &Secrets::default());
        let text = serde_json::to_string(&answer).unwrap();
        assert!(!text.contains("session=1"), "{text}");
        let (status, headers, chunks) = serde_json::from_str::<RecordedAnswer>(&text).unwrap().played().unwrap();
        assert_eq!((status, headers.len()), (StatusCode::OK, 1));
        chunks
    }

    #[test]
    fn a_stream_is_replayed_as_a_stream() {
        let chunks = played("text/event-stream", b"data: {\"a\":1}\n\ndata: [DONE]\n\n");
        assert_eq!(chunks, ["data: {\"a\":1}\n\n", "data: [DONE]\n\n"]);
    }

    fn file_of(body: &[u8]) -> RecordedFile {
        let request = serde_json::from_value(serde_json::json!({"method": "GET", "url": "http://a.example/"})).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        RecordedFile { request, answers: vec![RecordedAnswer::of(StatusCode::OK, &headers, body, &Secrets::default())] }
    }

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        file_of(b"\"a\"").write(&path).unwrap();
        let most = usize::try_from(FILE_BYTES_MAX).unwrap();
        assert!(has_room(most - 1) && !has_room(most));
        let wrong = file_of(format!("\"{}\"", "a".repeat(most)).as_bytes()).write(&path).unwrap_err();
        assert!(wrong.contains("more than 33554432 bytes"), "{wrong}");
        // The levels that an answer may have, and those of the file around it.
        let wrong = file_of(format!("{}{}", "[".repeat(126), "]".repeat(126)).as_bytes()).write(&path).unwrap_err();
        assert!(wrong.contains("could not be read again"), "{wrong}");
        assert_eq!(read_all(folder.path()).unwrap().len(), 1, "the old one is left");
    }

    #[test]
    fn a_file_has_its_bound_of_answers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let of = |count: usize| {
            let file = file_of(b"1");
            let answers = file.answers.into_iter().cycle().take(count).collect();
            RecordedFile { answers, ..file }.write(&path).unwrap();
            read_all(folder.path())
        };
        assert_eq!(of(RECORDED_ANSWERS_MAX).unwrap()[0].1.answers.len(), RECORDED_ANSWERS_MAX);
        for wrong in [0, RECORDED_ANSWERS_MAX + 1] {
            let told = of(wrong).unwrap_err();
            assert!(told.contains(&format!("has {wrong} answers, and 1 to 100 are taken")), "{told}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(played("application/octet-stream", &body).concat(), body);
        }

        #[test]
        fn any_file_is_read_or_refused(text in "\\PC{0,200}") {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("a.json"), text).unwrap();
            prop_assert!(read_all(folder.path()).is_err());
        }
    }
}
