//! Old segments: removed where the operator wishes, after it was signed where the log begins then.

use std::os::unix::fs::MetadataExt;

use forecourt_core::Timestamp;

use crate::checkpoint::Checkpoint;
use crate::error::LogError;
use crate::index::{self, SealedIndex};
use crate::open_segment::first_link;
use crate::options::LogOptions;
use crate::segment;
use crate::signer::RecordSigner;
use crate::state::LogState;

impl LogState {
    /// Removes sealed segments as the operator wishes, and signs where the log begins then. With the lock.
    pub(crate) fn retire(
        &mut self,
        options: &LogOptions,
        signer: &RecordSigner,
        now: Timestamp,
    ) -> Result<usize, LogError> {
        self.look_where_it_begins()?;
        let first = self.first_to_keep(options, now)?;
        if first == self.first {
            return Ok(0);
        }
        // The next one carries on what this one says, and is signed.
        self.require_begun(signer)?;
        // The heads of the last checkpoint as well: an agent that was silent since keeps its chain.
        let mut heads = self.checkpoint.as_ref().map(|checkpoint| checkpoint.heads.clone()).unwrap_or_default();
        for number in self.first..first {
            let index = SealedIndex::open(&self.folder, number)?;
            heads.extend(index.heads().map(|(agent, head)| (agent, head.audit_id)));
        }
        let link = first_link(&self.folder, first)?;
        // Signed and on the disk before anything is removed: after a crash in between, the start removes the rest.
        self.checkpoint = Some(Checkpoint::write(&self.folder, signer, first, &link, heads, now)?);
        let gone = self.first..first;
        self.first = first;
        self.older.clear();
        for number in gone.clone() {
            index::remove(&self.folder, number)?;
        }
        Ok((gone.end - gone.start) as usize)
    }

    fn first_to_keep(&self, options: &LogOptions, now: Timestamp) -> Result<u64, LogError> {
        let mut sizes = Vec::new();
        for number in self.first..=self.open.number {
            let path = segment::path(&self.folder, number);
            let metadata = path.metadata().map_err(LogError::io(&path))?;
            sizes.push((number, metadata.len(), metadata.mtime()));
        }
        let mut total: u64 = sizes.iter().map(|(_, bytes, _)| bytes).sum();
        for (number, bytes, changed) in sizes {
            // A file from the future (a clock that was set back) counts as new.
            let age = u64::try_from(now.as_second() - changed).unwrap_or_default();
            let is_old = options.retention.is_some_and(|kept| age > kept.as_secs());
            let is_much = options.size_max.is_some_and(|most| total > most);
            // Only from the front: a hole in the middle would break the chain of segments.
            if number == self.open.number || !(is_old || is_much) {
                return Ok(number);
            }
            total -= bytes;
        }
        Ok(self.open.number)
    }
}
