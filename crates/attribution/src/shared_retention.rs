//! For how long nodes keep the records in their store, as they stated it there: what is missing among them went by age
//! where that was so, and was taken out where it was not.

use std::time::Duration;

use forecourt_core::store::Span;
use forecourt_core::{Error, Timestamp};
use forecourt_host::Ledger;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::checkpoint::unverified;
use crate::keys::RecordKeys;
use crate::limits::CHAIN_READ_MAX;
use crate::signature::require_signed;
use crate::signer::RecordSigner;

/// The stream with the statements.
pub(crate) const RETENTIONS: &str = "retentions";
/// How long nodes may go by a setting that one of them has stated another for.
const OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);

/// For how long records are kept that are written from a moment on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RetentionStatement {
    /// `None`: for good.
    kept_seconds: Option<u64>,
    issued_at: Timestamp,
}

/// States for how long records are kept from now on, unless the last statement says the same.
pub(crate) async fn state(
    ledger: &Ledger,
    kept: Option<Duration>,
    signer: &RecordSigner,
    now: Timestamp,
) -> Result<(), Error> {
    let kept_seconds = kept.map(|kept| kept.as_secs());
    let last = ledger.last(RETENTIONS).await?;
    let last = last.and_then(|(_, entry)| unverified::<RetentionStatement>(entry.body["jws"].as_str()?));
    // For good is what counts while nobody states anything.
    if last.and_then(|last| last.kept_seconds) == kept_seconds {
        return Ok(());
    }
    let statement = RetentionStatement { kept_seconds, issued_at: now };
    // A struct of numbers and texts is always written.
    let jws = signer.compact(&serde_json::to_vec(&statement).unwrap_or_default());
    ledger.append(RETENTIONS, json!({"jws": jws}), None, None).await?;
    Ok(())
}

/// What nodes stated, the oldest first.
pub(crate) struct Retentions(Vec<RetentionStatement>);

impl Retentions {
    /// Those of a store that were signed, and what does not hold of the others, with their numbers.
    pub(crate) async fn read(ledger: &Ledger, keys: &RecordKeys) -> Result<(Self, Vec<(u64, String)>), Error> {
        let (mut stated, mut wrong, mut after) = (Vec::new(), Vec::new(), 0);
        loop {
            let page = ledger.entries(RETENTIONS, Span::After(after), CHAIN_READ_MAX).await?;
            let Some((last, _)) = page.last() else { return Ok((Self(stated), wrong)) };
            after = *last;
            for (number, entry) in page {
                let jws = entry.body["jws"].as_str().unwrap_or_default();
                match (require_signed(jws, keys), unverified(jws)) {
                    (Ok(()), Some(statement)) => stated.push(statement),
                    (Ok(()), None) => wrong.push((number, "it is no statement".to_owned())),
                    (Err(message), _) => wrong.push((number, message)),
                }
            }
        }
    }

    /// Whether records are gone by age at `now` that were written between two moments.
    pub(crate) fn are_gone(&self, from: Option<Timestamp>, to: Timestamp, now: Timestamp) -> bool {
        self.0.iter().enumerate().any(|(at, statement)| {
            let Some(kept) = statement.kept_seconds.map(Duration::from_secs) else { return false };
            let ends = self.0.get(at + 1).and_then(|next| next.issued_at.checked_add(OVERLAP).ok());
            let first = from.map_or(statement.issued_at, |from| from.max(statement.issued_at));
            let last = ends.map_or(to, |ends| ends.min(to));
            first <= last && first.checked_add(kept).is_ok_and(|gone| gone <= now)
        })
    }
}
