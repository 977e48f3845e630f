//! A remote agent's items as events of ours, each piece once.
//!
//! What an artifact held before is remembered, so that a task as it stands, or an update that repeats
//! the whole, adds only what is new. Text of artifacts is the answer; what a status says while the
//! work goes on is a note, and when the work is over it is the answer's last word.

mod pieces;

use std::sync::Arc;

use forecourt_core::limits::{PARTS_MAX, REPLY_TEXT_BYTES_MAX};
use forecourt_core::{Ending, Event, FailureCause, Progress, Question, SignIn, TaskState};
use forecourt_surface::ending::{read_cause, read_challenges};

use self::pieces::Tools;
use super::limits::TAKEN_BYTES_MAX;
use super::receive::{RefusalStatus, judge};
use crate::model::{Artifact, Item, Message, Role, Status, Task};
use crate::policy;

/// Turns the items of one answer into events.
pub struct Unfolding {
    canonical_host: String,
    believes: bool,
    /// What an earlier turn took.
    before: TaskCursor,
    artifacts: Vec<TakenArtifact>,
    /// Whether any text was given.
    has_spoken: bool,
    tools: Tools,
    /// The id of the last status message that was taken.
    said: Option<String>,
    bytes: usize,
    pieces: usize,
    task: Option<String>,
    context: Option<String>,
    state: Option<TaskState>,
    is_malformed: bool,
}

/// What was taken of a task in one turn, for the next one.
#[derive(Clone, Default)]
pub struct TaskCursor(Arc<Vec<TakenArtifact>>);

/// What was taken of one artifact.
#[derive(Clone)]
struct TakenArtifact {
    id: String,
    /// Whether an earlier turn took it.
    is_old: bool,
    text: String,
    others: Vec<Event>,
}

impl Unfolding {
    /// The beginning of an answer. Refusals may lead to `canonical_host` only, and are not believed
    /// at all unless `believes`. PolicyPart 3.2, 3.6.
    pub fn new(canonical_host: impl Into<String>, believes: bool) -> Self {
        Self {
            canonical_host: canonical_host.into(),
            believes,
            before: TaskCursor::default(),
            artifacts: Vec::new(),
            has_spoken: false,
            tools: Tools::default(),
            said: None,
            bytes: 0,
            pieces: 0,
            task: None,
            context: None,
            state: None,
            is_malformed: false,
        }
    }

    /// The next turn of a task of which `before` was taken already.
    #[must_use]
    pub fn after(self, before: TaskCursor) -> Self {
        Self { before, ..self }
    }

    /// What was taken of the task, for [`Unfolding::after`]. Nothing when that is more than
    /// [`TAKEN_BYTES_MAX`]: the next turn may then repeat it.
    pub fn taken(&self) -> TaskCursor {
        let bytes: usize = self.artifacts.iter().map(|seen| seen.text.len()).sum();
        match bytes <= TAKEN_BYTES_MAX {
            true => TaskCursor(Arc::new(self.artifacts.clone())),
            false => TaskCursor::default(),
        }
    }

    /// The task, once it is known.
    pub fn task(&self) -> Option<&str> {
        self.task.as_deref()
    }

    /// The conversation, once it is known.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// Where the task stood last.
    pub fn state(&self) -> Option<TaskState> {
        self.state
    }

    /// Whether a refusal had to be rejected. PolicyPart 3.6.
    pub(crate) fn is_malformed(&self) -> bool {
        self.is_malformed
    }

    /// What is new in `item`. An [`Event::Ending`] is the last event of all: whatever follows is to
    /// be dropped. PolicyPart 3.5.
    pub fn take(&mut self, item: Item) -> Vec<Event> {
        let mut events = Vec::new();
        match item {
            Item::Message(message) => self.direct(message, &mut events),
            Item::Task(task) => self.whole(task, &mut events),
            Item::Artifact(update) => {
                self.known(&update.task, &update.context);
                if !update.append {
                    // An earlier turn's artifact of the same name ends here.
                    self.artifacts.retain(|seen| !seen.is_old || seen.id != update.artifact.id);
                }
                self.artifact(update.artifact, update.append, &mut events);
            }
            Item::Status(update) => {
                self.known(&update.task, &update.context);
                let fraction = update.metadata.get("mentionable").and_then(|ours| ours["progress"].as_f64());
                self.status(update.status, fraction, &mut events);
            }
        }
        self.cut(events)
    }

    fn known(&mut self, task: &str, context: &str) {
        for (known, new) in [(&mut self.task, task), (&mut self.context, context)] {
            if !new.is_empty() {
                known.get_or_insert_with(|| new.to_owned());
            }
        }
    }

