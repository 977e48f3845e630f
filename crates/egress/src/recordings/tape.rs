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
}

impl Tape {
    /// An empty tape.
    pub(crate) fn new(label: Box<TapeLabel>, status: StatusCode, headers: HeaderMap) -> Self {
        Self { label: Some(label), status, headers, bytes: Vec::new() }
    }

    /// The next bytes of the answer.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() <= RECORDED_BYTES_MAX {
            self.bytes.extend_from_slice(bytes);
        } else if let Some(label) = self.label.take() {
            label.lost(&format!("its answer has more than {RECORDED_BYTES_MAX} bytes"));
        }
    }

    /// The answer broke off: half of it would be replayed as if it were whole.
    pub(crate) fn broke_off(&mut self) {
        if let Some(label) = self.label.take() {
            label.lost("its answer broke off");
        }
    }
}

/// At the end of the answer, or where its reader had enough: a stream is left once it says that it is done.
impl Drop for Tape {
    fn drop(&mut self) {
        if let Some(label) = self.label.take() {
            label.keep(self.status, &self.headers, &self.bytes);
        }
    }
}
