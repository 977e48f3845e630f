//! What a query found, in its order, and read as far as somebody looks.

use std::ops::Range;
use std::sync::Arc;

use super::query::Query;
use super::{FoundPage, RankBy, found, hit};
use crate::Hit;
use crate::analysis::LanguageAnalyzer;
use crate::dense::Model;
use crate::error::Result;
use crate::index::Snapshot;

/// The page of hits that a query asks for, ranked and not read yet: to read an item costs more than to rank ten.
pub struct RankedHits {
    snapshot: Arc<Snapshot>,
    query: Query,
    page: Option<FoundPage>,
}

impl RankedHits {
    pub(crate) fn of(
        snapshot: Arc<Snapshot>,
        model: Option<&Model>,
        query: Query,
        by: RankBy,
        default: LanguageAnalyzer,
    ) -> Result<Self> {
        let page = found(&snapshot, model, &query, by, default)?;
        Ok(Self { snapshot, query, page })
    }

    /// Reads the hits at these places, counted from 0, as far as there are any: neither what their texts say about the
    /// query nor how they satisfy it. Fails when the index can't be read.
    pub fn read(&self, places: Range<usize>) -> Result<Vec<Hit>> {
        let Some(page) = &self.page else { return Ok(Vec::new()) };
        let places = places.start.min(page.documents.len())..places.end.min(page.documents.len());
        let hit = |at: usize| {
            let hit = hit::read(&self.snapshot, &page.documents[at], &page.plan)?;
            Ok(Hit { is_pinned: at < page.pinned, ..hit })
        };
        places.map(hit).collect()
    }

    /// The score of the hit at a place. `None`: there are fewer.
    pub fn score(&self, place: usize) -> Option<f32> {
        Some(self.page.as_ref()?.documents.get(place)?.score)
    }

    /// How many of them a rule of the operator pinned, from the first on.
    pub fn pinned(&self) -> usize {
        self.page.as_ref().map_or(0, |page| page.pinned)
    }

    /// Adds what the texts of a hit say about the query and how it satisfies that, unless items alone are wanted.
    pub fn tell(&self, hit: &mut Hit) {
        if let Some(page) = self.page.as_ref().filter(|_| !self.query.items_only) {
            hit::tell(hit, &self.query, &page.plan);
        }
    }

    /// All of them, with all that is said of each.
    pub(crate) fn whole(self) -> Result<Vec<Hit>> {
        let mut hits = self.read(0..usize::MAX)?;
        hits.iter_mut().for_each(|hit| self.tell(hit));
        Ok(hits)
    }
}