    /// Everything of a direct answer.
    fn direct(&mut self, message: Message, events: &mut Vec<Event>) {
        self.context = self.context.take().or_else(|| message.context.clone());
        // No state, and so none that goes with a refusal.
        let status = Status { state: TaskState::Completed, message: Some(message), timestamp: None };
        if let Some(ending) = self.refusal(&status, events) {
            events.push(Event::Ending(ending));
            return;
        }
        let (text, others) = status.message.map(|message| self.tools.split(message.parts, None)).unwrap_or_default();
        let text = text.join("\n");
        if others.is_empty() {
            events.push(Event::Ending(Ending::Message(text)));
            return;
        }
        events.extend((!text.is_empty()).then_some(Event::Text(text)));
        events.extend(others);
        events.push(Event::Ending(Ending::Complete));
    }

    fn whole(&mut self, task: Task, events: &mut Vec<Event>) {
        self.known(&task.id, &task.context);
        for artifact in task.artifacts {
            self.recall(&artifact.id);
            self.artifact(artifact, false, events);
        }
        let is_silent = self.artifacts.is_empty() && task.status.message.is_none();
        if task.status.state == TaskState::Completed && is_silent {
            // Some agents leave their answer in the history and nowhere else.
            let said = task.history.into_iter().rev().find(|message| message.role == Role::Agent);
            self.words(said.map(|message| message.parts).unwrap_or_default(), events);
        }
        self.status(task.status, None, events);
    }

    /// Remembers what an earlier turn took of an artifact.
    fn recall(&mut self, id: &str) {
        let is_known = self.artifacts.iter().any(|seen| seen.id == id);
        let old = self.before.0.iter().find(|seen| seen.id == id).filter(|_| !is_known);
        self.artifacts.extend(old.map(|seen| TakenArtifact { is_old: true, ..seen.clone() }));
    }

    /// What an artifact holds beyond what was taken of it.
    fn artifact(&mut self, artifact: Artifact, append: bool, events: &mut Vec<Event>) {
        let (texts, others) = self.tools.split(artifact.parts, artifact.name.as_deref());
        let text = texts.concat();
        let at = self.artifacts.iter().position(|seen| seen.id == artifact.id).unwrap_or_else(|| {
            self.artifacts.push(TakenArtifact {
                id: artifact.id,
                is_old: false,
                text: String::new(),
                others: Vec::new(),
            });
            self.artifacts.len() - 1
        });
        let seen = &mut self.artifacts[at];
        let new = if append { seen.add(text, others) } else { seen.replace(text, others) };
        if !new.text.is_empty() {
            // Artifacts are paragraphs of one answer; pieces of one artifact run on.
            let gap = if self.has_spoken && !new.goes_on { "\n\n" } else { "" };
            self.has_spoken = true;
            events.push(Event::Text(format!("{gap}{}", new.text)));
        }
        events.extend(new.others);
    }

    fn status(&mut self, status: Status, fraction: Option<f64>, events: &mut Vec<Event>) {
        self.state = Some(status.state);
        if let Some(ending) = self.refusal(&status, events) {
            events.push(Event::Ending(ending));
            return;
        }
        let id = status.message.as_ref().map(|message| message.id.clone());
        // A subscription begins with the task as it stands, whose status message was told before.
        let is_repeated = id.is_some() && id == self.said;
        self.said = id.or_else(|| self.said.take());
        let message = status.message.unwrap_or_else(empty);
        if !status.state.is_settled() {
            if !is_repeated {
                self.note(message, fraction, events);
            }
            return;
        }
        let ending = self.ending(status.state, message, events);
        events.push(Event::Ending(ending));
    }

    /// What is said while the work goes on.
    fn note(&mut self, message: Message, fraction: Option<f64>, events: &mut Vec<Event>) {
        let (texts, others) = self.tools.split(message.parts, None);
        let note = Some(texts.join("\n")).filter(|note| !note.trim().is_empty());
        if note.is_some() || fraction.is_some() {
            events.push(Event::Progress(Progress { fraction, note }));
        }
        events.extend(others);
    }

    fn ending(&mut self, state: TaskState, message: Message, events: &mut Vec<Event>) -> Ending {
        if state == TaskState::Completed {
            self.words(message.parts, events);
            return Ending::Complete;
        }
        let (texts, questions, others) = self.tools.question(message.parts);
        let words = texts.join("\n");
        let or = |otherwise: &str| if words.trim().is_empty() { otherwise.to_owned() } else { words.clone() };
        match state {
            TaskState::InputRequired => {
                events.extend(others);
                Ending::Question(Question { text: or("The agent needs to know more."), questions })
            }
            // Whoever asks can sign in where the agent says, and go on: no refusal is made up for that.
            // PolicyPart 4.2.
            TaskState::AuthRequired => {
                events.extend(others);
                let text = or("The agent wants you to sign in before it goes on.");
                let challenges = read_challenges(&message.metadata);
                Ending::SignIn(Box::new(SignIn { question: Question { text, questions }, challenges }))
            }
            TaskState::Rejected => Ending::declined(or("The agent declined.")),
            TaskState::Canceled => Ending::Canceled,
            _ => read_cause(&message.metadata).ending(or("The agent failed.")),
        }
    }

