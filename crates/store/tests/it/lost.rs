//! A connection that is lost between a commit and its answer: what was written is written once, and whoever asked is
//! told so, or that nobody can say.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forecourt_core::store::{LedgerEntry, Resumption, Span, TaskChange};
use forecourt_core::{
    Account, CallerKey, CollectedReply, Ending, Event, Part, Question, Role, Store, Task, TaskState, Turn,
};
use forecourt_store::{Postgres, PostgresOptions, StoreKey};
use forecourt_testkit::postgres::PostgresServer;
use forecourt_testkit::store_suite::{after, completed, is_unavailable, outcome, some_task, start, webhook};
use futures::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a server says when a transaction is over, behind whatever it answered in it, and once when it greets.
const OVER: &[u8] = b"Z\0\0\0\x05I";

/// Stands between a store and its database, and swallows the answer of a commit when it is told to.
struct Proxy {
    port: u16,
    /// How many commits are still to be cut off.
    cuts: Arc<AtomicUsize>,
    /// How many were.
    made: Arc<AtomicUsize>,
}

impl Proxy {
    async fn before(server: &PostgresServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, to) = (listener.local_addr().unwrap().port(), server.port());
        let proxy = Self { port, cuts: Arc::default(), made: Arc::default() };
        let (cuts, made) = (Arc::clone(&proxy.cuts), Arc::clone(&proxy.made));
        tokio::spawn(async move {
            while let Ok((from, _)) = listener.accept().await {
                tokio::spawn(carry(from, to, Arc::clone(&cuts), Arc::clone(&made)));
            }
        });
        proxy
    }

    fn url(&self, direct: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{}", self.port, direct.rsplit('/').next().unwrap())
    }

    /// The next `n` transactions that end are committed, and whoever waits for them is cut off.
    fn cut(&self, n: usize) {
        self.cuts.store(n, Ordering::SeqCst);
    }

    /// How many were cut off since this was asked last.
    fn cut_off(&self) -> usize {
        self.made.swap(0, Ordering::SeqCst)
    }
}

