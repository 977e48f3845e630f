//! Which crawlers came, and what they took: counted in memory, and added to the store every minute, for every node.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Bot, Error, Timestamp, clock};
use forecourt_host::Ledger;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::limits::{CRAWLER_TRIES_MAX, CRAWLERS_FLUSHED_EVERY, CRAWLERS_KEPT, CRAWLERS_MAX};

/// Whose streams these are.
pub const LEDGER: &str = "crawlers-seen";
/// The stream with everybody's names.
const NAMES: &str = "names";
/// Who is counted together where there are too many.
const OTHERS: &str = "(others)";
/// Who came with a signature that did not hold.
const UNPROVEN: &str = "(signature did not hold)";

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrawlOutcome {
    /// It was answered.
    Taken {
        /// What is owed for it, in millionths of a dollar.
        owed: u64,
        /// Whether it was paid.
        is_paid: bool,
    },
    /// It was told what it costs.
    PriceTold,
    /// It was refused.
    Refused,
    /// It failed, or there was nothing.
    Other,
}

/// What a crawler did so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrawlerSeen {
    /// The host of its signature agent where it is verified, else what it calls itself.
    pub name: String,
    /// Whether it proved who it is.
    pub is_verified: bool,
    /// What it reads for, as far as that is known.
    pub purpose: Option<String>,
    /// Requests.
    pub requests: u64,
    /// Requests that were answered with a page or an answer.
    pub taken: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Requests that were told a price.
    pub prices_told: u64,
    /// Pages and answers that were paid for.
    pub paid: u64,
    /// What all of its pages and answers together were charged to its account, in millionths of a dollar.
    pub charged: u64,
    /// When it came first.
    #[schemars(with = "String")]
    pub first_at: Timestamp,
    /// When it came last.
    #[schemars(with = "String")]
    pub last_at: Timestamp,
    /// When its name was written into the list.
    #[schemars(with = "String")]
    listed_at: Timestamp,
}

/// Who came, on its way to the store.
#[derive(Debug, Default)]
pub struct CrawlerLog {
    /// What is not in the store yet, by name and whether that is proven.
    fresh: Mutex<HashMap<(String, bool), CrawlerSeen>>,
}

impl CrawlerLog {
    /// Counts a request of a crawler.
    pub fn count(&self, bot: &Bot, outcome: CrawlOutcome, now: Timestamp) {
        let purpose = bot.purpose.map(|purpose| purpose.name().to_owned());
        self.add(&bot.name, bot.is_verified, purpose, outcome, now);
    }

    /// Counts a request whose signature as a crawler did not hold.
    pub fn count_unproven(&self, outcome: CrawlOutcome, now: Timestamp) {
        self.add(UNPROVEN, false, None, outcome, now);
    }

    fn add(&self, name: &str, is_verified: bool, purpose: Option<String>, outcome: CrawlOutcome, now: Timestamp) {
        let mut fresh = self.fresh.lock();
        let key = (name.to_owned(), is_verified);
        let (key, purpose) = match fresh.len() < CRAWLERS_MAX || fresh.contains_key(&key) {
            true => (key, purpose),
            false => ((OTHERS.to_owned(), false), None),
        };
        let seen = fresh.entry(key).or_insert_with_key(|(name, _)| CrawlerSeen::new(name, is_verified, purpose, now));
        seen.note(outcome, now);
    }

    /// Adds to the store what was counted since. What can't be written stays for the next time.
    pub fn flush<'a>(&'a self, ledger: &'a Ledger) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let fresh: Vec<_> = self.fresh.lock().drain().collect();
            let (mut listed, mut failed) = (ListedNames::default(), None);
            let mut others: Option<CrawlerSeen> = None;
            for (key, seen) in fresh {
                match keep(ledger, &mut listed, &seen).await {
                    Ok(true) => {}
                    Ok(false) => {
                        let seen = CrawlerSeen { purpose: None, ..seen };
                        let at = seen.first_at;
                        others.get_or_insert_with(|| CrawlerSeen::new(OTHERS, false, None, at)).merge(&seen);
                    }
                    Err(error) => {
                        self.put_back(key, seen);
                        failed = Some(error);
                    }
                }
            }
            if let Some(others) = others {
                tracing::warn!("more than {CRAWLERS_MAX} crawlers came: the rest is counted together");
                if let Err(error) = keep(ledger, &mut listed, &others).await {
                    self.put_back((OTHERS.to_owned(), false), others);
                    failed = Some(error);
                }
            }
            failed.map_or(Ok(()), Err)
        })
    }

    /// Adds to the store what was counted, every [`CRAWLERS_FLUSHED_EVERY`] and at the end.
    pub fn keep(self: Arc<Self>, ledger: Ledger, ended: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.flush_until(&ledger, &ended).await })
    }

    async fn flush_until(&self, ledger: &Ledger, ended: &CancellationToken) {
        let mut ticks = tokio::time::interval(CRAWLERS_FLUSHED_EVERY);
        loop {
            let is_over = tokio::select! {
                () = ended.cancelled() => true,
                _ = ticks.tick() => false,
            };
            if let Err(error) = self.flush(ledger).await {
                tracing::warn!(%error, "what crawlers did is not in the store yet");
            }
            if is_over {
                return;
            }
        }
    }

    fn put_back(&self, key: (String, bool), seen: CrawlerSeen) {
        let mut fresh = self.fresh.lock();
        match fresh.get_mut(&key) {
            Some(newer) => newer.merge(&seen),
            None => {
                fresh.insert(key, seen);
            }
        }
    }

    /// Everybody who came within [`CRAWLERS_KEPT`], who came last first: at most [`CRAWLERS_MAX`], and those beyond as
    /// one.
    pub fn all<'a>(&'a self, ledger: &'a Ledger) -> BoxFuture<'a, Result<Vec<CrawlerSeen>, Error>> {
        Box::pin(async move {
            self.flush(ledger).await?;
            let mut all: Vec<CrawlerSeen> = Vec::new();
            for stream in names(ledger).await? {
                all.extend(last_of(ledger, &stream).await?.map(|(_, seen)| seen));
            }
            all.sort_by_cached_key(|seen| (std::cmp::Reverse(seen.last_at), seen.stream()));
            Ok(all)
        })
    }
}