    /// The last words of an answer, unless they only repeat it.
    fn words(&mut self, parts: Vec<crate::model::Part>, events: &mut Vec<Event>) {
        let (texts, others) = self.tools.split(parts, None);
        let text = texts.join("\n");
        // Some agents put the whole answer into the artifact and into the last status as well.
        let is_repeated = self.has_spoken && self.artifacts.iter().any(|seen| seen.text.trim() == text.trim());
        if !text.trim().is_empty() && !is_repeated {
            let gap = if self.has_spoken { "\n\n" } else { "" };
            self.has_spoken = true;
            events.push(Event::Text(format!("{gap}{text}")));
        }
        events.extend(others);
    }

    /// The ending that a refusal comes to, if there is one in the status.
    fn refusal(&mut self, status: &Status, events: &mut Vec<Event>) -> Option<Ending> {
        match judge(status, &self.tools.data(), &self.canonical_host) {
            RefusalStatus::None => None,
            RefusalStatus::Refused(part) if self.believes => Some(Ending::Refused(part)),
            RefusalStatus::Refused(_) => {
                Some(Ending::failed("The agent declined, and its reasons are not believed for now."))
            }
            RefusalStatus::Unknown(envelope) => {
                events.push(Event::Part(policy::foreign(envelope)));
                Some(Ending::failed("The agent declined in a form that is not known here."))
            }
            RefusalStatus::Malformed(reason) => {
                tracing::warn!(reason, "a remote agent gave a malformed refusal");
                self.is_malformed = true;
                Some(Ending::failed("The agent declined, but its reason was malformed."))
            }
        }
    }

    /// Holds the answer to its bounds.
    fn cut(&mut self, events: Vec<Event>) -> Vec<Event> {
        let mut kept = Vec::with_capacity(events.len());
        for event in events {
            match &event {
                Event::Text(text) => self.bytes += text.len(),
                Event::Part(_) | Event::ToolCall(_) => self.pieces += 1,
                Event::Findings(_) | Event::Progress(_) | Event::Task(_) | Event::Ending(_) => {}
            }
            if self.bytes > REPLY_TEXT_BYTES_MAX || self.pieces > PARTS_MAX || self.artifacts.len() > PARTS_MAX {
                kept.push(Event::Ending(FailureCause::OverBound.ending("The agent gave an answer that is too large.")));
                return kept;
            }
            kept.push(event);
        }
        kept
    }
}

/// What an artifact holds beyond what was taken of it.
struct New {
    text: String,
    /// Whether the text goes on where the artifact's text was.
    goes_on: bool,
    others: Vec<Event>,
}

impl TakenArtifact {
    /// Appends the next pieces of the artifact (`append: true`); all of them are new.
    fn add(&mut self, text: String, others: Vec<Event>) -> New {
        let goes_on = !self.text.is_empty();
        self.text.push_str(&text);
        self.others.extend(others.iter().cloned());
        New { text, goes_on, others }
    }

    /// The artifact anew: the whole of what came in pieces, a later state of it, or something else.
    fn replace(&mut self, text: String, others: Vec<Event>) -> New {
        let same = others.iter().zip(&self.others).take_while(|(new, old)| new == old).count();
        let new_others = others[same..].to_vec();
        if others.len() >= self.others.len() {
            self.others = others;
        }
        // The same again, or an earlier state of it from a stream that was taken up in the middle.
        if self.text.starts_with(&text) {
            return New { text: String::new(), goes_on: true, others: new_others };
        }
        let (new_text, goes_on) = match text.strip_prefix(self.text.as_str()) {
            Some(rest) => (rest.to_owned(), !self.text.is_empty()),
            None => (text.clone(), false),
        };
        self.text = text;
        New { text: new_text, goes_on, others: new_others }
    }
}

fn empty() -> Message {
    Message {
        id: String::new(),
        role: Role::Agent,
        parts: Vec::new(),
        context: None,
        task: None,
        references: Vec::new(),
        extensions: Vec::new(),
        metadata: crate::model::Metadata::new(),
    }
}

impl std::fmt::Debug for TaskCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Taken").field("artifacts", &self.0.len()).finish()
    }
}

impl std::fmt::Debug for Unfolding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unfolding").field("state", &self.state).finish_non_exhaustive()
    }
}
