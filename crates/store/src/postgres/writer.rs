//! This module writes to PostgreSQL by a few lanes. Each takes what is queued, sends it in one transaction without
//! waiting for single answers, and then answers every caller: one commit serves all who waited for it. A lane starts
//! beside another one only with enough writes; fewer wait for that one to end, and go out together with the writes of
//! the callers whom it answers.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Instant;

use deadpool_postgres::Object;
use forecourt_core::StoreError;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Error};

use super::answer::Answer;
use super::batch;
use super::call::{self, Call, LOCK, Param, Statement};
use super::connect::Connections;
use super::error::{is_conflict, is_lost, is_undone, to_store_error, unknown};
use crate::limits::{
    POSTGRES_ATTEMPTS, POSTGRES_GATHER_MAX, POSTGRES_LANES, POSTGRES_LOCK_WAIT_MS, POSTGRES_OPERATION_MAX,
    POSTGRES_WRITES_BESIDE_MIN, WRITES_PER_COMMIT_MAX, WRITES_QUEUED_MAX,
};

/// How often those who were answered are given their turn before a batch that is smaller than the last one is sent.
const TURNS_GIVEN: usize = 3;

/// Hands writes to the lanes. When it is dropped they write what is queued, and end.
pub(super) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Pending>>>,
    lanes: Mutex<Vec<JoinHandle<()>>>,
    connections: Arc<Connections>,
}

/// A write that waits.
struct Pending {
    call: Call,
    /// From when on its caller has been told that it was not done.
    until: Instant,
    answer: oneshot::Sender<Result<Answer, StoreError>>,
}

impl Writer {
    /// Starts the lanes.
    pub(super) fn start(connections: Arc<Connections>) -> Self {
        let (queue, waiting) = mpsc::channel(WRITES_QUEUED_MAX);
        let waiting = Arc::new(AsyncMutex::new(waiting));
        let under_way = Arc::new(UnderWay::default());
        let lane = || tokio::spawn(lane(Arc::clone(&waiting), Arc::clone(&under_way), Arc::clone(&connections)));
        let lanes = (0..POSTGRES_LANES).map(|_| lane()).collect();
        Self { queue: Mutex::new(Some(queue)), lanes: Mutex::new(lanes), connections }
    }

    /// Writes together with others, and returns once that is durable. Dropping the future does not stop it.
    pub(super) async fn write(&self, call: Call) -> Result<Answer, StoreError> {
        let queue = self.queue.lock().clone().ok_or_else(closed)?;
        let (answer, answered) = oneshot::channel();
        let pending = Pending { call, until: Instant::now() + POSTGRES_OPERATION_MAX, answer };
        let written = async {
            queue.send(pending).await.map_err(|_| closed())?;
            drop(queue);
            answered.await.map_err(|_| closed())?
        };
        let in_time = tokio::time::timeout(POSTGRES_OPERATION_MAX + POSTGRES_OPERATION_MAX / 4, written).await;
        in_time.map_err(|_| StoreError::Unavailable("the database is too slow".to_owned()))?
    }

    /// Writes in a transaction of its own: for what takes long, or holds what many wait for.
    pub(super) async fn write_alone(&self, call: Call) -> Result<Answer, StoreError> {
        if self.queue.lock().is_none() {
            return Err(closed());
        }
        alone(&self.connections, &call).await
    }

    /// Writes that wait for a lane.
    pub(super) fn waiting(&self) -> u64 {
        self.queue.lock().as_ref().map_or(0, |queue| (queue.max_capacity() - queue.capacity()) as u64)
    }

    /// Writes what is queued and ends the lanes.
    pub(super) async fn close(&self) {
        drop(self.queue.lock().take());
        let lanes = std::mem::take(&mut *self.lanes.lock());
        for lane in lanes {
            if lane.await.is_err() {
                tracing::error!("a lane of the store's writer panicked");
            }
        }
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".to_owned())
}

/// The commits of all lanes that are not answered yet.
#[derive(Default)]
struct UnderWay {
    commits: AtomicUsize,
    /// Notified at the end of each.
    ended: Notify,
}

/// One of them, until it is dropped.
struct CommitUnderWay<'a>(&'a UnderWay);

