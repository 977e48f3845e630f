//! Recorded exchanges: what others answered, kept in files and given again without a network, for tests of a
//! deployment.
//!
//! They stand here, and not with whoever asks a model, since every request of a model, of a remote agent and of a web
//! service passes this crate and nothing else opens a connection: what an [`Egress`](crate::Egress) with recordings
//! must not send, nobody behind it can send, and a backend that is written tomorrow is recorded without knowing of it.
//!
//! | file | holds |
//! |---|---|
//! | `canonical.rs` | a request without what varies, and its hash |
//! | `redaction.rs` | what of a request and of its answer is a secret, and left out |
//! | `file.rs` | the form on disk |
//! | `tape.rs` | an answer as it is read, until it is whole |

mod canonical;
mod file;
mod redaction;
mod tape;

use std::collections::HashMap;
use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use parking_lot::Mutex;

use crate::purpose::Purpose;
pub(crate) use canonical::OwnPlaces;
use canonical::RecordedRequest;
use file::{RecordedAnswer, RecordedFile};
use redaction::Secrets;
pub(crate) use tape::Tape;

/// Bytes of an answer that is recorded.
pub const RECORDED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Recorded requests of one deployment, a file each of at most eight times [`RECORDED_BYTES_MAX`].
pub const RECORDED_FILES_MAX: usize = 10_000;
/// Answers to one request that is made again and again within a test.
pub const RECORDED_ANSWERS_MAX: usize = 100;
/// Calls that were not recorded and are told, of one test.
const MISSING_MAX: usize = 20;

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingMode {
    /// It is answered from the recordings, and never sent.
    Replay,
    /// It is sent, once for all tests of a run, and its answer is kept.
    Record,
}

/// The recorded exchanges in a folder. The n-th request of a kind within a test has the n-th answer, and whatever comes
/// behind the last one has that again.
pub struct Recordings {
    folder: PathBuf,
    mode: RecordingMode,
    state: Mutex<RecordingState>,
}

#[derive(Default)]
struct RecordingState {
    entries: HashMap<String, Entry>,
    /// How often each request was made in the test under way.
    calls: HashMap<String, usize>,
    missing: Vec<String>,
    problems: Vec<String>,
}

/// One request with its answers.
struct Entry {
    path: PathBuf,
    content: RecordedFile,
    /// How many of the answers were recorded in this run.
    fresh: usize,
    is_used: bool,
}

/// What is to be done with a request.
pub(crate) enum Play {
    /// It has this answer.
    Answer(StatusCode, HeaderMap, Vec<Bytes>),
    /// It is sent, and what comes is written on the tape.
    Send(Box<TapeLabel>),
    /// It was not recorded, or is never sent while a deployment is tested.
    Nothing,
}

/// Which answer a tape will be.
pub(crate) struct TapeLabel {
    recordings: Arc<Recordings>,
    request: RecordedRequest,
    secrets: Secrets,
    /// Which of the answers to this request it is.
    number: usize,
}

impl Recordings {
    /// Those in `folder`, which need not be there.
    ///
    /// # Errors
    /// A sentence: a file can't be read, two of them are of one request, or there are more than
    /// [`RECORDED_FILES_MAX`].
    pub fn open(folder: &Path, mode: RecordingMode) -> Result<Self, String> {
        let mut entries: HashMap<String, Entry> = HashMap::new();
        for (path, content) in file::read_all(folder)? {
            // By what the file says and not by its name, so that one may be edited or moved.
            let entry = Entry { path, fresh: 0, is_used: false, content };
            match entries.entry(entry.content.request.hash()) {
                // Which of the two would answer is nothing that the order of a folder should decide.
                Occupied(other) => {
                    let (one, two) = (other.get().path.display(), entry.path.display());
                    return Err(format!("{one} and {two} have answers to the same request: delete one of them"));
                }
                Vacant(place) => drop(place.insert(entry)),
            }
        }
        let state = Mutex::new(RecordingState { entries, ..RecordingState::default() });
        Ok(Self { folder: folder.to_path_buf(), mode, state })
    }

    /// A test begins: each request of it is the first one again.
    pub fn begin(&self) {
        let mut state = self.state.lock();
        state.calls.clear();
        state.missing.clear();
    }

    /// The requests of backends since [`Recordings::begin`] that were not recorded, as `POST https://host/path`.
    pub fn missing(&self) -> Vec<String> {
        self.state.lock().missing.clone()
    }

    /// What could not be written, in a sentence each.
    pub fn problems(&self) -> Vec<String> {
        self.state.lock().problems.clone()
    }

    /// How many requests were recorded in this run.
    pub fn recorded(&self) -> usize {
        self.state.lock().entries.values().filter(|entry| entry.fresh > 0).count()
    }

    /// Removes the files of requests that no test of a whole recording made; gives how many.
    pub fn prune(&self) -> usize {
        let mut state = self.state.lock();
        let unused: Vec<String> =
            state.entries.iter().filter(|(_, entry)| !entry.is_used).map(|(hash, _)| hash.clone()).collect();
        let gone = unused.iter().filter_map(|hash| state.entries.remove(hash));
        gone.filter(|entry| std::fs::remove_file(&entry.path).is_ok()).count()
    }

