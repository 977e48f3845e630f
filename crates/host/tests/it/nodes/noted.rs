//! Agents that note how far they came: whoever goes on finds their notes, what must not happen twice is noted before it
//! is begun, and a run that lost its task notes nothing any more.

use forecourt_core::journal::NotWritten;
use forecourt_core::limits::TASK_TTL;
use forecourt_core::{Admitted, EarlierTry, EventStream, WorkJournal};
use forecourt_host::{NOTE_BYTES_MAX, NOTES_BYTES_MAX, NOTES_MAX, OnLost, WORK_TRIES_MAX};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::lost::{failure, lose, of};
use super::outage::named;
use super::*;

/// An agent that makes its notes and hangs; in a later try it says which ones it found, or makes one more and hangs.
#[derive(Default)]
struct Noting {
    notes: Vec<Value>,
    /// Whether later tries come one note further, and no more.
    is_endless: bool,
    found: Mutex<Vec<(String, EarlierTry)>>,
    /// Has it make a late note.
    late: Arc<Notify>,
    /// What came of each wait for its notes.
    written: Arc<Mutex<Vec<Result<(), NotWritten>>>>,
    /// Whether the work was to go on as its stream was dropped.
    left: Arc<Mutex<Vec<bool>>>,
}

impl Noting {
    fn new(notes: impl IntoIterator<Item = Value>) -> Arc<Self> {
        Arc::new(Self { notes: notes.into_iter().collect(), ..Self::default() })
    }

    fn found(&self) -> Vec<EarlierTry> {
        self.found.lock().iter().map(|(_, earlier)| earlier.clone()).collect()
    }
}

struct OnDrop(WorkJournal, Arc<Mutex<Vec<bool>>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.1.lock().push(self.0.is_handed_over());
    }
}

impl Agent for Noting {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let journal = admitted.into_message().journal;
        let earlier = journal.earlier();
        self.found.lock().push((journal.work().unwrap_or_default().to_owned(), earlier.clone()));
        let guard = OnDrop(journal.clone(), self.left.clone());
        let (written, late) = (self.written.clone(), self.late.clone());
        let (notes, is_endless) = (self.notes.clone(), self.is_endless);
        Box::pin(async_stream::stream! {
            let _guard = guard;
            let notes = match earlier {
                EarlierTry::None => notes,
                EarlierTry::Left(_) if is_endless => vec![json!("further")],
                EarlierTry::Left(_) => {
                    yield Event::Text(format!("{earlier:?}"));
                    yield Event::Ending(Ending::Complete);
                    return;
                }
            };
            for note in notes {
                journal.note(note);
            }
            let waited = journal.written().await;
            written.lock().push(waited);
            late.notified().await;
            journal.note(json!("late"));
            let waited = journal.written().await;
            written.lock().push(waited);
            std::future::pending::<()>().await;
        })
    }
}

/// A task of `first` whose node is lost, and what a node of `later` makes of it.
async fn goes_on(first: &Arc<Noting>, later: &Arc<Noting>) -> (Node, TaskId) {
    let cluster = of(OnLost::Attach);
    let (dead, two) = (cluster.node(first.clone()).await, cluster.node(later.clone()).await);
    let id = begin(&dead).await;
    pass(Duration::from_secs(1)).await;
    lose(&dead).await;
    // The lost node hears that it is lost, and leaves what goes on as it is.
    dead.store.set_away(false);
    pass(LEASE).await;
    (two, id)
}

#[tokio::test(start_paused = true)]
async fn notes_are_found_in_their_order_though_nothing_was_said() {
    for notes in [vec![], vec![json!({"task": 7})], vec![json!(1), json!([2]), json!(null)]] {
        let (first, later) = (Noting::new(notes.clone()), Noting::new([]));
        let (two, id) = goes_on(&first, &later).await;
        assert_eq!(state(&two, &id).await, TaskState::Completed);
        let (was, is) = (first.found.lock()[0].clone(), later.found.lock()[0].clone());
        assert_eq!((was.0.len(), is), (36, (was.0, EarlierTry::Left(notes))));
        assert_eq!(was.1, EarlierTry::None);
        assert_eq!((first.written.lock().clone(), first.left.lock().clone()), (vec![Ok(())], vec![true]));
    }
}