impl UnderWay {
    fn begin(&self) -> CommitUnderWay<'_> {
        self.commits.fetch_add(1, Ordering::SeqCst);
        CommitUnderWay(self)
    }

    fn is_any(&self) -> bool {
        self.commits.load(Ordering::SeqCst) > 0
    }
}

impl Drop for CommitUnderWay<'_> {
    fn drop(&mut self) {
        self.0.commits.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.notify_waiters();
    }
}

/// One lane: until the queue ends.
async fn lane(
    waiting: Arc<AsyncMutex<mpsc::Receiver<Pending>>>,
    under_way: Arc<UnderWay>,
    connections: Arc<Connections>,
) {
    let mut expected = 0;
    loop {
        let mut batch = Vec::new();
        let mut queue = waiting.lock().await;
        if gather(&mut queue, &mut batch, &under_way, expected).await == 0 {
            return;
        }
        // While the queue is still locked, so that no other lane sees nothing under way and goes out with a single
        // write.
        let _under_way = under_way.begin();
        drop(queue);
        expected = batch.len();
        commit(&connections, batch).await;
    }
}

/// Waits for a write and takes what is queued behind it; how many that are, 0 at the end. Who was answered just now is
/// about to come back: each of them gets its turn once, so that they share one commit again.
async fn gather(
    queue: &mut mpsc::Receiver<Pending>,
    batch: &mut Vec<Pending>,
    under_way: &UnderWay,
    expected: usize,
) -> usize {
    queue.recv_many(batch, WRITES_PER_COMMIT_MAX).await;
    let patience = tokio::time::sleep(POSTGRES_GATHER_MAX);
    tokio::pin!(patience);
    while !batch.is_empty() && batch.len() < POSTGRES_WRITES_BESIDE_MIN {
        // Enabled before `is_any`: an end between the two would be missed, and the wait would last its whole time.
        let ended = under_way.ended.notified();
        tokio::pin!(ended);
        ended.as_mut().enable();
        if !under_way.is_any() {
            break;
        }
        tokio::select! {
            () = ended => {}
            // The other transaction may itself be waiting for a lock, for seconds.
            () = &mut patience => break,
            more = queue.recv_many(batch, POSTGRES_WRITES_BESIDE_MIN) => if more == 0 { break },
        }
    }
    take_waiting(queue, batch);
    // Yields, no sleep: those who were just answered are ready to run, and come back within a turn or two.
    for _ in 0..TURNS_GIVEN {
        if batch.is_empty() || batch.len() >= expected.min(WRITES_PER_COMMIT_MAX) {
            break;
        }
        tokio::task::yield_now().await;
        take_waiting(queue, batch);
    }
    batch.len()
}

/// Takes what waits already, as far as it belongs into one commit.
fn take_waiting(queue: &mut mpsc::Receiver<Pending>, batch: &mut Vec<Pending>) {
    while batch.len() < WRITES_PER_COMMIT_MAX
        && let Ok(pending) = queue.try_recv()
    {
        batch.push(pending);
    }
}

/// Commits a batch and answers it. When one of many can't be done, each gets a transaction of its own; when nobody can
/// say whether they were done, those that may be done twice are tried again.
async fn commit(connections: &Connections, mut batch: Vec<Pending>) {
    for tried in 1.. {
        let now = Instant::now();
        // Callers of older ones are told that they were not done, and may repeat them: now they must not be done any
        // more.
        batch.retain(|pending| pending.until > now);
        // The order in which every node locks rows; in the order of arrival two nodes would deadlock. Stable, so that
        // writes of one task keep theirs.
        batch.sort_by(|one, other| one.call.subject.cmp(&other.call.subject));
        let calls: Vec<&Call> = batch.iter().map(|pending| &pending.call).collect();
        match attempt(connections, &calls).await {
            Ok(answers) => {
                for (pending, answer) in batch.into_iter().zip(answers) {
                    // An error means that the caller has gone; the write is committed all the same.
                    let _ = pending.answer.send(Ok(answer));
                }
                return;
            }
            Err(Undone::All(fault)) => return refuse(batch, &fault),
            // The connection was lost, perhaps after the commit: only writes that know that they were done may be sent
            // again.
            Err(Undone::Unknown(fault)) => {
                let (again, lost) = batch.into_iter().partition(|pending| pending.call.is_repeatable());
                refuse(lost, &fault);
                batch = again;
                if tried >= POSTGRES_ATTEMPTS {
                    return refuse(batch, &fault);
                }
            }
            // PostgreSQL undoes the whole transaction for one statement: apart, only the guilty one fails.
            Err(Undone::One(_)) => {
                for pending in batch {
                    let answer = alone(connections, &pending.call).await;
                    let _ = pending.answer.send(answer);
                }
                return;
            }
        }
    }
}

