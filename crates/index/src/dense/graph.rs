//! Rows joined to those that are near, so that a search goes from row to row towards what it looks for and
//! compares few of them: a navigable small world (Malkov, Yashunin 2016) of one layer. Where a search begins
//! is found by comparing a few rows of all places in the file, which stands in for the upper layers.
//!
//! Nothing here is drawn by lot: the same rows in the same order always give the same graph.

mod build;
mod effort;

pub(super) use build::GraphBuilder;
pub(super) use effort::{TRIALS, effort, spread};

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::file::Rows;
use super::links::Links;
use super::quantized::QuantizedVector;
use crate::best::Best;

/// Rows that a row is joined to at most, in a file.
pub(super) const LINKS: usize = 32;
/// Rows, of those that are compared first, from which a search goes on.
const STARTS: usize = 8;

/// A row and how close it is to what is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Close {
    pub(super) cosine: f32,
    pub(super) row: u32,
}

impl Eq for Close {}

impl Ord for Close {
    /// Closer is greater; then the earlier row.
    fn cmp(&self, other: &Self) -> Ordering {
        self.cosine.total_cmp(&other.cosine).then(other.row.cmp(&self.row))
    }
}

impl PartialOrd for Close {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Goes through a graph. Kept between searches for its memory.
pub(super) struct Walk {
    /// A bit for each row that was compared.
    seen: Vec<u64>,
    /// The words of `seen` that are not zero.
    touched: Vec<u32>,
    next: BinaryHeap<Close>,
    /// Rows that were compared since this was made.
    pub(super) compared: u64,
}

impl Walk {
    /// Through graphs of `rows` at most.
    pub(super) fn through(rows: usize) -> Self {
        Self { seen: vec![0; rows.div_ceil(64)], touched: Vec::new(), next: BinaryHeap::new(), compared: 0 }
    }

    /// The `effort` closest of the first `count` rows among those that are `wanted`, as far as they are found,
    /// the closest first. The higher the effort, the more of what is closest is found.
    pub(super) fn closest(
        &mut self,
        (rows, count): (&Rows, usize),
        links: &impl Links,
        vector: &QuantizedVector,
        effort: usize,
        wanted: impl Fn(u32) -> bool,
    ) -> Vec<Close> {
        // `seen` is as long as the graph and a search is short: only what the last one touched is cleared.
        self.touched.drain(..).for_each(|word| self.seen[word as usize] = 0);
        self.next.clear();
        let mut best = Best::of(effort);
        let close = |row: u32| Close { cosine: vector.dot(rows.row(row as usize)), row };
        for start in self.starts(count, close) {
            self.see(start.row);
            self.next.push(start);
            if wanted(start.row) {
                best.offer(start);
            }
        }
        while let Some(from) = self.next.pop() {
            if best.last().is_some_and(|last| from < *last) {
                break;
            }
            for row in links.of(from.row).filter(|row| (*row as usize) < count) {
                if !self.see(row) {
                    continue;
                }
                self.compared += 1;
                let one = close(row);
                // The way goes on over rows that a filter keeps out: a wanted row may be reached through them alone.
                if best.last().is_none_or(|last| one > *last) {
                    self.next.push(one);
                    if wanted(row) {
                        best.offer(one);
                    }
                }
            }
        }
        best.into_sorted()
    }

    /// The closest of a few rows of all places: those whose numbers are squares.
    fn starts(&mut self, count: usize, close: impl Fn(u32) -> Close) -> Vec<Close> {
        let mut best = Best::of(STARTS);
        // As many as the root of all: a thousand comparisons in a graph of a million rows.
        for row in (0_u32..).map(|root| root * root).take_while(|row| (*row as usize) < count) {
            best.offer(close(row));
            self.compared += 1;
        }
        best.into_sorted()
    }

    /// Whether a row is seen for the first time.
    fn see(&mut self, row: u32) -> bool {
        let (word, bit) = (row / 64, 1 << (row % 64));
        let bits = &mut self.seen[word as usize];
        if *bits == 0 {
            self.touched.push(word);
        }
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new
    }
}