/// The names in the list, read once somebody is to be added.
#[derive(Default)]
struct ListedNames(Option<HashSet<String>>);

impl ListedNames {
    /// Lists a stream; `false` where there are too many. By names: each has several entries while it comes, so that who
    /// is in the list always stays.
    async fn add(&mut self, ledger: &Ledger, seen: &CrawlerSeen, now: Timestamp) -> Result<bool, Error> {
        let listed = match &mut self.0 {
            Some(listed) => listed,
            none => none.insert(names(ledger).await?),
        };
        let stream = seen.stream();
        if listed.len() >= CRAWLERS_MAX && !listed.contains(&stream) && seen.name != OTHERS {
            return Ok(false);
        }
        let until = clock::after(now, CRAWLERS_KEPT * 2);
        let is_written = ledger.append(NAMES, stream.as_str().into(), Some(until), None).await?.is_some();
        listed.insert(stream);
        Ok(is_written)
    }
}

/// The streams in the list, each once.
async fn names(ledger: &Ledger) -> Result<HashSet<String>, Error> {
    let (mut names, mut after) = (HashSet::new(), 0);
    loop {
        let entries = ledger.entries(NAMES, Span::After(after), CRAWLERS_MAX).await?;
        let Some((last, _)) = entries.last() else { return Ok(names) };
        after = *last;
        names.extend(entries.iter().filter_map(|(_, entry)| entry.body.as_str().map(str::to_owned)));
    }
}

/// Adds what was counted to what a crawler did before; `false` where it is not listed, and can't be.
async fn keep(ledger: &Ledger, listed: &mut ListedNames, seen: &CrawlerSeen) -> Result<bool, Error> {
    let stream = seen.stream();
    let until = Some(clock::after(seen.last_at, CRAWLERS_KEPT));
    for _ in 0..CRAWLER_TRIES_MAX {
        let before = last_of(ledger, &stream).await?;
        let number = before.as_ref().map_or(0, |(number, _)| *number);
        let mut sum = before.map_or_else(|| seen.clone(), |(_, before)| before);
        if number > 0 {
            sum.merge(seen);
        }
        // Again long before that ends: the list outlives what it leads to.
        if number == 0 || sum.last_at > clock::after(sum.listed_at, CRAWLERS_KEPT / 2) {
            if !listed.add(ledger, &sum, sum.last_at).await? {
                return Ok(false);
            }
            sum.listed_at = sum.last_at;
        }
        let body = serde_json::to_value(&sum).map_err(Error::internal)?;
        if ledger.append(&stream, body, until, Some(number)).await?.is_some() {
            return Ok(true);
        }
    }
    Err(Error::unavailable())
}

async fn last_of(ledger: &Ledger, stream: &str) -> Result<Option<(u64, CrawlerSeen)>, Error> {
    let Some((number, LedgerEntry { body, .. })) = ledger.last(stream).await? else { return Ok(None) };
    Ok(Some((number, serde_json::from_value(body).map_err(Error::internal)?)))
}

impl CrawlerSeen {
    fn new(name: &str, is_verified: bool, purpose: Option<String>, now: Timestamp) -> Self {
        Self {
            name: name.to_owned(),
            is_verified,
            purpose,
            requests: 0,
            taken: 0,
            refused: 0,
            prices_told: 0,
            paid: 0,
            charged: 0,
            first_at: now,
            last_at: now,
            listed_at: now,
        }
    }