fn refuse(batch: Vec<Pending>, fault: &StoreError) {
    for pending in batch {
        let _ = pending.answer.send(Err(again(fault)));
    }
}

/// Writes one in a transaction of its own, again where another one undid it.
async fn alone(connections: &Connections, call: &Call) -> Result<Answer, StoreError> {
    let mut tried = 0;
    loop {
        tried += 1;
        let is_last = tried >= POSTGRES_ATTEMPTS;
        match attempt(connections, &[call]).await {
            Ok(answers) => return answers.into_iter().next().ok_or_else(closed),
            Err(Undone::One(error)) if is_conflict(&error) && !is_last => {
                tracing::debug!(%error, tried, "a write is tried again");
            }
            Err(Undone::Unknown(fault)) if call.is_repeatable() && !is_last => {
                tracing::debug!(%fault, tried, "a write is tried again");
            }
            Err(Undone::One(error)) => return Err(to_store_error(&error)),
            Err(Undone::All(fault) | Undone::Unknown(fault)) => return Err(fault),
        }
    }
}

/// Why a transaction was not committed, as far as anybody can say.
enum Undone {
    /// The fault of one of its statements.
    One(Error),
    /// There is no connection, or it does not answer.
    All(StoreError),
    /// The connection was lost: perhaps behind the commit.
    Unknown(StoreError),
}

async fn attempt(connections: &Connections, calls: &[&Call]) -> Result<Vec<Answer>, Undone> {
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let connection = connections.lend().await.map_err(Undone::All)?;
    match tokio::time::timeout(POSTGRES_OPERATION_MAX, write(connections, &connection, calls)).await {
        Err(_) => Err(Undone::All(connections.give_up(connection))),
        Ok(Ok(answers)) => Ok(answers),
        Ok(Err(error)) if is_lost(&error) => {
            drop(Object::take(connection));
            Err(Undone::Unknown(unknown(&error)))
        }
        Ok(Err(error)) => Err(Undone::One(error)),
    }
}

/// Does all of them in one transaction: one statement where that is enough.
async fn write(connections: &Connections, client: &Client, calls: &[&Call]) -> Result<Vec<Answer>, Error> {
    let statements = call::statements(calls);
    if let [Statement::Tasks(writes)] = &statements[..]
        && !connections.must_begin()
    {
        if let Some(answers) = batch::write(client, writes).await? {
            return Ok(answers);
        }
        // The server or a role has other defaults (`synchronous_commit = off`, another isolation): transactions set
        // their own.
        connections.begin_from_now_on();
    }
    transact(client, calls, statements).await
}

/// Sends a whole transaction at once and reads what comes of it.
async fn transact(client: &Client, calls: &[&Call], statements: Vec<Statement<'_>>) -> Result<Vec<Answer>, Error> {
    let begin = format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = {}; SET LOCAL lock_timeout = {}; \
         SET LOCAL synchronous_commit = on",
        POSTGRES_OPERATION_MAX.as_millis() * 4 / 5,
        POSTGRES_LOCK_WAIT_MS
    );
    let locks = call::locks(calls);
    let mut steps: Vec<BoxFuture<'_, Result<Vec<Answer>, Error>>> = Vec::with_capacity(statements.len() + 3);
    steps.push(Box::pin(async { client.batch_execute(&begin).await.map(|()| Vec::new()) }));
    if let Some(locks) = &locks {
        let params: Vec<_> = locks.iter().map(Param::typed).collect();
        steps.push(Box::pin(async move { client.query_typed(LOCK, &params).await.map(|_| Vec::new()) }));
    }
    for statement in statements {
        steps.push(Box::pin(execute(client, statement)));
    }
    steps.push(Box::pin(async { client.batch_execute("COMMIT").await.map(|()| Vec::new()) }));
    let (mut answers, mut fault) = (Vec::with_capacity(calls.len()), None::<Error>);
    for done in in_order(steps).await {
        match done {
            Ok(some) => answers.extend(some),
            // Statements behind the failed one only say that the transaction is aborted: the first real error is the
            // cause.
            Err(error) if fault.as_ref().is_none_or(|fault| is_undone(fault) && !is_undone(&error)) => {
                fault = Some(error);
            }
            Err(_) => {}
        }
    }
    fault.map_or(Ok(answers), Err)
}

