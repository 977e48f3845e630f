//! What a question that is being typed may become. It is asked with every letter, so an engine is asked for little: once,
//! for a few names that have what was typed.

use std::collections::BTreeSet;
use std::sync::Arc;

use forecourt_retrieval::{CandidateQuery, Predicate, TermField};

use super::Library;
use super::remote::{Remote, asked_by, statistics};
use crate::analysis::{SPELLED_CHARS_MIN, Words, fold_text};
use crate::error::Result;
use crate::index::Snapshot;
use crate::limits::{COMPLETED_BYTES_MAX, COMPLETED_NAMES_READ};
use crate::search::{Completion, complete, tongues};

impl Library {
    /// What a question that is being typed may become, at most `wanted` of it: kinds of items and names of them. Nothing
    /// for more than [`COMPLETED_BYTES_MAX`] bytes.
    pub fn complete(&self, typed: &str, wanted: usize) -> Result<Vec<Completion>> {
        let items = match &self.remote {
            Some(remote) => remote.completions(typed)?,
            None => self.snapshot.load_full(),
        };
        complete(&items, typed, wanted, self.tongue)
    }
}

impl Remote {
    /// Items that have all words of what was typed but the last, and one that begins with that. For fewer than
    /// [`SPELLED_CHARS_MIN`] letters of it, the sample: shorter words are not kept as they are written, and very many items
    /// have one that begins so.
    fn completions(&self, typed: &str) -> Result<Arc<Snapshot>> {
        let profile = self.profile()?;
        let begun = fold_text(typed.trim());
        let (before, last) = begun.rsplit_once(' ').unwrap_or(("", &begun));
        if typed.len() > COMPLETED_BYTES_MAX || last.chars().count() < SPELLED_CHARS_MIN {
            return Ok(profile.snapshot.clone());
        }
        let tongues = tongues(&profile.summary, self.tongue);
        let words: Vec<Words> = tongues.iter().map(|tongue| Words::of(before, *tongue)).collect();
        let one = |at: usize| {
            let stems: BTreeSet<&str> = words.iter().filter_map(|words| words.get(at)).collect();
            Predicate::Any(stems.into_iter().map(|stem| Predicate::Term(TermField::Words, stem.to_owned())).collect())
        };
        let limits = Predicate::All((0..before.split_whitespace().count()).map(one).collect());
        let almost = vec![last.to_owned()];
        let asked = CandidateQuery { almost, most: COMPLETED_NAMES_READ, ..asked_by(Vec::new(), limits) };
        let found = self.retriever().find(&asked)?.found;
        Ok(Arc::new(self.snapshot(&profile, found, statistics(&profile, &[], &[]))?))
    }
}
