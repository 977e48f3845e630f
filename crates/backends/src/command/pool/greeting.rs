//! The first line of a new worker, by which it is known whether it takes several messages at once.

use std::sync::Arc;

use forecourt_agents::upstream::UpstreamFailure;
use forecourt_core::Ending;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout, timeout_at};

use super::super::concurrent::{ConcurrentTurn, ConcurrentWorker, TurnTimes};
use super::super::hello::{self, Hello};
use super::super::input::AskedTurn;
use super::super::lines::ReadLine;
use super::super::places::{ProcessSlot, Starting};
use super::super::process::Process;
use super::super::{WHO, crashed};
use super::{Pool, Running};

/// A worker that was given its first message and has said nothing yet.
pub(super) struct Greeting {
    pool: Arc<Pool>,
    process: Process,
    slot: ProcessSlot,
    asked: AskedTurn,
    number: u64,
    starting: Starting,
    /// Its time begins with the process, and not with what that says first.
    times: TurnTimes,
}

impl Greeting {
    /// Gives a new worker its first message, which one of version 1 waits for, and waits for its first line. On a task
    /// of its own: a caller that goes away meanwhile takes nobody else's worker with it.
    pub(super) async fn begin(
        pool: Arc<Pool>,
        mut process: Process,
        slot: ProcessSlot,
        asked: AskedTurn,
        number: u64,
    ) -> Result<Running, Ending> {
        pool.give(&mut process, &asked, number);
        let (starting, times) = (pool.places.starting(), pool.times());
        let (answer, answered) = oneshot::channel();
        tokio::spawn(Self { pool, process, slot, asked, number, starting, times }.run(answer));
        answered.await.unwrap_or_else(|_| Err(crashed()))
    }

    async fn run(mut self, mut answer: oneshot::Sender<Result<Running, Ending>>) {
        let grace = self.pool.grace();
        let first = tokio::select! {
            first = first_line(&mut self.process, self.times) => first,
            // A worker that is only loading what it needs is worth keeping for the next caller, for a while.
            () = async { answer.closed().await; sleep(grace).await } => return,
        };
        // A turn that nobody takes any more is cancelled as it is dropped, or its process ended.
        drop(answer.send(self.greeted(first)));
    }

    /// What the first line makes of the worker.
    fn greeted(self, first: Result<ReadLine, Ending>) -> Result<Running, Ending> {
        let Self { pool, mut process, slot, asked, number, starting, times } = self;
        let line = first?;
        let hello = line.as_ref().ok().and_then(Option::as_ref).and_then(|line| hello::read(line));
        match hello {
            None => {
                process.output.push_back(line);
                Ok(pool.alone_turn(process, slot, asked, number, times))
            }
            Some(Ok(Hello { concurrency, sdk })) => {
                let (worker, streams) = ConcurrentWorker::of(number, pool.home(), process);
                tracing::debug!(agent = %worker.agent(), sdk, concurrency, "an agent's worker takes several messages at once");
                pool.places.note(asked.conversation().as_deref(), worker.number);
                // No longer counted as one that may have room, since its room is known.
                drop(starting);
                let seat = pool.places.enlist(worker.clone(), concurrency);
                let turn = ConcurrentTurn::begin(worker.clone(), Box::new(seat), number, (asked, None), times);
                // Only now: one that ends at once has to be on the list, to be taken off it.
                streams.spawn(&worker, Box::new(slot));
                Ok(Running::Concurrent(Box::new(turn.map_err(|_| crashed())?)))
            }
            Some(Err(error)) => Err(pool.refuse_greeting(&error)),
        }
    }
}

/// The first line that is not empty; an ending where none comes in time.
async fn first_line(process: &mut Process, times: TurnTimes) -> Result<ReadLine, Ending> {
    let line = async {
        loop {
            match process.output.line().await {
                Ok(Some(line)) if line.trim_ascii().is_empty() => {}
                line => return line,
            }
        }
    };
    let first = timeout_at(times.deadline, timeout(times.timeouts.first, line)).await;
    let first =
        first.map_err(|_| UpstreamFailure::Overtime).and_then(|first| first.map_err(|_| UpstreamFailure::Stalled));
    first.map_err(|failure| failure.ending(WHO))
}
