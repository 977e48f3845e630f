//! `command`: a program answers, over its standard streams.
//!
//! The program gets one line on its standard input for each message: Mentionable's normalized message
//! as JSON (`id`, `sender`, `recipient`, `parts`, `history` and so on). It writes its answer to
//! standard output, one JSON value a line, with the keys of [`crate::answer`], such as
//! `{"text": "Hello. "}`. What it writes to standard error goes to the log. Lines must be flushed to
//! be seen; empty ones mean nothing. The protocol is written down in `docs/reference/worker.md`.
//!
//! - `mode = "each"`: a process for each message. Its input ends after the line. The answer is whole
//!   when the program exits with status 0, or after an ending such as `{"end": true}`.
//! - `mode = "worker"`: processes that stay and answer many messages. The message
//!   then holds a number, `turn`, and each line of its answer repeats it: `{"turn": 7, "text": "Hello."}`.
//!   Every answer has to have an ending. No line reaches anybody but the caller whose turn it names.
//!   - A worker whose first line is a `hello` ([`hello`]) speaks version 2 of the protocol: it is given several
//!     messages at once, and told when one is not wanted any more ([`concurrent`]).
//!   - Any other has version 1: one message after the other ([`alone`]). One that leaves `turn` out, writes anything
//!     after its ending, fails or breaks off is replaced, and it is ended with a message that is not wanted any more.
//! - With `on_lost = "attach"` the program notes how far it came ([`notes`]), and its input stays open.
//! - `format = "text"` (with `mode = "each"`): the input is the text of the message, and the output is
//!   the answer as it is.
//!
//! The program runs in the folder of the deployment, in a process group of its own that is ended with
//! the answer, and sees `PATH`, `LANG`, `PYTHONUNBUFFERED` and the variables of `env`: nothing else of
//! our environment.

mod alone;
mod concurrent;
mod hello;
mod input;
mod lines;
mod notes;
mod places;
mod pool;
mod process;
mod settings;
mod sticky;
mod turns;

use std::sync::Arc;

use async_stream::stream;
use forecourt_core::{Admitted, Agent, Ending, Event, EventStream, FailureCause};
use forecourt_process::LineError;
use forecourt_settings::{Problems, Section};

use crate::program::ProgramContext;
use crate::tools::Toolbox;
use forecourt_agents::backend::{Backend, BuiltAgent, Context};
use forecourt_agents::declined::unavailable;
use forecourt_agents::upstream::UpstreamFailure;
use input::AskedTurn;
use notes::Notes;
use pool::{Pool, Running};
use settings::{CommandSettings, Format};

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
    let (checked, toolbox) = settings::read(&section, context)?;
    let attaches = checked.format == Format::Json;
    let program = ProgramContext::new(context);
    let pool = Arc::new(Pool::new(checked, program.clone()));
    let command = CommandAgent { pool, program, toolbox, goes_on: context.goes_on };
    Ok(BuiltAgent {
        uses_tools: true,
        remembers: true,
        composes: true,
        attaches,
        ..BuiltAgent::new(command).with_files()
    })
}

/// The agent: what one answer needs goes into its stream.
struct CommandAgent {
    pool: Arc<Pool>,
    program: Arc<ProgramContext>,
    /// What its workers may call.
    toolbox: Toolbox,
    /// Whether its tasks go on after a loss.
    goes_on: bool,
}

impl Agent for CommandAgent {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let notes = Notes::new(admitted.message().journal.clone(), self.goes_on);
        let (fields, admitted) = (self.program.fields(&admitted), Arc::new(admitted));
        let reader = self.program.reader(admitted.clone());
        let toolbox = Arc::new(self.toolbox.offered(admitted.message()));
        answer(self.pool.clone(), AskedTurn { admitted, fields, reader, toolbox, notes })
    }
}

fn answer(pool: Arc<Pool>, mut asked: AskedTurn) -> EventStream {
    Box::pin(stream! {
        if let Err(ending) = asked.reader.admit().await {
            yield Event::Ending(ending);
            return;
        }
        match pool.start(asked).await {
            Ok(Running::Concurrent(mut turn)) => {
                while let Some(event) = turn.next().await {
                    yield event;
                }
            }
            Ok(Running::Alone(mut turn)) => loop {
                for event in turn.next().await {
                    if let Event::Ending(ending) = &event {
                        let is_orderly = is_orderly(ending) && !turn.is_cut;
                        pool.finish(*turn, is_orderly);
                        yield event;
                        return;
                    }
                    yield event;
                }
            },
            Err(ending) => yield Event::Ending(ending),
        }
    })
}

/// Whether the program ended its answer itself, so that it is fit for another.
fn is_orderly(ending: &Ending) -> bool {
    !matches!(ending, Ending::Failed { .. })
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
