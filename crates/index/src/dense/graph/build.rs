//! Joining rows, one after another, each to what is near among those before it.

use super::{Close, LINKS, Walk};
use crate::dense::file::Rows;
use crate::dense::links::Links;
use crate::dense::quantized::{QuantizedVector, Row};

/// Rows that a new row is joined to at most.
const JOINED: usize = 16;
/// Rows that a row may be joined to while the graph grows. The best [`LINKS`] of them are chosen when there
/// are as many: choosing costs much, so it is done for several at once.
const LINKS_GROWING: usize = 48;
/// How much is looked at to find what is near a new row.
const EFFORT: usize = 64;

/// A graph that grows. It takes 200 bytes of memory a row.
pub(in crate::dense) struct GraphBuilder<'r> {
    rows: &'r Rows,
    /// [`LINKS_GROWING`] for each row, of which the first `counts` are links.
    links: Vec<u32>,
    counts: Vec<u8>,
    walk: Walk,
}

/// The links of a graph that grows.
struct Growing<'g> {
    links: &'g [u32],
    counts: &'g [u8],
}

impl Growing<'_> {
    fn slice(&self, row: u32) -> &[u32] {
        let start = row as usize * LINKS_GROWING;
        &self.links[start..start + usize::from(self.counts[row as usize])]
    }
}

impl Links for Growing<'_> {
    fn of(&self, row: u32) -> impl Iterator<Item = u32> {
        self.slice(row).iter().copied()
    }
}

impl<'r> GraphBuilder<'r> {
    /// The graph of all rows. Those of `grown`, whose rows are the first of them, are joined already.
    pub(in crate::dense) fn of(rows: &'r Rows, grown: Option<&Rows>) -> Self {
        let count = rows.len();
        let mut graph =
            Self { rows, links: vec![0; count * LINKS_GROWING], counts: vec![0; count], walk: Walk::through(count) };
        let joined = grown.filter(|grown| grown.has_graph()).map_or(0, |grown| graph.take(grown));
        (joined..count).for_each(|row| graph.add(row as u32));
        graph
    }

    /// Takes over the links of a file that was written before. Gives how many rows these are of.
    fn take(&mut self, grown: &Rows) -> usize {
        let joined = grown.len().min(self.rows.len());
        for row in 0..joined as u32 {
            let links: Vec<u32> = grown.of(row).filter(|to| (*to as usize) < joined).collect();
            self.set(row, &links);
        }
        joined
    }

    /// Joins a row to those before it.
    fn add(&mut self, row: u32) {
        let Self { rows, links, counts, walk } = self;
        let vector: QuantizedVector = rows.row(row as usize).into();
        let near = walk.closest((rows, row as usize), &Growing { links, counts }, &vector, EFFORT, |_| true);
        let chosen = self.choose(&near, JOINED);
        chosen.iter().for_each(|near| self.join(*near, row));
        self.set(row, &chosen);
    }

    /// Adds a link; when there is no room for it, the best ones stay.
    fn join(&mut self, from: u32, to: u32) {
        let count = usize::from(self.counts[from as usize]);
        if count < LINKS_GROWING {
            self.links[from as usize * LINKS_GROWING + count] = to;
            self.counts[from as usize] += 1;
            return;
        }
        let chosen = self.best_of(from, Some(to));
        self.set(from, &chosen);
    }

    /// The best [`LINKS`] of what a row is joined to, and of one more.
    fn best_of(&self, from: u32, more: Option<u32>) -> Vec<u32> {
        let vector = self.rows.row(from as usize);
        let close = |row: u32| Close { cosine: vector.dot(self.rows.row(row as usize)), row };
        let mut near: Vec<Close> = self.growing().of(from).chain(more).map(close).collect();
        near.sort_by(|a, b| b.cmp(a));
        self.choose(&near, LINKS)
    }

    /// Which of the rows that are near are joined to, the closest first: not what is closer to one of those
    /// than to the row itself, since it is reached through that. With less than half of `wanted`, the closest
    /// of the others as well.
    fn choose(&self, near: &[Close], wanted: usize) -> Vec<u32> {
        let (mut chosen, mut others): (Vec<u32>, Vec<u32>) = (Vec::with_capacity(wanted), Vec::new());
        let mut vectors: Vec<Row<'_>> = Vec::with_capacity(wanted);
        for one in near {
            if chosen.len() == wanted {
                break;
            }
            let row = self.rows.row(one.row as usize);
            match vectors.iter().all(|vector| vector.dot(row) <= one.cosine) {
                true => {
                    chosen.push(one.row);
                    vectors.push(row);
                }
                false => others.push(one.row),
            }
        }
        let missing = (wanted / 2).saturating_sub(chosen.len());
        chosen.extend(others.into_iter().take(missing));
        chosen
    }

    fn set(&mut self, row: u32, links: &[u32]) {
        let start = row as usize * LINKS_GROWING;
        self.links[start..start + links.len()].copy_from_slice(links);
        self.counts[row as usize] = links.len() as u8;
    }

    fn growing(&self) -> Growing<'_> {
        Growing { links: &self.links, counts: &self.counts }
    }

    /// The links of every row, at most [`LINKS`] of each.
    pub(in crate::dense) fn finish(mut self) -> impl Iterator<Item = Vec<u32>> {
        (0..self.rows.len() as u32).map(move |row| {
            if usize::from(self.counts[row as usize]) > LINKS {
                let chosen = self.best_of(row, None);
                self.set(row, &chosen);
            }
            self.growing().slice(row).to_vec()
        })
    }
}
