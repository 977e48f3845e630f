//! Where a run writes: the index here, or an engine outside.

use std::collections::HashMap;

use forecourt_core::hashed::HashedKeys;
use forecourt_loaders::limits::ITEMS_MAX;
use forecourt_retrieval::limits::{BULK_BYTES_MAX, BULK_ITEMS_MAX, ENGINE_ITEMS_MAX};
use forecourt_retrieval::{Change, RetrievalError, Retriever, StoredEntry};
use tantivy::{IndexWriter, TantivyDocument, Term};

use super::commit::Summary;
use super::document::Hashes;
use super::engine_document::Converter;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::limits::SUMMARY_ATTEMPTS;
use crate::pushed::PushFile;

/// Where a run writes.
pub(crate) trait Target {
    /// The content hash of the item with this key, if it is there.
    fn hash_of(&mut self, key: u64) -> Result<Option<u64>>;

    /// Puts an item in the place of the one with its key.
    fn put(&mut self, id: &str, hashes: &Hashes, document: TantivyDocument, is_known: bool) -> Result<()>;

    /// Removes an item that is there.
    fn remove(&mut self, key: u64) -> Result<()>;

    /// The keys of those items that were there before the run and are gone now, told by the key of each and the hash of
    /// the file that it came from.
    fn gone(&self, is_gone: &dyn Fn(u64, u64) -> bool) -> Vec<u64>;

    /// Lets everything be found that was written. The summary was `before` when the run began.
    fn commit(&mut self, before: &Summary, summary: Summary) -> Result<()>;

    /// Items at most.
    fn items_max(&self) -> usize;
}

/// The index here.
pub(crate) struct IndexTarget<'a> {
    pub(crate) writer: IndexWriter,
    pub(crate) before: &'a Snapshot,
}

impl Target for IndexTarget<'_> {
    fn hash_of(&mut self, key: u64) -> Result<Option<u64>> {
        self.before.hash_of(key)
    }

    fn put(&mut self, _id: &str, hashes: &Hashes, document: TantivyDocument, is_known: bool) -> Result<()> {
        if is_known {
            self.remove(hashes.key)?;
        }
        self.writer.add_document(document)?;
        Ok(())
    }

    fn remove(&mut self, key: u64) -> Result<()> {
        self.writer.delete_term(Term::from_field_u64(self.before.fields.key, key));
        Ok(())
    }

    fn gone(&self, is_gone: &dyn Fn(u64, u64) -> bool) -> Vec<u64> {
        let segments = self.before.searcher.segment_readers().iter().zip(&self.before.columns);
        let entries = segments.flat_map(|(segment, columns)| {
            segment.doc_ids_alive().map(|doc| (columns.key.get_val(doc), columns.origin.get_val(doc)))
        });
        entries.filter(|(key, origin)| is_gone(*key, *origin)).map(|(key, _)| key).collect()
    }

    fn commit(&mut self, _before: &Summary, mut summary: Summary) -> Result<()> {
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&summary.payload());
        commit.commit()?;
        Ok(())
    }

    fn items_max(&self) -> usize {
        ITEMS_MAX
    }
}

/// An engine outside. What is written goes there in bulk while the run goes on.
pub(crate) struct EngineTarget<'a> {
    retriever: &'a dyn Retriever,
    converter: Converter,
    /// What the engine has, by its key: all of it in a run that looks at everything, else what was asked for.
    known: HashMap<u64, StoredEntry, HashedKeys>,
    is_whole: bool,
    /// What a run over everything has found, or what changes of what was there: terms of texts and pairs of names.
    words: i64,
    pairs: i64,
    waiting: Vec<Change>,
    bytes: usize,
    has_written: bool,
    /// Where it is noted up to which change of this node the engine at a place has what was pushed.
    pushed: &'a PushFile,
    place: &'a str,
}

impl<'a> EngineTarget<'a> {
    /// Writes to the engine at a place. `is_whole` says that a run looks at everything, and asks what is there once and for
    /// all.
    pub(crate) fn new(
        retriever: &'a dyn Retriever,
        place: &'a str,
        pushed: &'a PushFile,
        is_whole: bool,
    ) -> Result<Self> {
        retriever.prepare()?;
        let known = if is_whole { all_entries(retriever)? } else { HashMap::default() };
        let (words, pairs) =
            known.values().map(lengths).fold((0, 0), |(words, pairs), of| (words + of.0, pairs + of.1));
        let (converter, waiting) = (Converter::new(), Vec::new());
        let (bytes, has_written) = (0, false);
        Ok(Self { retriever, converter, known, is_whole, words, pairs, waiting, bytes, has_written, pushed, place })
    }

