//! Two ways to one database file, as two processes have.

use forecourt_store::{Sqlite, SqliteOptions};

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn on_one_file_of_sqlite_work_is_followed_cancelled_and_taken_from_the_dead() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Sqlite::open(&folder.path().join("forecourt.db"), SqliteOptions::default()).unwrap();
    let bus: Arc<TestBus> = Arc::default();
    let lease = LeaseSettings::of(Duration::from_secs(1));
    let setup = || Setup { store: open(), bus: bus.clone(), alone: false, lease, ..Setup::default() };
    let hangs = ScriptedAgent::new(vec![text("a"), Step::Hang]);
    let two = host(setup(), ScriptedAgent::saying(["x"])).await;
    // What beats for a run ends with its runtime, as with a process that is killed.
    let runtime = std::thread::spawn({
        let setup = setup();
        move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
            let ids = runtime.block_on(async {
                let one = host(setup, hangs).await;
                let begin =
                    async || one.receive(message("work"), Run::in_background(None)).await.unwrap().task.unwrap();
                (begin().await, begin().await)
            });
            (runtime, ids)
        }
    });
    let (runtime, (cancelled, left)) = runtime.join().unwrap();
    let permit = two.task(&cancelled, TaskAccess::ById).await.unwrap();
    permit.cancel().await.unwrap();
    let events: Vec<_> = permit.follow(0, FollowUntil::End).collect().await;
    assert_eq!(events.last().unwrap().1, Event::Ending(Ending::Canceled));
    let permit = two.task(&left, TaskAccess::ById).await.unwrap();
    let mut events = permit.follow(0, FollowUntil::End);
    assert_eq!(events.next().await, Some((1, Event::Text("a".to_owned()))));
    runtime.shutdown_background();
    let last = tokio::time::timeout(Duration::from_secs(30), events.next()).await.expect("its lease ends");
    assert!(matches!(last, Some((2, Event::Ending(Ending::Failed { .. })))), "{last:?}");
    assert_eq!(events.next().await, None);
}

async fn host(setup: Setup, agent: Arc<dyn Agent>) -> Arc<Host> {
    setup.host_with(agent, Arc::new(forecourt_core::SystemClock), Arc::new(forecourt_host::SystemEntropy)).await
}
