//! Files that a program hands over in pieces.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_core::limits::{ARTIFACT_BYTES_MAX, REPLY_BYTES_MAX};
use forecourt_core::{Ending, FailureCause, File, Part};
use serde::Deserialize;
use serde_json::Value;

use crate::answer;
use crate::limits::{OPEN_ARTIFACTS_MAX, PROGRAM_ID_CHARS_MAX};

/// The key of a piece.
pub(super) const ARTIFACT: &str = "artifact";

/// The files of one answer that are not whole yet.
#[derive(Debug, Default)]
pub(super) struct OpenArtifacts {
    open: Vec<OpenArtifact>,
    /// Bytes of all files of the answer so far.
    bytes: usize,
}

#[derive(Debug)]
struct OpenArtifact {
    id: String,
    name: Option<String>,
    mime: String,
    bytes: Vec<u8>,
}

/// An `artifact` line.
#[derive(Debug, Deserialize)]
struct Piece {
    id: String,
    name: Option<String>,
    mime: Option<String>,
    #[serde(default)]
    data: String,
    /// Whether it goes behind what there is. Otherwise the file begins anew.
    #[serde(default)]
    append: bool,
    /// Whether the file is whole.
    #[serde(default)]
    last: bool,
}

impl OpenArtifacts {
    /// Takes a piece; the file, where it is whole with that.
    ///
    /// # Errors
    /// It can't be read, or is over a bound.
    pub(super) fn take(&mut self, value: Value) -> Result<Option<Part>, Ending> {
        let unreadable = |reason: String| answer::unreadable(&format!("`{ARTIFACT}`: {reason}"));
        let piece: Piece = serde_json::from_value(value).map_err(|error| unreadable(error.to_string()))?;
        if piece.id.is_empty() || piece.id.chars().count() > PROGRAM_ID_CHARS_MAX {
            return Err(unreadable(format!("`id` has 1 to {PROGRAM_ID_CHARS_MAX} characters")));
        }
        let bytes = STANDARD.decode(&piece.data).map_err(|error| unreadable(format!("`data`: {error}")))?;
        let at = match self.open.iter().position(|open| open.id == piece.id) {
            Some(at) => at,
            None => self.begin(&piece.id)?,
        };
        let open = &mut self.open[at];
        if !piece.append {
            self.bytes -= open.bytes.len();
            open.bytes.clear();
        }
        open.name = piece.name.or(open.name.take());
        open.mime = piece.mime.unwrap_or_else(|| std::mem::take(&mut open.mime));
        if open.bytes.len() + bytes.len() > ARTIFACT_BYTES_MAX || self.bytes + bytes.len() > REPLY_BYTES_MAX {
            return Err(FailureCause::OverBound.ending(format!(
                "The agent's program wrote a file of more than {ARTIFACT_BYTES_MAX} bytes, or files of more than \
                 {REPLY_BYTES_MAX} together."
            )));
        }
        self.bytes += bytes.len();
        open.bytes.extend_from_slice(&bytes);
        Ok(piece.last.then(|| self.open.remove(at).into_part()))
    }

    fn begin(&mut self, id: &str) -> Result<usize, Ending> {
        if self.open.len() == OPEN_ARTIFACTS_MAX {
            return Err(FailureCause::OverBound
                .ending(format!("The agent's program wrote more than {OPEN_ARTIFACTS_MAX} files at once.")));
        }
        let mime = "application/octet-stream".to_owned();
        self.open.push(OpenArtifact { id: id.to_owned(), name: None, mime, bytes: Vec::new() });
        Ok(self.open.len() - 1)
    }

    /// Bytes of the files that are not whole yet.
    pub(super) fn open_bytes(&self) -> usize {
        self.open.iter().map(|open| open.bytes.len()).sum()
    }

    /// Lets go of the files that are not whole yet.
    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    /// The files that are still open: whole, where the answer ends well.
    pub(super) fn finish(&mut self) -> Vec<Part> {
        self.open.drain(..).map(OpenArtifact::into_part).collect()
    }
}

impl OpenArtifact {
    fn into_part(self) -> Part {
        Part::File(File::inline(self.mime, self.name, self.bytes.into()))
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::FileSource;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn piece(id: &str, bytes: &[u8], more: &Value) -> Value {
        let mut piece = json!({"id": id, "name": "a.bin", "data": STANDARD.encode(bytes)});
        piece.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        piece
    }

    fn bytes_of(part: &Part) -> Vec<u8> {
        let Part::File(File { source: FileSource::Inline(bytes), .. }) = part else { panic!("{part:?}") };
        bytes.to_vec()
    }

    #[test]
    fn pieces_of_several_files_become_these_files() {
        let mut open = OpenArtifacts::default();
        assert_eq!(open.take(piece("a", b"one ", &json!({"mime": "text/plain"}))).unwrap(), None);
        assert_eq!(open.take(piece("b", b"wrong", &json!({}))).unwrap(), None);
        let whole = open.take(piece("a", b"two", &json!({"append": true, "last": true}))).unwrap().unwrap();
        assert!(
            matches!(&whole, Part::File(file) if file.mime == "text/plain" && file.name.as_deref() == Some("a.bin"))
        );
        assert_eq!(bytes_of(&whole), b"one two");
        assert_eq!(open.take(piece("b", b"right", &json!({}))).unwrap(), None);
        assert_eq!(open.finish().iter().map(bytes_of).collect::<Vec<_>>(), [b"right"]);
        assert!(open.finish().is_empty());
    }

    #[test]
    fn files_have_bounds_each_and_in_number() {
        let mut open = OpenArtifacts::default();
        assert!(open.take(piece("a", &vec![0; ARTIFACT_BYTES_MAX], &json!({}))).is_ok());
        assert!(open.take(piece("a", b"x", &json!({"append": true}))).is_err());
        let mut open = OpenArtifacts::default();
        for number in 0..OPEN_ARTIFACTS_MAX {
            assert!(open.take(piece(&number.to_string(), b"x", &json!({}))).is_ok());
        }
        let error = open.take(piece("more", b"x", &json!({}))).unwrap_err();
        assert!(matches!(error, Ending::Failed { reason, .. } if reason.contains("more than 32 files")));
    }

    #[test]
    fn a_piece_that_is_none_is_an_error() {
        for wrong in
            [json!(1), json!({}), json!({"id": ""}), json!({"id": "a", "data": "?"}), json!({"id": "a".repeat(65)})]
        {
            assert!(OpenArtifacts::default().take(wrong).is_err());
        }
    }

    proptest! {
        #[test]
        fn pieces_are_what_was_cut(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 1..50_usize) {
            let mut open = OpenArtifacts::default();
            for piece_of in bytes.chunks(cut) {
                open.take(piece("a", piece_of, &json!({"append": true}))).unwrap();
            }
            let whole = open.take(piece("a", b"", &json!({"append": true, "last": true}))).unwrap().unwrap();
            prop_assert_eq!(bytes_of(&whole), bytes);
        }
    }
}
