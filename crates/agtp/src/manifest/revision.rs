//! Which edition of the manifest this is: counted as its content changes, and kept, so that a restart
//! changes nothing. AGTP-API 8.2, 8.11; base 2.4.

use forecourt_core::{Error, Timestamp};
use forecourt_host::Host;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The version of the contract layer.
pub(super) const AGTP_API_VERSION: &str = "1.0";
/// The stream in which revisions are kept, the last one in force.
const STREAM: &str = "manifest";
/// How often another node may be first with a revision before this one gives up.
const ATTEMPTS_MAX: usize = 4;

/// An edition of the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Revision {
    /// What the whole content hashes to.
    pub content: String,
    /// What the endpoints alone hash to.
    pub endpoints: String,
    /// How many contents there have been.
    pub count: u64,
    /// A number that grows whenever the endpoints change, even if everything kept here is lost: no
    /// smaller than the time of the change in seconds.
    pub contract: u64,
    /// When there was a manifest first.
    pub issued: Timestamp,
    /// When it changed last.
    pub updated: Timestamp,
}

/// What a revision is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hashes {
    /// Of the whole content.
    pub content: String,
    /// Of the endpoints alone.
    pub endpoints: String,
}

impl Revision {
    /// The revision of this content, after the last one. The same one when nothing has changed.
    pub(super) fn after(last: Option<&Self>, hashes: &Hashes, now: Timestamp) -> Self {
        let Hashes { content, endpoints } = hashes.clone();
        let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        match last {
            None => Self { content, endpoints, count: 1, contract: seconds, issued: now, updated: now },
            Some(last) if last.content == content && last.endpoints == endpoints => last.clone(),
            Some(last) => {
                let contract = if last.endpoints == endpoints { last.contract } else { seconds.max(last.contract + 1) };
                Self { content, endpoints, count: last.count + 1, contract, issued: last.issued, updated: now }
            }
        }
    }

    /// What the manifest says of it: the count for people, and a part of the hash, by which two contents
    /// are never taken for one.
    pub(super) fn document_version(&self) -> String {
        let start = self.content.get(..8).unwrap_or(&self.content);
        format!("v{}-{start}", self.count)
    }

    /// `AGTP-API-Version`: that of the layer, with a number that never decreases.
    pub(super) fn api_version(&self) -> String {
        format!("{AGTP_API_VERSION}.{}", self.contract)
    }

    /// Finds the revision of this content, and keeps it if it is new.
    ///
    /// # Errors
    /// The store is away or damaged, or other nodes never stop being first.
    pub(super) async fn keep(host: &Host, hashes: &Hashes, now: Timestamp) -> Result<Self, Error> {
        for _ in 0..ATTEMPTS_MAX {
            let (number, last) = last(host).await?;
            let next = Self::after(last.as_ref(), hashes, now);
            if last.as_ref() == Some(&next) {
                return Ok(next);
            }
            // Compared with the last one: of nodes that count at once, one does, and the others count on from it.
            if host.ledger(crate::NAME).append(STREAM, json!(next), None, Some(number)).await?.is_some() {
                return Ok(next);
            }
        }
        Err(Error::unavailable())
    }
}

/// The last revision that was kept, with its number; 0 when there is none. One that can't be read was
/// written by a newer program, and counts as none.
async fn last(host: &Host) -> Result<(u64, Option<Revision>), Error> {
    let found = host.ledger(crate::NAME).last(STREAM).await?;
    Ok(found.map_or((0, None), |(number, entry)| (number, serde_json::from_value(entry.body).ok())))
}

#[cfg(test)]
mod tests;
