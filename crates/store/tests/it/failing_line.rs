//! A line to PostgreSQL that is cut at the n-th word, for every n of a day, before the server has heard it or before its
//! answer is heard: what was acknowledged stands, whatever became of the rest, and the store works on over a new line.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use forecourt_core::Store;
use forecourt_store::{Postgres, PostgresOptions, StoreKey};
use forecourt_testkit::postgres::PostgresServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::acknowledged::Acknowledged;
use crate::day::{evening, morning};

/// More than a day has words.
const WORDS_MAX: i64 = 500;

/// Where a line is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    /// The server never hears the word.
    Unsent,
    /// The server did what was asked, and nobody hears its answer.
    Unheard,
}

/// Stands between a store and its database. What is written at once is a word.
#[derive(Clone)]
struct Line {
    to: u16,
    cut: Cut,
    /// The words until the cut; below 0 once it was made, and while none is to be.
    left: Arc<AtomicI64>,
}

impl Line {
    /// One to `server`, and the URL of `database` over it.
    async fn to(server: &PostgresServer, database: &str, cut: Cut) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let line = Self { to: server.port(), cut, left: Arc::new(AtomicI64::new(-1)) };
        let port = listener.local_addr().unwrap().port();
        let url = format!("postgres://postgres@127.0.0.1:{port}/{}", database.rsplit('/').next().unwrap());
        let carrying = line.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let line = carrying.clone();
                tokio::spawn(async move { line.carry(near).await });
            }
        });
        (line, url)
    }

    async fn carry(&self, mut near: TcpStream) -> io::Result<()> {
        let mut far = TcpStream::connect(("127.0.0.1", self.to)).await?;
        let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
        loop {
            tokio::select! {
                read = near.read(&mut asked) => {
                    let read = read?;
                    let is_cut = read > 0 && self.left.fetch_sub(1, Ordering::SeqCst) == 1;
                    if read == 0 || (is_cut && self.cut == Cut::Unsent) {
                        return Ok(());
                    }
                    far.write_all(&asked[..read]).await?;
                    if is_cut {
                        // Once it answers it has done what was asked, or will.
                        return far.read(&mut answered).await.map(drop);
                    }
                }
                read = far.read(&mut answered) => match read? {
                    0 => return Ok(()),
                    read => near.write_all(&answered[..read]).await?,
                },
            }
        }
    }
}

/// A day for each word at which the line is cut.
async fn every(cut: Cut) {
    let Some(server) = PostgresServer::shared() else { return };
    let (line, url) = Line::to(&server, &server.fresh(), cut).await;
    let store = Postgres::open(PostgresOptions::new(&url, StoreKey::from_bytes([7; 32]), "example.com")).await.unwrap();
    for at in 1..WORDS_MAX {
        let mut acknowledged = Acknowledged::default();
        line.left.store(at, Ordering::SeqCst);
        let stream = format!("stream {at}");
        let _ = morning(&*store, |what, id| acknowledged.take(&format!("ack {what} {id}"))).await;
        let _ = evening(&*store, &stream, |what, id| acknowledged.take(&format!("ack {what} {id}"))).await;
        let is_met = line.left.swap(-1, Ordering::SeqCst) <= 0;
        acknowledged.check(&*store).await;
        store.ready().await.unwrap_or_else(|error| panic!("{cut:?} at {at}: it can't be written any more: {error}"));
        if !is_met {
            assert!(at > 10, "{cut:?}: a day with {at} words is none");
            return;
        }
    }
    panic!("a day has an end");
}

#[tokio::test]
async fn what_was_acknowledged_stands_whichever_word_the_server_never_hears() {
    every(Cut::Unsent).await;
}

#[tokio::test]
async fn what_was_acknowledged_stands_whichever_answer_is_never_heard() {
    every(Cut::Unheard).await;
}
