//! A second place for heads: told of each in time, and waited for by nobody.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use forecourt_attribution::copies::HeadCopy;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::kept::{Kept, passes};
use crate::support::{agent, draft};

/// A second place that answers so, or never.
struct Elsewhere {
    answers: Mutex<Option<Result<(), String>>>,
    heads: Mutex<Vec<String>>,
}

impl Elsewhere {
    fn new(answers: Option<Result<(), String>>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers), heads: Mutex::default() })
    }

    fn told(&self) -> Vec<String> {
        self.heads.lock().clone()
    }
}

impl HeadCopy for Elsewhere {
    fn take(&self, heads: Vec<String>) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let answer = self.answers.lock().clone();
            match answer {
                Some(Ok(())) => {
                    self.heads.lock().extend(heads);
                    Ok(())
                }
                Some(refused) => refused,
                None => std::future::pending().await,
            }
        })
    }

    fn last(&self, _node: Option<&str>) -> io::Result<Option<String>> {
        Ok(None)
    }
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_copied_though_nothing_follows_it() {
    let (kept, elsewhere) = (Kept::new(), Elsewhere::new(Some(Ok(()))));
    let log = kept.open().unwrap();
    log.copy_heads(Some(elsewhere.clone()));
    log.ready().await.unwrap();
    let first = kept.heads().last().await.unwrap().unwrap();
    log.record(draft(Some(&agent(1)), "a")).await.unwrap();
    passes(Duration::from_secs(2)).await;
    assert_eq!(elsewhere.told(), std::slice::from_ref(&first), "at most once a minute");
    passes(Duration::from_secs(60)).await;
    assert_eq!(elsewhere.told(), [first, kept.heads().last().await.unwrap().unwrap()]);
}

#[tokio::test(start_paused = true)]
async fn what_a_second_place_refused_it_is_told_again() {
    let (kept, elsewhere) = (Kept::new(), Elsewhere::new(Some(Err("500".to_owned()))));
    let log = kept.open().unwrap();
    log.copy_heads(Some(elsewhere.clone()));
    log.ready().await.unwrap();
    passes(Duration::from_secs(90)).await;
    assert!(elsewhere.told().is_empty());
    *elsewhere.answers.lock() = Some(Ok(()));
    passes(Duration::from_secs(60)).await;
    assert_eq!(elsewhere.told(), [kept.heads().last().await.unwrap().unwrap()]);
}

#[tokio::test(start_paused = true)]
async fn a_second_place_that_never_answers_or_refuses_holds_nobody_up() {
    for answers in [None, Some(Err("500".to_owned()))] {
        let kept = Kept::new();
        let log = kept.open().unwrap();
        log.copy_heads(Some(Elsewhere::new(answers)));
        let begun = Instant::now();
        log.ready().await.unwrap();
        assert_eq!(begun.elapsed(), Duration::ZERO, "nobody waits for it at the start");
        log.record(draft(Some(&agent(1)), "a")).await.unwrap();
        let before = kept.heads().last().await.unwrap();
        log.close().await.unwrap();
        assert_ne!(kept.heads().last().await.unwrap(), before);
        assert!(begun.elapsed() <= Duration::from_secs(12), "{:?}", begun.elapsed());
    }
}