    /// Notes that a document is another one, or gone.
    fn replace(&mut self, key: u64, entry: Option<StoredEntry>) {
        let before = match entry {
            Some(entry) => self.known.insert(key, entry),
            None => self.known.remove(&key),
        };
        let ((words, pairs), (old_words, old_pairs)) =
            (entry.as_ref().map_or((0, 0), lengths), before.as_ref().map_or((0, 0), lengths));
        self.words += words - old_words;
        self.pairs += pairs - old_pairs;
    }

    fn change(&mut self, change: Change, bytes: usize) -> Result<()> {
        if self.waiting.len() >= BULK_ITEMS_MAX || self.bytes + bytes > BULK_BYTES_MAX {
            self.flush()?;
        }
        self.waiting.push(change);
        self.bytes += bytes;
        Ok(())
    }

    /// Keeps what the run has changed of the summary, whatever other nodes have changed of it meanwhile.
    fn keep(&self, before: &Summary, own: &Summary) -> Result<()> {
        for _ in 0..SUMMARY_ATTEMPTS {
            let text = self.retriever.summary()?;
            let mut merged = Summary::merged(Summary::read(text.as_deref()), before, own.clone());
            let payload = merged.payload();
            // Items that another node wrote already leave nothing to be said.
            let is_kept = text.as_deref() == Some(&*payload) && !self.has_written;
            if is_kept || self.retriever.commit(text.as_deref(), &payload)? {
                return Ok(());
            }
        }
        let why = format!("other nodes changed what it keeps of all items {SUMMARY_ATTEMPTS} times meanwhile");
        Err(RetrievalError::Unavailable(why).into())
    }

    fn flush(&mut self) -> Result<()> {
        if !self.waiting.is_empty() {
            self.has_written = true;
            self.retriever.write(&self.waiting)?;
        }
        self.waiting.clear();
        self.bytes = 0;
        Ok(())
    }
}

fn lengths(entry: &StoredEntry) -> (i64, i64) {
    (i64::from(entry.words), i64::from(entry.pairs))
}

fn all_entries(retriever: &dyn Retriever) -> Result<HashMap<u64, StoredEntry, HashedKeys>> {
    let mut known = HashMap::default();
    let mut after = None;
    loop {
        let entries = retriever.entries(after)?;
        let Some(last) = entries.last() else { return Ok(known) };
        after = Some(last.key);
        known.extend(entries.into_iter().map(|entry| (entry.key, entry)));
    }
}

impl Target for EngineTarget<'_> {
    fn hash_of(&mut self, key: u64) -> Result<Option<u64>> {
        if !self.is_whole && !self.known.contains_key(&key) {
            let found = self.retriever.by_key(&[key])?;
            self.known.extend(found.first().map(|found| (key, found.entry)));
        }
        Ok(self.known.get(&key).map(|entry| entry.hash))
    }

    fn put(&mut self, id: &str, hashes: &Hashes, document: TantivyDocument, _is_known: bool) -> Result<()> {
        let document = self.converter.convert(id, hashes, &document);
        let bytes = document.bytes();
        self.replace(hashes.key, Some(document.entry()));
        self.change(Change::Put(Box::new(document)), bytes)
    }

    fn remove(&mut self, key: u64) -> Result<()> {
        self.replace(key, None);
        self.change(Change::Remove(key), size_of::<u64>())
    }

    fn gone(&self, is_gone: &dyn Fn(u64, u64) -> bool) -> Vec<u64> {
        let known = self.known.iter();
        known.filter(|(key, entry)| is_gone(**key, entry.origin)).map(|(key, _)| *key).collect()
    }

    fn commit(&mut self, before: &Summary, mut summary: Summary) -> Result<()> {
        self.flush()?;
        let sum = |before: u64, found: i64| {
            if self.is_whole { found.max(0).unsigned_abs() } else { before.saturating_add_signed(found) }
        };
        summary.words = sum(summary.words, self.words);
        summary.pairs = sum(summary.pairs, self.pairs);
        self.keep(before, &summary)?;
        // Last: what was not kept by then is done again.
        self.pushed.note_taken_in(self.place, summary.pushed)
    }

    fn items_max(&self) -> usize {
        ENGINE_ITEMS_MAX
    }
}