    /// What is to be done with a request.
    pub(crate) fn play(self: &Arc<Self>, purpose: Purpose, sent: &SentRequest<'_>) -> Play {
        if is_never_sent(purpose) {
            return Play::Nothing;
        }
        let secrets = Secrets::of(sent.headers);
        let request = RecordedRequest::of(sent, &secrets);
        let hash = request.hash();
        let mut state = self.state.lock();
        let number = state.calls.entry(hash.clone()).or_default();
        let (mine, next) = (*number, *number + 1);
        *number = next;
        let entry = state.entries.get_mut(&hash);
        let known = match (self.mode, entry) {
            (RecordingMode::Replay, Some(entry)) => entry.answer(mine),
            // Asked once for all tests of a run: it costs, and two tests must not see two answers.
            (RecordingMode::Record, Some(entry)) if mine < entry.fresh => entry.answer(mine),
            _ => None,
        };
        match (known, self.mode) {
            (Some((status, headers, chunks)), _) => Play::Answer(status, headers, chunks),
            (None, RecordingMode::Record) => {
                Play::Send(Box::new(TapeLabel { recordings: self.clone(), request, secrets, number: mine }))
            }
            (None, RecordingMode::Replay) => {
                if is_of_backend(purpose) {
                    state.miss(request.line());
                }
                Play::Nothing
            }
        }
    }

    /// Whether a connection other than HTTP may be opened: what is said on it is not recorded.
    pub(crate) fn may_connect(&self, host: &str, port: u16) -> bool {
        if self.mode == RecordingMode::Replay {
            self.state.lock().miss(format!("a connection to {host}:{port}, which can't be recorded"));
        }
        self.mode == RecordingMode::Record
    }
}

/// What a request says, before what varies is left out.
pub(crate) struct SentRequest<'a> {
    pub(crate) method: &'a Method,
    pub(crate) url: &'a url::Url,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    /// What this host calls itself, whose ports differ from run to run.
    pub(crate) own: OwnPlaces<'a>,
}

/// Whether it would tell somebody of what is only tested, or order something.
fn is_never_sent(purpose: Purpose) -> bool {
    match purpose {
        Purpose::Webhook
        | Purpose::Callback
        | Purpose::Federation
        | Purpose::Platform
        | Purpose::Telemetry
        | Purpose::CertificateAuthority => true,
        Purpose::Attachment
        | Purpose::Document
        | Purpose::WebFinger
        | Purpose::Crawl
        | Purpose::RemoteAgent
        | Purpose::Upstream
        | Purpose::SignIn
        | Purpose::Service => false,
    }
}

/// Whether an answer depends on it. Others, such as hubs that are looked at now and then, do without for as long as a
/// test takes.
fn is_of_backend(purpose: Purpose) -> bool {
    matches!(purpose, Purpose::Upstream | Purpose::RemoteAgent | Purpose::Service)
}

impl RecordingState {
    fn miss(&mut self, what: String) {
        if self.missing.len() < MISSING_MAX && !self.missing.contains(&what) {
            self.missing.push(what);
        }
    }
}

impl Entry {
    /// The answer to the request that was made `number` times before.
    fn answer(&mut self, number: usize) -> Option<(StatusCode, HeaderMap, Vec<Bytes>)> {
        self.is_used = true;
        let answers = &self.content.answers;
        answers.get(number).or(answers.last()).and_then(RecordedAnswer::played)
    }
}

impl TapeLabel {
    /// Keeps the answer. Written at once: what was recorded, and paid for, outlives whatever comes then.
    fn keep(self, status: StatusCode, headers: &HeaderMap, body: &[u8]) {
        let Self { recordings, request, secrets, number } = self;
        let mut state = recordings.state.lock();
        let hash = request.hash();
        let is_one_too_many = state.entries.len() >= RECORDED_FILES_MAX && !state.entries.contains_key(&hash);
        if number >= RECORDED_ANSWERS_MAX || is_one_too_many {
            let most = format!("at most {RECORDED_ANSWERS_MAX} of each in {RECORDED_FILES_MAX} files");
            state.problems.push(format!("{} is not recorded: {most}", request.line()));
            return;
        }
        let line = request.line();
        let path = recordings.folder.join(request.file_name(&hash));
        let fresh = || Entry { path, content: RecordedFile { request, answers: Vec::new() }, fresh: 0, is_used: true };
        let entry = state.entries.entry(hash).or_insert_with(fresh);
        entry.is_used = true;
        // The first answer of a run takes the place of all that an earlier one recorded.
        if entry.fresh == 0 {
            entry.content.answers.clear();
        }
        let answer = RecordedAnswer::of(status, headers, body, &secrets);
        let all = &mut entry.content.answers;
        let place = number.min(all.len());
        let before = (place < all.len()).then(|| all.remove(place));
        all.insert(place, answer);
        let written = entry.content.write(&entry.path);
        if written.is_err() {
            // What is not on disk is not played either: the file stays as it was.
            drop(entry.content.answers.splice(place..=place, before));
        }
        entry.fresh = entry.content.answers.len();
        state.problems.extend(written.err().map(|why| format!("{line} is not recorded: {why}")));
    }

    fn lost(self, why: &str) {
        let line = self.request.line();
        self.recordings.state.lock().problems.push(format!("{line} is not recorded: {why}"));
    }
}

/// Never prints what was recorded.
impl fmt::Debug for Recordings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recordings").field("folder", &self.folder).field("mode", &self.mode).finish_non_exhaustive()
    }
}
