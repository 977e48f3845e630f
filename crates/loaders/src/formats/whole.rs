//! Files that are read whole, up to a bound.

use std::io::Read;

use encoding_rs::WINDOWS_1252;

use super::{Input, Reason, Sink, Stop};
use crate::limits::TEXT_FILE_BYTES_MAX;

/// The bytes of a file. Fails past `bytes_max`, with the bound in its words.
pub(super) fn whole_bytes(input: &mut Input<'_>, bytes_max: u64) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    // One byte more than the bound tells a file that is too long; its size may have changed since it was looked at.
    input.by_ref().take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| Stop::rest(1, error))?;
    match bytes.len() as u64 > bytes_max {
        true => {
            let reason = Reason::Rest(format!("a file of this kind may have {bytes_max} bytes, and this one has more"));
            Err(Stop::Broken { line: 1, reason })
        }
        false => Ok(bytes),
    }
}

/// The text of a file. `None` when it is no text, which the sink is told.
pub(super) fn whole_text(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<Option<String>, Stop> {
    let bytes = whole_bytes(input, TEXT_FILE_BYTES_MAX)?;
    match readable(bytes) {
        Some(text) => Ok(Some(text)),
        None => sink.skip(super::At { line: 1, bytes: input.at().bytes }, Reason::NoText).map(|()| None),
    }
}

/// Bytes as text: UTF-8, else Windows-1252, which old programs write. `None` for what is no text.
pub(super) fn readable(bytes: Vec<u8>) -> Option<String> {
    if memchr::memchr(0, &bytes).is_some() {
        return None;
    }
    Some(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => WINDOWS_1252.decode_without_bom_handling(error.as_bytes()).0.into_owned(),
    })
}
