//! `command`: a program answers, over its standard streams.
//!
//! The program gets one line on its standard input for each message: Mentionable's normalized message
//! as JSON (`id`, `sender`, `recipient`, `parts`, `history` and so on). It writes its answer to
//! standard output, one JSON value a line, with the keys of [`crate::answer`], such as
//! `{"text": "Hello. "}`. What it writes to standard error goes to the log. Lines must be flushed to
//! be seen; empty ones mean nothing.
//!
//! - `mode = "each"`: a process for each message. Its input ends after the line. The answer is whole
//!   when the program exits with status 0, or after an ending such as `{"end": true}`.
//! - `mode = "worker"`: processes that stay and answer one message after the other, each. The message
//!   then holds a number, `turn`, and each line of its answer repeats it: `{"turn": 7, "text": "Hello."}`.
//!   Every answer has to have an ending. No line reaches anybody but the caller whose turn it names: a
//!   worker that leaves `turn` out, writes anything after its ending, fails or breaks off is replaced.
//! - With `on_lost = "attach"` the program notes how far it came ([`notes`]), and its input stays open.
//! - `format = "text"` (with `mode = "each"`): the input is the text of the message, and the output is
//!   the answer as it is.
//!
//! The program runs in the folder of the deployment, in a process group of its own that is ended with
//! the answer, and sees `PATH`, `LANG`, `PYTHONUNBUFFERED` and the variables of `env`: nothing else of
//! our environment.

mod lines;
mod notes;
mod pool;
mod process;
mod settings;
mod turns;

use std::sync::Arc;

use async_stream::stream;
use forecourt_core::{Admitted, Agent, Ending, Event, EventStream, FailureCause, json};
use forecourt_process::LineError;
use forecourt_settings::{Problems, Section};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::answer;
use forecourt_agents::backend::{Backend, BuiltAgent, Context};
use forecourt_agents::declined::unavailable;
use forecourt_agents::upstream::{CallTimeouts, UpstreamFailure};
use notes::Notes;
use pool::{Pool, Running};
use settings::{CommandSettings, Format, Mode};
use turns::TURN;

/// Starts a program that answers.
pub const BACKEND: Backend = Backend {
    kind: "command",
    about: "Hands each message as a line of JSON to a program of yours, in any language, which answers in lines of JSON.",
    schema: || schemars::schema_for!(CommandSettings),
    build,
};

/// How our own words call the program.
const WHO: &str = "The agent's program";

fn build(section: Section, context: &Context) -> Result<BuiltAgent, Problems> {
    let settings::CheckedCommand { worker, mode, format, timeouts, processes } = settings::read(&section, context)?;
    let pool = Pool::new(worker, mode, processes);
    let command = Command { pool, mode, format, timeouts, host: context.host.clone(), goes_on: context.goes_on };
    Ok(BuiltAgent {
        uses_tools: true,
        remembers: true,
        composes: true,
        attaches: format == Format::Json,
        ..BuiltAgent::new(CommandAgent(Arc::new(command))).with_files()
    })
}

/// The agent: what one answer needs goes into its stream.
struct CommandAgent(Arc<Command>);

struct Command {
    pool: Pool,
    mode: Mode,
    format: Format,
    timeouts: CallTimeouts,
    host: String,
    /// Whether its tasks go on after a loss.
    goes_on: bool,
}

impl Agent for CommandAgent {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let (mode, format) = (self.0.mode, self.0.format);
        let notes = Notes::new(admitted.message().journal.clone(), self.0.goes_on);
        self.0.clone().answer(notes, move |notes, turn| match format {
            Format::Json => {
                let mut message = admitted.message().to_json(&admitted.card().address);
                notes.add_to(&mut message);
                if mode == Mode::Worker {
                    message[TURN] = turn.into();
                }
                format!("{message}\n")
            }
            Format::Text => admitted.message().text(),
        })
    }
}

impl Command {
    fn answer(
        self: Arc<Self>,
        notes: Notes,
        input: impl FnOnce(&Notes, u64) -> String + Send + 'static,
    ) -> EventStream {
        Box::pin(stream! {
            let mut running = match self.pool.start(notes, input, self.timeouts).await {
                Ok(running) => running,
                Err(ending) => {
                    yield Event::Ending(ending);
                    return;
                }
            };
            let deadline = Instant::now() + self.timeouts.total;
            loop {
                for event in self.next(&mut running, deadline).await {
                    if let Event::Ending(ending) = &event {
                        self.pool.finish(running, is_orderly(ending));
                        yield event;
                        return;
                    }
                    yield event;
                }
            }
        })
    }

    /// The next events; an ending when the program has none.
    async fn next(&self, running: &mut Running, deadline: Instant) -> Vec<Event> {
        let output = match self.format {
            Format::Json => running.line(self.timeouts, deadline).await,
            Format::Text => running.text(self.timeouts, deadline).await,
        };
        match output {
            Ok(None) => vec![Event::Ending(running.exit(self.timeouts).await)],
            Ok(Some(bytes)) if self.format == Format::Text => {
                vec![Event::Text(String::from_utf8_lossy(&bytes).into_owned())]
            }
            Ok(Some(line)) if line.trim_ascii().is_empty() => Vec::new(),
            Ok(Some(line)) => match self.line(running, &line) {
                (None, events) => events,
                // Before what the line says besides.
                (Some(note), events) => match timeout_at(deadline, running.keep(note)).await {
                    Ok(Ok(())) => events,
                    Ok(Err(ending)) => vec![Event::Ending(ending)],
                    Err(_) => vec![Event::Ending(UpstreamFailure::Overtime.ending(WHO))],
                },
            },
            Err(error) => vec![Event::Ending(error.ending(WHO))],
        }
    }

    /// The note in a line, and its events, unless it is a late one of another answer.
    fn line(&self, running: &mut Running, line: &[u8]) -> (Option<Value>, Vec<Event>) {
        let value = json::parse(line).map_err(|error| unreadable(&error));
        let judged = value.and_then(|value| running.judge(value).map_err(|error| unreadable(&error.to_string())));
        match judged.transpose() {
            Some(Ok(value)) => {
                let (note, rest) = running.notes.split(value);
                (note, rest.map(|rest| answer::read(Ok(rest), &self.host)).unwrap_or_default())
            }
            Some(unreadable) => (None, answer::read(unreadable, &self.host)),
            None => {
                tracing::debug!("an agent's worker wrote a line for an answer that has ended");
                (None, Vec::new())
            }
        }
    }
}

/// Whether the program ended its answer itself, so that it is fit for another.
fn is_orderly(ending: &Ending) -> bool {
    !matches!(ending, Ending::Failed { .. })
}

fn unreadable(reason: &str) -> Ending {
    tracing::warn!(reason, "an agent's program wrote a line that can't be read");
    Ending::failed("The agent's program gave an answer that could not be read.")
}

fn crashed() -> Ending {
    FailureCause::CutOff.ending("The agent's program ended before its answer was whole.")
}

fn busy() -> Ending {
    unavailable("This agent is busy. Please try again in a moment.", Some(1))
}

/// The failure of an answer for a line that can't be read.
fn line_failure(error: LineError) -> UpstreamFailure {
    match error {
        LineError::TooLong => UpstreamFailure::TooLarge,
        LineError::Broken(error) => read_failure(&error),
    }
}

/// The failure of an answer whose output can't be read; the cause goes to the log.
fn read_failure(error: &std::io::Error) -> UpstreamFailure {
    tracing::warn!(%error, "an agent's program could not be read from");
    UpstreamFailure::Broken
}
