//! Streams of entries: numbered, never changed, and somebody is first.

use forecourt_core::limits::ENTRY_BYTES_MAX;
use forecourt_core::store::{LedgerEntry, Span};
use futures::future::join_all;
use serde_json::{Value, json};

use super::*;

const ALL: Span = Span::After(0);
const NEWEST: Span = Span::Before(u64::MAX);

/// An entry that stays.
pub fn entry(body: Value, at: u64) -> LedgerEntry {
    LedgerEntry::new(body, after(at))
}

async fn append(store: &Fresh, stream: &str, body: Value) -> u64 {
    store.append_entry(stream, entry(body, 0), None).await.unwrap().expect("nothing was expected of the last one")
}

async fn numbers(store: &Fresh, stream: &str, span: Span, limit: usize, now: u64) -> Vec<u64> {
    let entries = store.entries(stream, span, limit, after(now)).await.unwrap();
    entries.into_iter().map(|(n, _)| n).collect()
}

/// From either end.
pub async fn an_unknown_stream_is_empty(store: Fresh) {
    append(&store, "a", json!(1)).await;
    for span in [ALL, NEWEST] {
        assert!(numbers(&store, "b", span, 10, 0).await.is_empty());
    }
}

/// Entries are numbered from 1 in each stream, also where names are nearly the same.
pub async fn entries_are_numbered_from_one_for_each_stream(store: Fresh) {
    for n in 1..=3 {
        assert_eq!(append(&store, "agent:chef", json!(n)).await, n);
        assert_eq!(append(&store, "agent:chef ", json!(n)).await, n);
    }
}

/// An entry reads back as it was: its moment to the nanosecond, with and without an end.
pub async fn an_entry_reads_back_as_it_was(store: Fresh) {
    let body = json!({"a": [1, -2.5, "\u{e9}\u{0}", null, true], "b": {}});
    let written = LedgerEntry { at: after(1) + Duration::from_nanos(1), ..entry(body, 0) };
    let ends = written.clone().until(after(9));
    for entry in [&written, &ends] {
        store.append_entry("a", entry.clone(), None).await.unwrap();
    }
    assert_eq!(store.entries("a", ALL, 10, after(2)).await.unwrap(), [(1, written), (2, ends)]);
}

/// Entries are read in pages from either end, and nothing is behind the last one.
pub async fn entries_are_read_in_pages_from_either_end(store: Fresh) {
    for n in 0..5 {
        append(&store, "a", json!(n)).await;
    }
    let read = |span, limit| numbers(&store, "a", span, limit, 0);
    assert_eq!(read(ALL, 2).await, [1, 2]);
    assert_eq!(read(Span::After(2), 9).await, [3, 4, 5]);
    assert_eq!(read(Span::After(5), 9).await, [0; 0]);
    assert_eq!(read(Span::After(u64::MAX), 9).await, [0; 0]);
    assert_eq!(read(NEWEST, 2).await, [5, 4]);
    assert_eq!(read(Span::Before(4), 9).await, [3, 2, 1]);
    assert_eq!(read(Span::Before(1), 9).await, [0; 0]);
    assert_eq!(read(ALL, 0).await, [0; 0]);
}

/// An entry that expects another last number than there is is not written: this comparison settles races.
pub async fn an_entry_after_another_one_than_the_last_is_not_written(store: Fresh) {
    let after_last = |last| store.append_entry("a", entry(json!(last), 0), Some(last));
    assert_eq!(after_last(1).await.unwrap(), None);
    assert_eq!(after_last(0).await.unwrap(), Some(1));
    assert_eq!(after_last(0).await.unwrap(), None);
    assert_eq!(after_last(2).await.unwrap(), None);
    assert_eq!(after_last(1).await.unwrap(), Some(2));
    assert_eq!(numbers(&store, "a", ALL, 9, 0).await, [1, 2]);
}

/// Of 64 entries that expect the same last number one is written.
pub async fn of_64_entries_after_the_same_one_one_is_written(store: Fresh) {
    append(&store, "a", json!("first")).await;
    let appends = (0..64).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.append_entry("a", entry(json!(n), 0), Some(1)).await.unwrap() })
    });
    let written = join_all(appends).await.into_iter().filter_map(Result::unwrap);
    assert_eq!(written.collect::<Vec<_>>(), [2]);
}

/// An expired entry is not read, and its number is not given again, whether or not it was removed.
pub async fn an_expired_entry_is_not_read_and_its_number_is_not_given_again(store: Fresh) {
    append(&store, "a", json!(1)).await;
    for removed in [false, true] {
        let ends = entry(json!(2), 0).until(after(10));
        let n = store.append_entry("a", ends, None).await.unwrap().unwrap();
        assert_eq!(numbers(&store, "a", NEWEST, 1, 9).await, [n]);
        assert_eq!(numbers(&store, "a", NEWEST, 1, 10).await, [n - 1]);
        if removed {
            // The one of the first round as well.
            assert_eq!(store.expire(after(10), 9).await.unwrap(), 2);
        }
        let next = store.append_entry("a", entry(json!(3), 10), Some(n - 1)).await.unwrap();
        assert_eq!(next, Some(n + 1), "removed: {removed}");
    }
}

/// A stream of which everything has expired begins anew, whether or not it was removed.
pub async fn a_stream_of_which_nothing_is_left_begins_anew(store: Fresh) {
    for (stream, removed) in [("a", false), ("b", true)] {
        for n in 1..=2 {
            let ends = entry(json!(n), 0).until(after(10));
            assert_eq!(store.append_entry(stream, ends, None).await.unwrap(), Some(n));
        }
        if removed {
            assert_eq!(store.expire(after(10), 9).await.unwrap(), 2);
        }
        assert_eq!(store.append_entry(stream, entry(json!(3), 10), Some(2)).await.unwrap(), None);
        assert_eq!(store.append_entry(stream, entry(json!(3), 10), Some(0)).await.unwrap(), Some(1));
        assert_eq!(numbers(&store, stream, ALL, 9, 10).await, [1]);
    }
}

/// An entry of the largest size is taken, and one of a byte more is refused.
pub async fn an_entry_has_a_bounded_size(store: Fresh) {
    let quotes = 2;
    let fits = json!("x".repeat(ENTRY_BYTES_MAX - quotes));
    assert_eq!(append(&store, "a", fits).await, 1);
    let too_large = entry(json!("x".repeat(ENTRY_BYTES_MAX - quotes + 1)), 0);
    assert!(is_unavailable(&store.append_entry("a", too_large, None).await));
}