async fn execute(client: &Client, statement: Statement<'_>) -> Result<Vec<Answer>, Error> {
    match statement {
        Statement::Function(sql, params) => {
            let row = client.query_typed_one(sql, &params).await?;
            Ok(vec![Answer { code: row.try_get(0)?, n: row.try_get(1)? }])
        }
        Statement::Tasks(writes) => Ok(batch::write(client, &writes).await?.unwrap_or_default()),
    }
}

/// Begins all in their order, which sends what they ask, and waits for each.
async fn in_order<T>(mut steps: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = steps.iter().map(|_| None).collect();
    let (mut first, mut is_begun) = (0, false);
    std::future::poll_fn(|context| {
        let from = first;
        for at in from..steps.len() {
            if done[at].is_none() {
                match Pin::new(&mut steps[at]).poll(context) {
                    Poll::Ready(value) => done[at] = Some(value),
                    // The answers of a connection come in order: if this one is not there, later ones are not either.
                    Poll::Pending if is_begun => return Poll::Pending,
                    Poll::Pending => {}
                }
            }
            if first == at && done[at].is_some() {
                first += 1;
            }
        }
        is_begun = true;
        if first == steps.len() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// The same fault once more, for each of those whom it hit.
fn again(fault: &StoreError) -> StoreError {
    match fault {
        StoreError::Full { bound } => StoreError::Full { bound: *bound },
        StoreError::Unavailable(reason) => StoreError::Unavailable(reason.clone()),
        StoreError::NotHeld => StoreError::NotHeld,
        StoreError::Exists => StoreError::Exists,
        StoreError::Corrupt(reason) => StoreError::Corrupt(reason.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::call::Subject;
    use super::*;
    use crate::sealed::Holder;

    fn pending() -> Pending {
        let call = Call::new("none", Subject::New, Holder::HOST, []);
        Pending { call, until: Instant::now(), answer: oneshot::channel().0 }
    }

    #[tokio::test]
    async fn few_writes_wait_for_the_commit_that_is_under_way_and_many_do_not() {
        let under_way = UnderWay::default();
        for (count, waits) in [(POSTGRES_WRITES_BESIDE_MIN - 1, true), (POSTGRES_WRITES_BESIDE_MIN, false)] {
            let (queue, mut waiting) = mpsc::channel(WRITES_QUEUED_MAX);
            for _ in 0..count {
                queue.send(pending()).await.unwrap();
            }
            let other = under_way.begin();
            let mut batch = Vec::new();
            let mut gathering = Box::pin(gather(&mut waiting, &mut batch, &under_way, 0));
            assert_eq!(futures::poll!(&mut gathering).is_pending(), waits, "{count}");
            if waits {
                queue.send(pending()).await.unwrap();
                drop(other);
                assert_eq!(gathering.await, count + 1, "what came meanwhile goes out with them");
            }
        }
        let (queue, mut waiting) = mpsc::channel(WRITES_QUEUED_MAX);
        queue.send(pending()).await.unwrap();
        assert_eq!(gather(&mut waiting, &mut Vec::new(), &under_way, 0).await, 1, "nothing is under way");
    }

    #[tokio::test]
    async fn steps_begin_in_their_order_and_none_waits_for_another() {
        let begun = Arc::new(Mutex::new(Vec::new()));
        let (tell, told) = oneshot::channel::<()>();
        let mut told = Some(told);
        let mut tell = Some(tell);
        let steps = (0..100).map(|n| {
            let begun = Arc::clone(&begun);
            // The first one waits for what the last one says.
            let (waits, says) = (told.take(), if n == 99 { tell.take() } else { None });
            let step: BoxFuture<'_, usize> = Box::pin(async move {
                begun.lock().push(n);
                if let Some(told) = waits {
                    told.await.unwrap();
                }
                if let Some(tell) = says {
                    tell.send(()).unwrap();
                }
                n
            });
            step
        });
        let done = in_order(steps.collect()).await;
        assert_eq!(done, (0..100).collect::<Vec<_>>());
        assert_eq!(*begun.lock(), done);
    }
}