    fn stream(&self) -> String {
        format!("{}:{}", if self.is_verified { "verified" } else { "named" }, self.name)
    }

    fn note(&mut self, outcome: CrawlOutcome, now: Timestamp) {
        self.requests += 1;
        self.last_at = self.last_at.max(now);
        match outcome {
            CrawlOutcome::Taken { owed, is_paid } => {
                self.taken += 1;
                self.charged = self.charged.saturating_add(owed);
                self.paid += u64::from(is_paid);
            }
            CrawlOutcome::PriceTold => self.prices_told += 1,
            CrawlOutcome::Refused => self.refused += 1,
            CrawlOutcome::Other => {}
        }
    }

    fn merge(&mut self, later: &Self) {
        self.requests = self.requests.saturating_add(later.requests);
        self.taken = self.taken.saturating_add(later.taken);
        self.refused = self.refused.saturating_add(later.refused);
        self.prices_told = self.prices_told.saturating_add(later.prices_told);
        self.paid = self.paid.saturating_add(later.paid);
        self.charged = self.charged.saturating_add(later.charged);
        self.purpose = later.purpose.clone().or_else(|| self.purpose.take());
        self.first_at = self.first_at.min(later.first_at);
        self.last_at = self.last_at.max(later.last_at);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use forecourt_core::{BotPurpose, Clock, SystemClock};
    use forecourt_store::Memory;

    use super::*;

    fn bot(name: &str, is_verified: bool) -> Bot {
        Bot { name: name.to_owned(), product: None, purpose: Some(BotPurpose::Search), is_verified }
    }

    fn ledger() -> Ledger {
        Ledger::new(Arc::new(Memory::new()), Arc::new(SystemClock), LEDGER)
    }

    #[tokio::test]
    async fn what_two_nodes_counted_is_added_up_and_proof_is_kept_apart() {
        let (ledger, now) = (ledger(), SystemClock.now());
        let (one, other) = (CrawlerLog::default(), CrawlerLog::default());
        one.count(&bot("b.example", true), CrawlOutcome::Taken { owed: 10_000, is_paid: false }, now);
        one.count(&bot("b.example", false), CrawlOutcome::Refused, now);
        one.flush(&ledger).await.unwrap();
        other.count(&bot("b.example", true), CrawlOutcome::Taken { owed: 20_000, is_paid: false }, now);
        other.count(&bot("b.example", true), CrawlOutcome::PriceTold, now);
        let all = other.all(&ledger).await.unwrap();
        assert_eq!(all.len(), 2);
        let proven = all.iter().find(|seen| seen.is_verified).unwrap();
        assert_eq!((proven.requests, proven.taken, proven.prices_told, proven.charged), (3, 2, 1, 30_000));
        let named = all.iter().find(|seen| !seen.is_verified).unwrap();
        assert_eq!((named.requests, named.refused), (1, 1));
        assert_eq!(one.all(&ledger).await.unwrap(), all, "nothing is added twice");
    }

    #[tokio::test]
    async fn the_table_is_bounded() {
        let (ledger, now, log) = (ledger(), SystemClock.now(), CrawlerLog::default());
        for n in 0..CRAWLERS_MAX + 5 {
            log.count(&bot(&format!("b{n}.example"), true), CrawlOutcome::Other, now);
        }
        assert_eq!(log.fresh.lock().len(), CRAWLERS_MAX + 1, "the rest is counted together");
        assert_eq!(log.fresh.lock()[&(OTHERS.to_owned(), false)].requests, 5);
        let listed = log.all(&ledger).await.unwrap().len();
        assert_eq!(listed, CRAWLERS_MAX + 1);
    }

    #[tokio::test]
    async fn where_the_list_is_full_those_in_it_are_counted_on() {
        let (ledger, now, log) = (ledger(), SystemClock.now(), CrawlerLog::default());
        let count = |n: usize, at| log.count(&bot(&format!("b{n}.example"), true), CrawlOutcome::Refused, at);
        (0..CRAWLERS_MAX).for_each(|n| count(n, now));
        log.flush(&ledger).await.unwrap();
        // Each is written into the list once more, as it is while it comes.
        let later = clock::after(now, CRAWLERS_KEPT / 2 + Duration::from_secs(1));
        (0..CRAWLERS_MAX).for_each(|n| count(n, later));
        log.flush(&ledger).await.unwrap();
        count(CRAWLERS_MAX, later);
        count(CRAWLERS_MAX + 1, later);
        let all = log.all(&ledger).await.unwrap();
        let counted = |name: &str| all.iter().find(|seen| seen.name == name).map(|seen| seen.requests);
        assert_eq!(all.len(), CRAWLERS_MAX + 1);
        assert_eq!((counted("b0.example"), counted("b999.example")), (Some(2), Some(2)));
        assert_eq!((counted(OTHERS), counted("b1000.example")), (Some(2), None));
    }
}