async fn carry(mut from: TcpStream, to: u16, cuts: Arc<AtomicUsize>, made: Arc<AtomicUsize>) {
    let Ok(mut to) = TcpStream::connect(("127.0.0.1", to)).await else { return };
    let ((mut ask, mut answer), (mut heard, mut asked)) = (from.split(), to.split());
    let up = tokio::io::copy(&mut ask, &mut asked);
    let down = async {
        let (mut bytes, mut is_greeted) = (vec![0; 64 * 1024], false);
        while let Ok(n @ 1..) = heard.read(&mut bytes).await {
            let is_over = bytes[..n].windows(OVER.len()).any(|some| some == OVER);
            let one_less = |cuts: usize| cuts.checked_sub(1);
            if is_over && is_greeted && cuts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok() {
                made.fetch_add(1, Ordering::SeqCst);
                return;
            }
            is_greeted |= is_over;
            if answer.write_all(&bytes[..n]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        _ = up => {}
        () = down => {}
    }
}

/// A store behind the proxy, whose connections are there already.
async fn open(proxy: &Proxy, url: &str) -> Arc<Postgres> {
    let options = PostgresOptions::new(proxy.url(url), StoreKey::from_bytes([7; 32]), "example.com");
    let store = Postgres::open(options).await.unwrap();
    join_all((0..8).map(|_| store.create_task(some_task(), Vec::new()))).await;
    store
}

fn asks(task: &Task) -> TaskChange {
    let question = Question { text: "For how many?".to_owned(), questions: Vec::new() };
    let question = CollectedReply::new(vec![Part::markdown("For how many?")], Ending::Question(question));
    TaskChange::settle(task, question, after(1))
}

fn said(text: &str) -> Vec<Event> {
    vec![Event::Text(text.to_owned())]
}

/// All that happens to a task, with every answer of a commit swallowed: as if nothing had been.
#[tokio::test]
async fn whatever_is_written_of_a_task_is_written_once_though_no_commit_is_ever_answered() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let proxy = Proxy::before(&server).await;
    let store = open(&proxy, &url).await;
    let account = CallerKey::of(Some("ada"), None, None).account();
    for hooks in [vec![], vec![webhook("https://example.com/")]] {
        let begun = |account: &Account| Task { account: account.clone(), ..some_task() };
        let task = begun(&account);
        proxy.cut(1);
        store.create_task(task.clone(), hooks.clone()).await.expect("it is there");
        assert_eq!(proxy.cut_off(), 1);
        proxy.cut(1);
        store.append_events(&task.id, "run-1", 1, said("one")).await.unwrap();
        assert_eq!(proxy.cut_off(), 1);
        proxy.cut(1);
        assert!(store.advance_task(&task.id, asks(&task)).await.unwrap(), "it was this move");
        assert_eq!(proxy.cut_off(), 1);
        // What is read first is cut off, too.
        proxy.cut(2);
        let waiting = Task { state: TaskState::InputRequired, ..task.clone() };
        let turns = vec![Turn::text(Role::User, "Four.")];
        let resumption =
            Resumption { run: "run-2".to_owned(), turns, webhooks: Vec::new(), expires_at: task.expires_at };
        assert!(store.advance_task(&task.id, TaskChange::resume(&waiting, resumption, after(2))).await.unwrap());
        assert_eq!(proxy.cut_off(), 2);
        let resumed = Task { run: "run-2".to_owned(), ..task.clone() };
        proxy.cut(3);
        let done = TaskChange::settle(&resumed, outcome("Soup."), after(3));
        assert!(store.advance_task(&task.id, done).await.unwrap(), "cut off three times");
        assert_eq!(proxy.cut_off(), 3);

        let kept = store.task(&task.id, start()).await.unwrap().unwrap();
        assert_eq!((kept.state, kept.turns.len()), (TaskState::Completed, 2));
        assert_eq!(store.last_event(&task.id).await.unwrap(), 3, "a word, a question, an end");
        assert_eq!(store.claim_deliveries(after(9), after(60), 9).await.unwrap().len(), 2 * hooks.len());
    }
    let database = url.rsplit('/').next().unwrap();
    let sums = "SELECT (SELECT sum(bytes) FROM forecourt.charges) = (SELECT sum(bytes) FROM forecourt.accounts),
        (SELECT count(*) FROM forecourt.charges)";
    assert_eq!(server.sql(database, sums), "t\t2", "charged once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_writers_none_hears_of_connections_that_are_lost() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let proxy = Proxy::before(&server).await;
    let store = open(&proxy, &url).await;
    let work = |n: usize| {
        let store = Arc::clone(&store);
        async move {
            let account = CallerKey::of(Some(&format!("caller {}", n % 3)), None, None).account();
            let task = Task { account, ..some_task() };
            store.create_task(task.clone(), Vec::new()).await.unwrap();
            store.append_events(&task.id, "run-1", 1, said("one")).await.unwrap();
            store.append_events(&task.id, "run-1", 2, [said("two"), said("three")].concat()).await.unwrap();
            assert!(store.advance_task(&task.id, completed()).await.unwrap());
            task.id
        }
    };
    let mut tasks = Vec::new();
    for round in 0..20 {
        proxy.cut(2);
        let begun: Vec<_> = (0..8).map(|n| tokio::spawn(work(round + n))).collect();
        tasks.extend(join_all(begun).await.into_iter().map(Result::unwrap));
    }
    assert_eq!(proxy.cut_off(), 40);
    for task in &tasks {
        let kept = store.events(task, 0, 9).await.unwrap();
        assert_eq!(kept.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 2, 3, 4]);
    }
    let database = url.rsplit('/').next().unwrap();
    let sums = "SELECT (SELECT sum(bytes) FROM forecourt.charges) = (SELECT sum(bytes) FROM forecourt.accounts)";
    assert_eq!(server.sql(database, sums), "t");
}

#[tokio::test]
async fn of_what_can_not_be_done_twice_nobody_says_that_it_was_not() {
    let Some(server) = PostgresServer::shared() else { return };
    let url = server.fresh();
    let proxy = Proxy::before(&server).await;
    let store = open(&proxy, &url).await;
    proxy.cut(1);
    let claimed = store.claim_once("once", start(), after(60)).await;
    assert!(is_unavailable(&claimed), "{claimed:?}");
    assert!(!store.claim_once("once", start(), after(60)).await.unwrap(), "nobody may take it for theirs");
    proxy.cut(1);
    let entry = store.append_entry("stream", LedgerEntry::new(1.into(), start()), Some(0)).await;
    assert!(is_unavailable(&entry), "{entry:?}");
    let words = entry.unwrap_err().to_string();
    assert!(words.contains("lost") && words.contains("whether"), "{words}");
    assert_eq!(store.entries("stream", Span::After(0), 9, start()).await.unwrap().len(), 1);
}
