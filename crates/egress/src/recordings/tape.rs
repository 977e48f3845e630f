//! An answer as it is read, until it is whole.

use http::{HeaderMap, StatusCode};

use super::{RECORDED_BYTES_MAX, TapeLabel};

/// Takes down the bytes of an answer while somebody reads them, and keeps it when they have read enough.
pub(crate) struct Tape {
    /// `None`: it was kept, or given up.
    label: Option<Box<TapeLabel>>,
    status: StatusCode,
    headers: HeaderMap,
    bytes: Vec<u8>,
    /// Whether somebody waits for more of it.
    is_awaited: bool,
}

impl Tape {
    /// An empty tape.
    pub(crate) fn new(label: Box<TapeLabel>, status: StatusCode, headers: HeaderMap) -> Self {
        Self { label: Some(label), status, headers, bytes: Vec::new(), is_awaited: false }
    }

    /// The next bytes of the answer.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.is_awaited = false;
        if self.bytes.len() + bytes.len() <= RECORDED_BYTES_MAX {
            self.bytes.extend_from_slice(bytes);
        } else if let Some(label) = self.label.take() {
            label.lost(&format!("its answer has more than {RECORDED_BYTES_MAX} bytes"));
        }
    }

    /// Its reader waits for what comes next.
    pub(crate) fn awaited(&mut self) {
        self.is_awaited = true;
    }

    /// The end was reached.
    pub(crate) fn ended(mut self) {
        self.is_awaited = false;
    }

    /// The answer broke off: half of it would be replayed as if it were whole.
    pub(crate) fn broke_off(&mut self) {
        if let Some(label) = self.label.take() {
            label.lost("its answer broke off");
        }
    }
}

/// At the end of the answer, or where its reader had enough: a stream is left once it says that it is done. Whoever
/// leaves while more is awaited was stopped, as at the end of a test's time, and has half of it.
impl Drop for Tape {
    fn drop(&mut self) {
        match self.label.take() {
            Some(label) if self.is_awaited => label.lost("its reader was stopped before its end"),
            Some(label) => label.keep(self.status, &self.headers, &self.bytes),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::Method;

    use super::*;
    use crate::purpose::Purpose;
    use crate::recordings::{OwnPlaces, Play, RecordingMode, Recordings, SentRequest};

    /// The tape of an answer that has begun, and where it will be kept.
    fn begun(folder: &tempfile::TempDir) -> (Arc<Recordings>, Tape) {
        let recordings = Arc::new(Recordings::open(folder.path(), RecordingMode::Record).unwrap());
        let url = url::Url::parse("https://api.example/v1").unwrap();
        let own = OwnPlaces { origins: &[], addresses: &[] };
        let headers = HeaderMap::new();
        let sent = SentRequest { method: &Method::POST, url: &url, headers: &headers, body: b"{}", own };
        let Play::Send(label) = recordings.play(Purpose::Upstream, &sent) else { panic!("it is not sent") };
        let mut tape = Tape::new(label, StatusCode::OK, HeaderMap::new());
        tape.awaited();
        tape.take(b"half");
        (recordings, tape)
    }

    #[test]
    fn half_an_answer_whose_reader_was_stopped_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (recordings, mut tape) = begun(&folder);
        tape.awaited();
        drop(tape);
        assert_eq!(recordings.recorded(), 0);
        assert!(recordings.problems()[0].contains("was stopped"), "{:?}", recordings.problems());
    }

    #[test]
    fn an_answer_is_kept_up_to_its_bound_and_told_beyond_it() {
        for (more, kept) in [(0, 1), (1, 0)] {
            let folder = tempfile::tempdir().unwrap();
            let (recordings, mut tape) = begun(&folder);
            tape.take(&vec![b'a'; RECORDED_BYTES_MAX - b"half".len() + more]);
            tape.ended();
            let problems = recordings.problems().concat();
            assert_eq!(
                (recordings.recorded(), problems.contains("more than 4194304 bytes")),
                (kept, kept == 0),
                "{problems}"
            );
        }
    }

    #[test]
    fn an_answer_is_kept_at_its_end_and_where_its_reader_had_enough() {
        let folder = tempfile::tempdir().unwrap();
        let (recordings, tape) = begun(&folder);
        drop(tape);
        assert_eq!((recordings.recorded(), recordings.problems()), (1, Vec::new()));
        let (recordings, mut tape) = begun(&folder);
        tape.awaited();
        tape.ended();
        assert_eq!((recordings.recorded(), recordings.problems()), (1, Vec::new()));
    }
}
