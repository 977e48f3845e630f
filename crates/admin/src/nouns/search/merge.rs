//! Several sources as one list, the last one first.

use std::collections::VecDeque;

use forecourt_core::Timestamp;

use super::cursor::{self, Places};
use super::filter::SearchFilter;
use super::sources::{Place, SOURCES, Source};
use super::{SearchHit, SearchResults};
use crate::api_error::ApiError;
use crate::desk::Ask;

/// A source that is read as far as somebody wants.
struct SourceReader {
    source: Source,
    /// Behind what was given out of it; none at its end.
    given: Option<Place>,
    /// Behind what was read.
    read: Option<Place>,
    found: VecDeque<(Place, SearchHit)>,
    looked_at: usize,
    /// The earliest moment that was looked at.
    back_to: Timestamp,
}

impl SourceReader {
    fn begin(source: Source, at: Option<Place>) -> Self {
        Self { source, given: at, read: at, found: VecDeque::new(), looked_at: 0, back_to: Timestamp::MAX }
    }

    /// Looks until something is found, all was seen, or as much as one page looks at.
    async fn look(&mut self, ask: &Ask, wanted: &SearchFilter) -> Result<(), ApiError> {
        while let (true, Some(from)) =
            (self.found.is_empty() && self.looked_at < self.source.looked_at_max(), self.read)
        {
            let batch = self.source.read(ask, wanted, from).await?;
            self.looked_at += batch.looked_at.max(1);
            self.back_to = batch.back_to.unwrap_or(self.back_to);
            self.read = batch.next;
            self.found.extend(batch.found);
        }
        if self.found.is_empty() {
            self.given = self.read;
        }
        Ok(())
    }

    /// Whether there may be something in it that was not looked at yet.
    fn is_unfinished(&self) -> bool {
        self.found.is_empty() && self.read.is_some()
    }

    fn take(&mut self) -> Option<SearchHit> {
        let (place, hit) = self.found.pop_front()?;
        self.given = if self.found.is_empty() { self.read } else { Some(place) };
        Some(hit)
    }
}

/// A page from `places` on, or from the beginning.
pub(super) async fn page(
    ask: &Ask,
    wanted: &SearchFilter,
    places: Option<Places>,
    limit: usize,
) -> Result<SearchResults, ApiError> {
    let mut lanes = Vec::with_capacity(SOURCES.len());
    for (at, source) in SOURCES.into_iter().enumerate() {
        let begins = match places {
            Some(places) => places[at],
            None => source.start(ask, wanted).await?,
        };
        lanes.push(SourceReader::begin(source, begins.filter(|_| source.is_wanted(wanted))));
    }
    let mut hits = Vec::new();
    let mut looked_back_to = None;
    while hits.len() < limit {
        for lane in &mut lanes {
            lane.look(ask, wanted).await?;
        }
        // What a source has that was not looked at may come before what another one has found.
        let horizon = lanes.iter().filter(|lane| lane.is_unfinished()).map(|lane| lane.back_to).max();
        let newest = lanes.iter_mut().filter(|lane| !lane.found.is_empty()).max_by_key(|lane| lane.found[0].1.at);
        match newest {
            Some(lane) if horizon.is_none_or(|horizon| lane.found[0].1.at >= horizon) => hits.extend(lane.take()),
            _ => {
                looked_back_to = horizon;
                break;
            }
        }
    }
    let mut given = Places::default();
    for (place, lane) in given.iter_mut().zip(&lanes) {
        *place = lane.given;
    }
    let next = given.iter().any(Option::is_some).then(|| cursor::write(&given));
    Ok(SearchResults { hits, next, looked_back_to })
}
