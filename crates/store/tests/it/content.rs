//! Items that were pushed, as rows: one suite for every place that keeps them.

use std::collections::HashSet;
use std::sync::Arc;

use forecourt_core::Handle;
use forecourt_store::content::{
    ContentBounds, ContentChange, ContentChanged, ContentFull, ContentHead, ContentItem, ContentRow, ContentRows,
    MemoryContent, PAGE_BYTES_MAX, PAGE_ROWS_MAX, RowPlace,
};
use forecourt_store::{Postgres, PostgresOptions, StoreKey};
use forecourt_testkit::pgbouncer::PgBouncer;
use forecourt_testkit::postgres::PostgresServer;

const BOUNDS: ContentBounds = ContentBounds { ids: 1_000_000, bytes: 1 << 32 };

fn chef() -> Handle {
    Handle::parse("chef").unwrap()
}

fn item(id: &str, text: &str) -> ContentItem {
    let url = Some(format!("https://e.org/{id}"));
    let said = text.bytes().fold(7, |hash: u64, byte| hash.wrapping_mul(31) + u64::from(byte));
    ContentItem { id: id.to_owned(), url, item: text.as_bytes().to_vec(), said }
}

async fn change(rows: &dyn ContentRows, change: ContentChange) -> Result<ContentChanged, ContentFull> {
    rows.change(&chef(), change, BOUNDS).await.unwrap()
}

async fn put(rows: &dyn ContentRows, items: &[(&str, &str)]) -> ContentChanged {
    let items = items.iter().map(|(id, text)| item(id, text)).collect();
    change(rows, ContentChange::Put(items)).await.unwrap()
}

async fn head(rows: &dyn ContentRows) -> ContentHead {
    rows.heads()
        .await
        .unwrap()
        .into_iter()
        .find(|(agent, _)| *agent == chef())
        .map(|(_, head)| head)
        .unwrap_or_default()
}

/// Everything behind a revision, page by page.
async fn behind(rows: &dyn ContentRows, epoch: u64, revision: u64) -> Vec<ContentRow> {
    let (mut all, mut place) = (Vec::new(), RowPlace { revision: revision + 1, key: Vec::new() });
    loop {
        let page = rows.page(&chef(), epoch, place.clone()).await.unwrap();
        assert!(page.is_last || !page.rows.is_empty());
        place = page.rows.last().map_or(place, |row| row.place.clone());
        all.extend(page.rows);
        if page.is_last {
            return all;
        }
    }
}

fn told(rows: &[ContentRow]) -> Vec<(u64, String, Option<String>)> {
    let text = |row: &ContentRow| row.item.clone().map(|item| String::from_utf8(item).unwrap());
    let mut told: Vec<_> = rows.iter().map(|row| (row.place.revision, row.id.clone(), text(row))).collect();
    told.sort();
    told
}

async fn changes_are_read_behind_a_revision(rows: &dyn ContentRows) {
    assert_eq!(head(rows).await, ContentHead::default());
    let first = put(rows, &[("a", "1"), ("b", "1")]).await;
    assert_eq!((first.head.revision, first.differs), (1, vec![true, true]));
    let second = put(rows, &[("a", "1"), ("b", "2")]).await;
    assert_eq!((second.head.revision, second.differs), (2, vec![false, true]));
    let same = put(rows, &[("a", "1")]).await;
    assert_eq!((same.head, same.differs), (second.head, vec![false]));
    change(rows, ContentChange::Remove(vec!["a".into(), "c".into()])).await.unwrap();
    let ContentHead { epoch, revision } = head(rows).await;
    assert_eq!((epoch, revision), (first.head.epoch, 3));
    let (gone, two) = (None, Some("2".to_owned()));
    let all = [(2, "b".into(), two), (3, "a".into(), gone.clone()), (3, "c".into(), gone)];
    let found = behind(rows, epoch, 0).await;
    assert_eq!(told(&found), all);
    assert_eq!(found[0].url.as_deref(), Some("https://e.org/b"));
    assert_eq!(found[0].said, item("b", "2").said);
    assert_eq!(told(&behind(rows, epoch, 2).await), all[1..]);
    assert!(behind(rows, epoch, 3).await.is_empty());
    assert!(behind(rows, epoch + 1, 0).await.is_empty(), "another epoch");
    let again = put(rows, &[("a", "1")]).await;
    assert_eq!(again.differs, [true], "it was removed");
}

async fn what_is_forgotten_begins_another_epoch(rows: &dyn ContentRows) {
    let before = put(rows, &[("a", "1")]).await.head;
    let after = change(rows, ContentChange::Clear).await.unwrap().head;
    assert!(after.epoch != before.epoch && after.revision > before.revision);
    assert!(behind(rows, before.epoch, 0).await.is_empty() && behind(rows, after.epoch, 0).await.is_empty());
    let again = put(rows, &[("a", "1")]).await;
    assert_eq!((again.head.epoch, again.differs), (after.epoch, vec![true]));
    assert_eq!(behind(rows, after.epoch, 0).await.len(), 1);
}

