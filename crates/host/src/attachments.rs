//! Attachments named by address become bytes, after the gate and through the egress guard.
//! REST 3.3; the same for every protocol whose messages can name a file by its address.

use std::sync::Arc;

use forecourt_core::{Admitted, Error, File, FileSource, Part};
use forecourt_egress::{Egress, Purpose};
use futures::future::try_join_all;

/// Addresses that one message may name.
pub(crate) const FETCHES_PER_MESSAGE_MAX: usize = 4;

/// Fetches what messages point at.
pub(crate) struct Attachments {
    pub(crate) egress: Arc<Egress>,
}

impl Attachments {
    /// Fetches every file of the current turn that is named by its address.
    ///
    /// Fails with [`Error::Invalid`], in words that don't tell an open port from a closed one, when
    /// one can't be had or there are more than [`FETCHES_PER_MESSAGE_MAX`].
    pub(crate) async fn fetch(&self, admitted: Admitted) -> Result<Admitted, Error> {
        let parts = &admitted.message().parts;
        let named = parts.iter().filter(|part| address(part).is_some()).count();
        if named == 0 {
            return Ok(admitted);
        }
        if named > FETCHES_PER_MESSAGE_MAX {
            let reason = format!("a message names at most {FETCHES_PER_MESSAGE_MAX} attachments by address");
            return Err(Error::invalid("user", reason));
        }
        let parts = try_join_all(parts.iter().map(|part| self.fetched(part))).await?;
        Ok(admitted.with_parts(parts))
    }

    async fn fetched(&self, part: &Part) -> Result<Part, Error> {
        let (Part::File(file), Some(url)) = (part, address(part)) else { return Ok(part.clone()) };
        let got = self.egress.get(Purpose::Attachment, url).await.map_err(|error| {
            tracing::info!(%error, "an attachment was not fetched");
            Error::invalid("user", "an attachment named by address could not be fetched")
        })?;
        let name = file.name.clone().or_else(|| last_segment(url));
        Ok(Part::File(File { id: file.id.clone(), ..File::inline(got.mime, name, got.bytes) }))
    }
}

fn address(part: &Part) -> Option<&str> {
    match part {
        Part::File(File { source: FileSource::Url { url, .. }, .. }) => Some(url),
        _ => None,
    }
}

/// The name that an address suggests for its file.
fn last_segment(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok()?;
    let name = url.path_segments()?.next_back()?;
    (!name.is_empty()).then(|| name.chars().take(200).collect())
}
