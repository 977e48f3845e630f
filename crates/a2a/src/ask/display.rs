//! What comes of a task, on the terminal: words on standard output, all about them on standard error.

use forecourt_client::ask::{AskArguments, ToolDisplay};
use forecourt_client::output::{Failure, Outcome, ignore_broken_pipe, stderrln};
use forecourt_client::printable::{Words, line, shell_word};
use forecourt_client::refusal;
use forecourt_client::terminal::show_progress;
use forecourt_core::part::ArtifactContent;
use forecourt_core::{Ending, Event, FileSource, Part, ToolCall, ToolOutcome};

use crate::NAME;
use crate::client::{StreamItem, Unfolding};

/// Characters of an id that is shown.
const ID_CHARS_MAX: usize = 300;
/// Characters of somebody else's sentence.
const WORDS_CHARS_MAX: usize = 500;

/// What was shown so far.
pub(super) struct TaskDisplay {
    unfolding: Unfolding,
    words: Words,
    tools: ToolDisplay,
    /// What the user wrote to name the agent, for the next command.
    address: String,
    /// What the agent is called.
    name: String,
    canonical_host: String,
    task: Option<String>,
    as_json: bool,
}

impl TaskDisplay {
    pub(super) fn new(ask: &AskArguments, canonical_host: &str, name: &str) -> Self {
        Self {
            unfolding: Unfolding::new(canonical_host, true),
            words: if ask.json { Words::new() } else { Words::of_markdown() },
            tools: ToolDisplay::default(),
            address: ask.agent.clone(),
            name: name.to_owned(),
            canonical_host: canonical_host.to_owned(),
            task: None,
            as_json: ask.json,
        }
    }

    /// Shows what is new in an item. Gives how the answer ended, once it has.
    pub(super) fn show(&mut self, item: StreamItem) -> Result<Option<Outcome>, Failure> {
        if self.as_json {
            ignore_broken_pipe(self.words.say(&format!("{}\n", item.raw)))?;
        }
        let events = self.unfolding.take(item.item);
        if let (None, Some(task)) = (&self.task, self.unfolding.task().map(str::to_owned)) {
            self.note_task(&task);
            stderrln!("task {}; continue with: {}", line(&task, ID_CHARS_MAX), self.command());
        }
        for event in events {
            match event {
                Event::Ending(ending) => {
                    ignore_broken_pipe(self.words.end())?;
                    return Ok(Some(self.end(ending)));
                }
                event => self.event(event)?,
            }
        }
        Ok(None)
    }

    /// Takes notice of the task.
    pub(super) fn note_task(&mut self, task: &str) {
        self.task = Some(task.to_owned());
    }

    fn event(&mut self, event: Event) -> Outcome {
        match event {
            Event::Text(text) if !self.as_json => ignore_broken_pipe(self.words.say(&text))?,
            Event::Part(part) if !self.as_json => {
                if let Some(words) = part_line(&part) {
                    ignore_broken_pipe(self.words.end().and_then(|()| self.words.say(&format!("{words}\n"))))?;
                }
            }
            Event::ToolCall(call) => self.tool(&call),
            Event::Progress(progress) => show_progress(progress),
            _ => {}
        }
        Ok(())
    }

    fn tool(&mut self, call: &ToolCall) {
        let state = match call.outcome {
            ToolOutcome::Running => "at work",
            ToolOutcome::Result(_) => "done",
            ToolOutcome::Error(_) => "failed",
        };
        self.tools.show(&call.id, &call.name, state);
    }

    fn end(&mut self, ending: Ending) -> Outcome {
        match ending {
            Ending::Complete => {}
            // `--json` has printed the raw item already.
            Ending::Message(text) if self.as_json => drop(text),
            Ending::Message(text) => ignore_broken_pipe(self.words.say(&text).and_then(|()| self.words.end()))?,
            Ending::Question(question) => {
                if !self.as_json {
                    ignore_broken_pipe(self.words.say(&question.text).and_then(|()| self.words.end()))?;
                }
                stderrln!("answer with: {} ANSWER", self.command());
                return Ok(());
            }
            Ending::SignIn(wanted) => {
                let words = line(&wanted.question.text, WORDS_CHARS_MAX);
                return Err(Failure::yours(format!("{}: {words}", self.name))
                    .hint(format!("sign in there, then go on with: {} ANSWER", self.command())));
            }
            Ending::Refused(part) => return Err(refusal::show(&part, &self.name, &self.canonical_host)),
            Ending::Declined { reason } => {
                return Err(Failure::yours(format!("{}: {}", self.name, line(&reason, WORDS_CHARS_MAX))));
            }
            Ending::Failed { reason, .. } => {
                return Err(Failure::unreachable(format!("{}: {}", self.name, line(&reason, WORDS_CHARS_MAX))));
            }
            Ending::Canceled => return Err(Failure::yours("the task was cancelled")),
        }
        if let Some(context) = self.unfolding.context().filter(|_| !self.as_json) {
            stderrln!("continue with: --session {}", shell_word(&line(context, ID_CHARS_MAX)));
        }
        Ok(())
    }

    /// The user leaves; the task goes on.
    pub(super) fn left(&self) -> Failure {
        match &self.task {
            Some(_) => Failure::yours("stopped listening; the task goes on").hint(self.command()),
            None => Failure::yours("stopped before the agent took the message"),
        }
    }

    /// The answer has no end.
    pub(super) fn broken(&self, reason: &str) -> Failure {
        let failure = Failure::unreachable(format!("the answer broke off: {reason}"));
        match &self.task {
            Some(_) => failure.hint(format!("the task may go on; hear the rest with: {}", self.command())),
            None => failure.hint("what came before is not the whole answer; ask again"),
        }
    }

    /// The command that goes on with the task.
    fn command(&self) -> String {
        let task = line(self.task.as_deref().unwrap_or_default(), ID_CHARS_MAX);
        format!("forecourt ask --via {NAME} --task {} {}", shell_word(&task), shell_word(&self.address))
    }
}

/// A part that is not made of words, by what can be said about it.
fn part_line(part: &Part) -> Option<String> {
    let at = |source: &FileSource, name: &str| match source {
        FileSource::Url { url, .. } => format!("[{name}]({url})"),
        FileSource::Inline(_) | FileSource::Kept => format!("({name})"),
    };
    Some(match part {
        Part::File(file) => at(&file.source, file.name.as_deref().unwrap_or("file")),
        Part::Artifact(artifact) => match &artifact.content {
            ArtifactContent::Text(text) => text.clone(),
            ArtifactContent::Bytes(source) => at(source, artifact.name.as_deref().unwrap_or("artifact")),
        },
        Part::Link(link) => format!("[{}]({})", link.title.as_deref().unwrap_or("link"), link.url),
        Part::Data(data) => data.data.to_string(),
        Part::Text(text) => text.content.clone(),
        Part::ToolCall(_) | Part::Policy(_) | Part::Unknown(_) => return None,
    })
}
