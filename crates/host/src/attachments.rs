//! Attachments named by address become bytes, after the gate and through the egress guard. Agents that pass messages on
//! are given the address. REST 3.3; the same for every protocol whose messages can name a file by its address.

use std::sync::Arc;

use forecourt_core::agent::AddressedFiles;
use forecourt_core::{Admitted, Error, File, FileSource, Part};
use forecourt_egress::{Egress, EgressError, Purpose};
use futures::future::try_join_all;

/// Addresses that one message may name.
pub(crate) const FETCHES_PER_MESSAGE_MAX: usize = 4;
/// Characters of the name by which an error calls an attachment, and of one that is taken from its address.
const NAME_CHARS_MAX: usize = 200;

/// Fetches what messages point at.
pub(crate) struct Attachments {
    pub(crate) egress: Arc<Egress>,
}

/// A file that is named by its address.
struct AddressedFile<'a> {
    file: &'a File,
    url: &'a str,
    /// Its place among the attachments of the message, from 1.
    number: usize,
}

impl Attachments {
    /// Gives the agent every file of the current turn that is named by its address, as `files` says.
    ///
    /// Fails with [`Error::Invalid`], in words that don't tell an open port from a closed one, when one can't be had, or
    /// may not be named, or there are more than [`FETCHES_PER_MESSAGE_MAX`].
    pub(crate) async fn fetch(&self, admitted: Admitted, files: AddressedFiles) -> Result<Admitted, Error> {
        let parts = &admitted.message().parts;
        let named = parts.iter().filter(|part| address(part).is_some()).count();
        if named == 0 {
            return Ok(admitted);
        }
        if named > FETCHES_PER_MESSAGE_MAX {
            let reason = format!(
                "a message names at most {FETCHES_PER_MESSAGE_MAX} attachments by address, and this one names {named}"
            );
            return Err(Error::invalid("attachments", reason));
        }
        let mut number = 0;
        let given = parts.iter().map(|part| {
            number += usize::from(!matches!(part, Part::Text(_)));
            self.given(part, number, files)
        });
        let parts = try_join_all(given).await?;
        Ok(admitted.with_parts(parts))
    }

    async fn given(&self, part: &Part, number: usize, files: AddressedFiles) -> Result<Part, Error> {
        let (Part::File(file), Some(url)) = (part, address(part)) else { return Ok(part.clone()) };
        let named = AddressedFile { file, url, number };
        if files == AddressedFiles::Passed {
            // Whoever is given the address may fetch it: never one that nobody may be sent to from here.
            let foreseen = self.egress.foresees(Purpose::Attachment, url);
            return foreseen.map(|()| part.clone()).map_err(|error| named.unfetched(&error));
        }
        match self.egress.get(Purpose::Attachment, url).await {
            Ok(got) => {
                let name = file.name.clone().or_else(|| last_segment(url));
                Ok(Part::File(File { id: file.id.clone(), ..File::inline(got.mime, name, got.bytes) }))
            }
            Err(error) if files == AddressedFiles::FetchedIfReachable && may_be_passed(&error) => Ok(part.clone()),
            Err(error) => Err(named.unfetched(&error)),
        }
    }
}

/// Whether others may be given an address that could not be fetched here.
fn may_be_passed(error: &EgressError) -> bool {
    !matches!(error, EgressError::Refused(_))
}

impl AddressedFile<'_> {
    fn unfetched(&self, error: &EgressError) -> Error {
        tracing::info!(%error, "an attachment was not fetched");
        let name = self.file.name.clone().or_else(|| last_segment(self.url));
        let called = name.map(|name| name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect::<String>());
        let called = called.filter(|name| !name.trim().is_empty());
        let called = called.map_or_else(|| format!("number {}", self.number), |name| format!("`{name}`"));
        Error::invalid("attachments", format!("{called} could not be fetched from its address"))
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
    (!name.is_empty()).then(|| name.chars().take(NAME_CHARS_MAX).collect())
}
