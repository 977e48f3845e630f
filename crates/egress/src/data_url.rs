//! `data:` URLs, decoded in place: they never touch the network. RFC 2397, Mentionable REST 3.3.

use bytes::Bytes;

use crate::limits::{ATTACHMENT_BYTES_MAX, DATA_URL_BYTES_MAX};

/// What a `data:` URL holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataUrl {
    /// Its media type with parameters, safe for a header; `text/plain;charset=US-ASCII` when the URL
    /// names none or a broken one.
    pub mime: String,
    /// Its content, at most [`ATTACHMENT_BYTES_MAX`], never decoded further.
    pub bytes: Bytes,
}

/// Why some text is no `data:` URL that we take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DataUrlError {
    /// It has no comma, another scheme, or is no URL at all.
    #[error("a data: URL needs a comma before its content")]
    Malformed,
    /// Its content is not base64, although it says so.
    #[error("the content of this data: URL is not base64")]
    Base64,
    /// It holds more than [`ATTACHMENT_BYTES_MAX`].
    #[error("the content of this data: URL is too large")]
    TooLarge,
}

/// Decodes a `data:` URL, one level deep. The scheme is in lower case, as in Mentionable REST 3.3:
/// other spellings are text, and the caller decides that before.
pub fn data_url(text: &str) -> Result<DataUrl, DataUrlError> {
    // Before decoding: the text alone bounds what is allocated.
    if text.len() > DATA_URL_BYTES_MAX {
        return Err(DataUrlError::TooLarge);
    }
    // The decoder looks for a scheme and a comma only; that the text is a URL at all is checked here.
    url::Url::parse(text).map_err(|_| DataUrlError::Malformed)?;
    let url = data_url::DataUrl::process(text).map_err(|_| DataUrlError::Malformed)?;
    let (bytes, _fragment) = url.decode_to_vec().map_err(|_| DataUrlError::Base64)?;
    match bytes.len() <= ATTACHMENT_BYTES_MAX {
        true => Ok(DataUrl { mime: media_type(url.mime_type()), bytes: bytes.into() }),
        false => Err(DataUrlError::TooLarge),
    }
}

/// The media type as a field value can carry it: parameters that are not ASCII are left out.
fn media_type(mime: &data_url::mime::Mime) -> String {
    let whole = mime.to_string();
    match whole.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        true => whole,
        false => format!("{}/{}", mime.type_, mime.subtype),
    }
}
