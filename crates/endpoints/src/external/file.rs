//! Bytes as JSON holds them: in base64, or as a `data:` URL.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use forecourt_egress::data_url;
use serde_json::Value;

/// Base64 with or without its padding: encoders differ, and the bytes are the same.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// The bytes of a text, and their media type where it is said.
#[derive(Debug)]
pub(super) struct EncodedFile {
    pub(super) bytes: Bytes,
    pub(super) media: Option<String>,
}

/// The bytes that a value stands for. `None`: there is no value.
///
/// # Errors
/// It is neither base64 nor a `data:` URL, in a sentence.
pub(super) fn file(value: &Value) -> Result<Option<EncodedFile>, &'static str> {
    let wrong = "a file is a text: base64, or a data: URL";
    let text = match value {
        Value::Null => return Ok(None),
        Value::String(text) => text,
        _ => return Err(wrong),
    };
    if text.starts_with("data:") {
        let url = data_url(text).map_err(|_| wrong)?;
        return Ok(Some(EncodedFile { bytes: url.bytes, media: Some(url.mime) }));
    }
    // MIME breaks base64 into lines of 76 characters, and so do many tools.
    let plain: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    // Both alphabets are in use for files in JSON, and no text is valid in both and means two things.
    let alphabet = if plain.iter().any(|byte| matches!(byte, b'-' | b'_')) { URL_SAFE } else { STANDARD };
    let bytes = GeneralPurpose::new(&alphabet, LENIENT).decode(plain).map_err(|_| wrong)?;
    Ok(Some(EncodedFile { bytes: bytes.into(), media: None }))
}