#[tokio::test(start_paused = true)]
async fn cancelled_work_is_not_handed_over() {
    let cluster = of(OnLost::Attach);
    let agent = Noting::new([json!(1)]);
    let (one, two) = (cluster.node(agent.clone()).await, cluster.node(agent.clone()).await);
    for node in [&one, &two] {
        let id = begin(&one).await;
        pass(Duration::from_secs(1)).await;
        node.host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap();
        pass(LEASE).await;
    }
    assert_eq!(*agent.left.lock(), [false, false]);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_note_waits_until_the_store_has_it() {
    let cluster = of(OnLost::Attach);
    let agent = Noting::new([json!(1)]);
    let one = cluster.node(agent.clone()).await;
    let id = begin(&one).await;
    pass(Duration::from_secs(1)).await;
    one.store.set_away(true);
    agent.late.notify_one();
    pass(LEASE / 5).await;
    assert_eq!(agent.written.lock().len(), 1, "the store is away");
    one.store.set_away(false);
    pass(LEASE / 2).await;
    assert_eq!(*agent.written.lock(), [Ok(()), Ok(())]);
    one.host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_task_another_one_has_can_note_nothing_and_is_told_so() {
    let cluster = of(OnLost::Attach);
    let (first, later) = (Noting::new([json!(1)]), Noting::new([]));
    let (still, two) = (cluster.node(first.clone()).await, cluster.node(later.clone()).await);
    let id = begin(&still).await;
    pass(Duration::from_secs(1)).await;
    // It does not know that its lease is gone.
    still.stop.cancel();
    pass(LEASE * 2).await;
    assert_eq!(state(&two, &id).await, TaskState::Completed);
    first.late.notify_one();
    pass(Duration::from_secs(1)).await;
    assert_eq!(first.written.lock().iter().filter(|waited| waited.is_ok()).count(), 1, "the late one is not written");
    assert_eq!(later.found(), [EarlierTry::Left(vec![json!(1)])]);
    assert_eq!(*first.left.lock(), [false], "what the other run has ended is not running any more");
}

#[tokio::test(start_paused = true)]
async fn as_many_notes_as_are_kept_are_found_and_with_more_the_work_ends_with_its_node() {
    // Two of them are the quotes.
    let of_bytes = |bytes: usize| Value::from("x".repeat(bytes - 2));
    let many = |count: usize, bytes: usize| std::iter::repeat_n(of_bytes(bytes), count).collect::<Vec<_>>();
    let whole = NOTES_BYTES_MAX / NOTE_BYTES_MAX;
    let over = [many(whole, NOTE_BYTES_MAX), vec![json!(1)]].concat();
    for (notes, fits) in [
        (many(NOTES_MAX, 3), true),
        (many(NOTES_MAX + 1, 3), false),
        (many(1, NOTE_BYTES_MAX), true),
        (many(1, NOTE_BYTES_MAX + 1), false),
        (many(whole, NOTE_BYTES_MAX), true),
        (over, false),
    ] {
        let (first, later) = (Noting::new(notes.clone()), Noting::new([]));
        let (two, id) = goes_on(&first, &later).await;
        assert_eq!(*first.written.lock(), [Ok(())], "it may go on, with its node");
        if fits {
            assert_eq!(later.found(), [EarlierTry::Left(notes)]);
        } else {
            assert_eq!(later.found(), []);
            let reason = failure(&follow(&two, &id, 0).await);
            assert!(reason.contains(&NOTES_MAX.to_string()) && reason.contains("bytes each"), "{reason}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_whose_task_has_expired_begins_another_one_that_goes_on_as_well() {
    let cluster = of(OnLost::Attach);
    let (first, later) = (Noting::new([json!(1)]), Noting::new([]));
    let (dead, two) = (cluster.node(first.clone()).await, cluster.node(later.clone()).await);
    let before = dead.host.receive(message("work"), named("a")).await.unwrap().task.unwrap();
    pass(Duration::from_secs(1)).await;
    // It is in the store until that is swept.
    for node in [&dead, &two] {
        node.clock.advance(TASK_TTL);
    }
    let id = dead.host.receive(message("work"), named("a")).await.unwrap().task.unwrap();
    assert_ne!(id, before);
    pass(Duration::from_secs(1)).await;
    lose(&dead).await;
    assert_eq!(state(&two, &id).await, TaskState::Completed);
    assert_eq!(later.found(), [EarlierTry::Left(vec![json!(1)])]);
}

#[tokio::test(start_paused = true)]
async fn copies_of_a_message_that_come_at_once_leave_one_journal_that_counts() {
    for losers_first in [false, true] {
        let cluster = of(OnLost::Attach);
        let agents = [Noting::new([json!("one")]), Noting::new([json!("two")])];
        let nodes = [cluster.node(agents[0].clone()).await, cluster.node(agents[1].clone()).await];
        let receive = async |at: usize| nodes[at].host.receive(message("work"), named("a")).await;
        // At one moment of one clock: nothing but the run tells the copies apart.
        let (first, second) = match losers_first {
            true => tokio::join!(receive(0), receive(1)),
            false => tokio::join!(receive(1), receive(0)),
        };
        let id = first.unwrap().task.unwrap();
        assert_eq!(second.unwrap().task.as_ref(), Some(&id));
        pass(Duration::from_secs(1)).await;
        let begun: Vec<_> = (0..2).filter(|at| agents[*at].found().len() == 1).collect();
        let [winner] = begun[..] else { panic!("one of them has begun: {begun:?}") };
        let (noted, left) = (agents[winner].notes.clone(), &nodes[1 - winner]);
        lose(&nodes[winner]).await;
        assert_eq!(state(left, &id).await, TaskState::Completed);
        assert_eq!(agents[1 - winner].found(), [EarlierTry::Left(noted)]);
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_comes_further_each_time_is_not_given_up() {
    let cluster = of(OnLost::Attach);
    let agent = Arc::new(Noting { is_endless: true, ..Noting::default() });
    let mut node = cluster.node(agent.clone()).await;
    let id = begin(&node).await;
    for _ in 0..WORK_TRIES_MAX + 2 {
        pass(Duration::from_secs(1)).await;
        let next = cluster.node(agent.clone()).await;
        lose(&node).await;
        node = next;
    }
    assert_eq!(state(&node, &id).await, TaskState::Working);
    let notes = (0..=WORK_TRIES_MAX as usize).map(|count| EarlierTry::Left(vec![json!("further"); count]));
    let wanted: Vec<_> = std::iter::once(EarlierTry::None).chain(notes).collect();
    assert_eq!(agent.found()[..wanted.len()], wanted);
    node.host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap();
}
