//! The document of an import: a file, or fetched from an address through the guard of all connections.

use std::fs::File;
use std::io::Read;

use forecourt_client::network;
use forecourt_egress::{Deadlines, EgressConfig, Purpose, UpstreamRequest};
use forecourt_openapi::limits::DOCUMENT_BYTES_MAX;
use url::Url;

use super::SHOWN_CHARS_MAX;
use crate::commands::printable::line;
use crate::output::Failure;

/// The bytes of a document, one more than may be at most.
pub(super) async fn text(named: &str) -> Result<Vec<u8>, Failure> {
    match address(named) {
        Some(url) => fetched(&url).await,
        None => read(named),
    }
}

/// The address of a document. `None`: it is a file.
pub(super) fn address(named: &str) -> Option<Url> {
    let is_address = named.starts_with("https://") || named.starts_with("http://");
    Url::parse(named).ok().filter(|_| is_address)
}

async fn fetched(url: &Url) -> Result<Vec<u8>, Failure> {
    let shown = line(url.as_str(), SHOWN_CHARS_MAX);
    let egress = network::build(EgressConfig::default(), None)?;
    let usual = Purpose::Document.deadlines(egress.config());
    let bounds = Deadlines { body_bytes_max: DOCUMENT_BYTES_MAX, ..usual };
    let request = UpstreamRequest::get(url.as_str()).within(bounds);
    let answer = egress.send(Purpose::Document, request).await;
    let wrong = |why: String| {
        Failure::yours(format!("{shown} cannot be fetched: {why}"))
            .hint("addresses are https and public; fetch any other one yourself and import the file")
    };
    let answer = answer.map_err(|error| wrong(error.log_reason()))?;
    if answer.status.is_redirection() {
        let place = answer.headers.get("location").and_then(|place| place.to_str().ok()).unwrap_or_default();
        return Err(wrong(format!("it is elsewhere now: {}", line(place, SHOWN_CHARS_MAX))));
    }
    if !answer.status.is_success() {
        return Err(wrong(format!("the answer is {}", answer.status)));
    }
    let bytes = answer.body.collect().await.map_err(|error| wrong(error.log_reason()))?;
    Ok(bytes.to_vec())
}

fn read(file: &str) -> Result<Vec<u8>, Failure> {
    let wrong = |error: std::io::Error| Failure::yours(format!("{file} cannot be read: {error}"));
    let mut text = Vec::new();
    // One more than may be, so that `import` tells that it is too long, and no endless file is read.
    let limit = DOCUMENT_BYTES_MAX as u64 + 1;
    File::open(file).map_err(wrong)?.take(limit).read_to_end(&mut text).map_err(wrong)?;
    Ok(text)
}
