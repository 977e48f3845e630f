//! Which country a network address is in, by a table that the operator supplies.
//!
//! The networks of the table are laid out as ranges that do not overlap, the longest prefix on top, so that looking
//! one up is one binary search, whatever the table holds.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::limits::COUNTRY_LINES_MAX;

/// An ISO 3166-1 code of two letters, in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Country([u8; 2]);

impl Country {
    /// Reads a code; `None` when it is not two letters.
    pub fn parse(code: &str) -> Option<Self> {
        match code.as_bytes() {
            [a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
                Some(Self([a.to_ascii_uppercase(), b.to_ascii_uppercase()]))
            }
            _ => None,
        }
    }
}

/// Countries by network address; at most [`COUNTRY_LINES_MAX`] networks.
#[derive(Debug, Default)]
pub struct CountryTable {
    v4: Ranges<u32>,
    v6: Ranges<u128>,
}

/// What is wrong in a line of a table of countries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CountryTableError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl CountryTable {
    /// Reads lines of `network,country`, such as `203.0.113.0/24,DE`; what follows a second comma is passed over, as
    /// are empty lines, those that begin with `#`, and a heading. Of networks within one another, the longest prefix
    /// counts. Fails with the first line that is wrong, and when there are more than [`COUNTRY_LINES_MAX`].
    pub fn parse(text: &str) -> Result<Self, CountryTableError> {
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for (index, line) in text.lines().enumerate() {
            // A byte order mark at the beginning of the file is no part of the first network.
            let line = line.trim_start_matches('\u{feff}').trim();
            if line.is_empty() || line.starts_with('#') || (index == 0 && is_heading(line)) {
                continue;
            }
            let wrong = |message: String| CountryTableError { line: index + 1, message };
            if v4.len() + v6.len() == COUNTRY_LINES_MAX {
                return Err(wrong(format!("a table has {COUNTRY_LINES_MAX} networks at most")));
            }
            match read_line(line).map_err(wrong)? {
                (IpNet::V4(net), country) => {
                    v4.push(Span { first: net.network().to_bits(), last: net.broadcast().to_bits(), country })
                }
                (IpNet::V6(net), country) => {
                    v6.push(Span { first: net.network().to_bits(), last: net.broadcast().to_bits(), country })
                }
            }
        }
        Ok(Self { v4: Ranges::of(v4), v6: Ranges::of(v6) })
    }

    /// The country of an address. `None` when the table does not say.
    pub fn country(&self, address: IpAddr) -> Option<Country> {
        match address.to_canonical() {
            IpAddr::V4(address) => self.v4.find(address.to_bits()),
            IpAddr::V6(address) => self.v6.find(address.to_bits()),
        }
    }

    /// Bytes that it takes in memory.
    pub fn bytes(&self) -> usize {
        self.v4.bytes() + self.v6.bytes()
    }
}

/// Whether a first line names columns: then it holds no network.
fn is_heading(line: &str) -> bool {
    line.split(',').next().is_some_and(|first| unquoted(first).parse::<IpNet>().is_err() && !first.contains(['.', ':']))
}

fn read_line(line: &str) -> Result<(IpNet, Country), String> {
    let mut fields = line.split(',').map(unquoted);
    let (network, code) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    let net: IpNet =
        network.parse().map_err(|_| format!("`{}` is not a network such as 203.0.113.0/24", shown(network)))?;
    let country =
        Country::parse(code).ok_or_else(|| format!("`{}` is not a country code of two letters", shown(code)))?;
    Ok((net.trunc(), country))
}

fn unquoted(field: &str) -> &str {
    field.trim().trim_matches('"')
}

/// As much of a field as a message can hold.
fn shown(field: &str) -> String {
    field.chars().take(64).collect()
}

/// A network, from its first address to its last.
#[derive(Clone, Copy)]
struct Span<T> {
    first: T,
    last: T,
    country: Country,
}

/// Ranges in order, each from its start to the next one's, without overlap.
#[derive(Debug)]
struct Ranges<T> {
    starts: Vec<T>,
    countries: Vec<Option<Country>>,
}

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Self { starts: Vec::new(), countries: Vec::new() }
    }
}

impl<T: Ord + Copy + Successor> Ranges<T> {
    /// Lays networks over one another: since each is within another or apart from it, a stack of those that are
    /// open says what holds at each border.
    fn of(mut spans: Vec<Span<T>>) -> Self {
        // The wider one of two that begin together comes first; of two that are the same, the later line last.
        spans.sort_by(|a, b| a.first.cmp(&b.first).then(b.last.cmp(&a.last)));
        let mut ranges = Self::default();
        let mut open: Vec<Span<T>> = Vec::new();
        for span in spans {
            ranges.close(&mut open, |last| last < span.first);
            ranges.push(span.first, Some(span.country));
            open.push(span);
        }
        ranges.close(&mut open, |_| true);
        ranges.starts.shrink_to_fit();
        ranges.countries.shrink_to_fit();
        ranges
    }

    /// Ends the open networks that are over; what lies under each goes on behind it.
    fn close(&mut self, open: &mut Vec<Span<T>>, is_over: impl Fn(T) -> bool) {
        while let Some(top) = open.pop_if(|top| is_over(top.last)) {
            // One that ends together with what is over it was covered to its end.
            let under = open.iter().rev().find(|under| under.last > top.last);
            if let Some(next) = top.last.successor() {
                self.push(next, under.map(|under| under.country));
            }
        }
    }

    fn push(&mut self, start: T, country: Option<Country>) {
        // Of two borders at one address the later one lies on top.
        if self.starts.last() == Some(&start) {
            self.starts.pop();
            self.countries.pop();
        }
        // Neighbours of one country are one range, which keeps tables of a million lines small.
        if self.countries.last().copied().flatten() == country && !self.countries.is_empty() {
            return;
        }
        self.starts.push(start);
        self.countries.push(country);
    }

    fn find(&self, address: T) -> Option<Country> {
        let index = self.starts.partition_point(|start| *start <= address).checked_sub(1)?;
        self.countries[index]
    }

    fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<T>() + self.countries.capacity() * size_of::<Option<Country>>()
    }
}

/// The address behind another one; `None` behind the last.
trait Successor: Sized {
    fn successor(self) -> Option<Self>;
}

impl Successor for u32 {
    fn successor(self) -> Option<Self> {
        self.checked_add(1)
    }
}

impl Successor for u128 {
    fn successor(self) -> Option<Self> {
        self.checked_add(1)
    }
}

#[cfg(test)]
mod tests;