async fn ids_and_bytes_end_at_their_bounds(rows: &dyn ContentRows) {
    let bounds = ContentBounds { ids: 2, bytes: 4 };
    let within = async |change| rows.change(&chef(), change, bounds).await.unwrap().map(drop);
    let put = |items: &[(&str, &str)]| ContentChange::Put(items.iter().map(|(id, text)| item(id, text)).collect());
    assert_eq!(within(put(&[("a", "12"), ("b", "34")])).await, Ok(()));
    let full = head(rows).await;
    assert_eq!(within(put(&[("c", "")])).await, Err(ContentFull));
    assert_eq!(within(put(&[("b", ""), ("a", "12345")])).await, Err(ContentFull));
    assert_eq!(within(ContentChange::Remove(vec!["c".into()])).await, Err(ContentFull));
    assert_eq!(head(rows).await, full, "nothing is half done");
    assert_eq!(within(put(&[("a", "1")])).await, Ok(()));
    assert_eq!(within(put(&[("b", "345")])).await, Ok(()));
    assert_eq!(within(ContentChange::Remove(vec!["a".into()])).await, Ok(()));
    assert_eq!(within(put(&[("b", "3456")])).await, Ok(()));
}

async fn pages_have_so_many_rows_and_bytes_and_no_more(rows: &dyn ContentRows) {
    let many = (0..=PAGE_ROWS_MAX).map(|n| item(&n.to_string(), "x")).collect();
    let ContentHead { epoch, .. } = change(rows, ContentChange::Put(many)).await.unwrap().head;
    let first = rows.page(&chef(), epoch, RowPlace::default()).await.unwrap();
    assert_eq!((first.rows.len(), first.is_last), (PAGE_ROWS_MAX, false));
    let ids: HashSet<String> = behind(rows, epoch, 0).await.into_iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), PAGE_ROWS_MAX + 1);
    change(rows, ContentChange::Clear).await.unwrap();
    let large = "x".repeat(1024 * 1024);
    let mut last = 0;
    for n in 0..PAGE_BYTES_MAX / large.len() as u64 + 1 {
        last = put(rows, &[(&n.to_string(), &large)]).await.head.epoch;
    }
    let first = rows.page(&chef(), last, RowPlace::default()).await.unwrap();
    assert_eq!((first.rows.len(), first.is_last), (16, false));
    assert_eq!(behind(rows, last, 0).await.len(), 17);
}

async fn changes_at_once_have_revisions_of_their_own(rows: Arc<dyn ContentRows>) {
    let one = |n: u64| {
        let rows = rows.clone();
        tokio::spawn(async move { put(&*rows, &[(&n.to_string(), "x"), ("all", &n.to_string())]).await.head })
    };
    let heads = futures::future::try_join_all((0..24).map(one)).await.unwrap();
    let revisions: HashSet<u64> = heads.iter().map(|head| head.revision).collect();
    assert_eq!((revisions.len(), revisions.iter().max()), (24, Some(&24)));
    assert!(heads.iter().all(|head| head.epoch == heads[0].epoch), "one epoch, though many began it");
    assert_eq!(behind(&*rows, heads[0].epoch, 0).await.len(), 25);
}

async fn suite<F: AsyncFn() -> Arc<dyn ContentRows>>(fresh: F) {
    changes_are_read_behind_a_revision(&*fresh().await).await;
    what_is_forgotten_begins_another_epoch(&*fresh().await).await;
    ids_and_bytes_end_at_their_bounds(&*fresh().await).await;
    pages_have_so_many_rows_and_bytes_and_no_more(&*fresh().await).await;
    changes_at_once_have_revisions_of_their_own(fresh().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_memory() {
    suite(async || Arc::new(MemoryContent::default()) as Arc<dyn ContentRows>).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_postgresql() {
    let Some(server) = PostgresServer::shared() else { return };
    suite(async || open(&server.fresh()).await as Arc<dyn ContentRows>).await;
}

/// A node on a database.
async fn open(url: &str) -> Arc<Postgres> {
    Postgres::open(PostgresOptions::new(url, StoreKey::from_bytes([7; 32]), "demo.localhost")).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_one_postgresql_see_each_others_changes_in_their_order_through_a_pooler_too() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let pooler = PgBouncer::start(&server, 4);
    let nodes = [open(&url).await, open(pooler.as_ref().map_or(url.clone(), |pooler| pooler.url(&url)).as_str()).await];
    let reader = open(&url).await;
    let write = |n: usize| {
        let node = nodes[n % 2].clone();
        tokio::spawn(async move { put(&*node, &[(&n.to_string(), "a secret word")]).await.head.revision })
    };
    let writing = futures::future::try_join_all((0..40).map(write));
    // Who follows reads on from where it was, and misses nothing.
    let following = async {
        let mut seen: Vec<u64> = Vec::new();
        while seen.len() < 40 {
            let ContentHead { epoch, .. } = head(&*reader).await;
            let rows = behind(&*reader, epoch, seen.last().copied().unwrap_or_default()).await;
            seen.extend(rows.iter().map(|row| row.place.revision));
        }
        seen
    };
    let (revisions, seen) = futures::join!(writing, following);
    assert_eq!(seen, (1..=40).collect::<Vec<u64>>());
    assert_eq!(revisions.unwrap().into_iter().collect::<HashSet<u64>>().len(), 40);
    let database = url.rsplit('/').next().unwrap();
    let kept =
        server.sql(database, "SELECT encode(body, 'escape') || encode(key, 'escape') FROM forecourt.content_rows");
    assert!(!kept.contains("secret") && !kept.contains("e.org"), "rows are sealed");
}
