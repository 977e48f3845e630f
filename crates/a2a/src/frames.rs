//! Frames turn the events of a task into the items of a stream.
//!
//! The words of an answer are one artifact in pieces, which is closed by an update that holds all of
//! it: some clients show the last update and nothing else (design 20).

use forecourt_core::reply::ReplyAccumulator;
use forecourt_core::{CollectedReply, Ending, Event, Progress, Task, TaskState};
use forecourt_host::{Host, TaskPermit};
use serde_json::json;

use crate::card::names::TOOL_EVENTS;
use crate::model::{Artifact, ArtifactUpdate, Content, Item, Metadata, Part, Status, StatusUpdate};
use crate::parts::{FileBase, PartPlacement, answer, fragment, near, tool_event};
use crate::policy::{self, OfferOrder};
use crate::view;

/// What has been said of a task so far.
pub(crate) struct Frames<'a> {
    host: &'a Host,
    permit: &'a TaskPermit,
    /// As the reader was shown it first.
    task: &'a Task,
    /// What the addresses of files begin with.
    origin: &'a str,
    /// In which order the reader is shown ways to pay.
    offers: OfferOrder,
    /// The answer as it is read later.
    gathered: ReplyAccumulator,
    /// Whether anything of the artifact of the answer was said.
    is_begun: bool,
    /// How many artifacts of their own there were.
    own: u64,
}

impl<'a> Frames<'a> {
    pub(crate) fn new(
        host: &'a Host,
        permit: &'a TaskPermit,
        task: &'a Task,
        origin: &'a str,
        offers: OfferOrder,
    ) -> Self {
        Self { host, permit, task, origin, offers, gathered: ReplyAccumulator::default(), is_begun: false, own: 0 }
    }

    /// The items that an event comes to. `number` is that of the event.
    pub(crate) async fn items(&mut self, number: u64, event: Event) -> Vec<Item> {
        match event {
            // No piece at all: an artifact has at least one part.
            Event::Text(text) if text.is_empty() => Vec::new(),
            Event::Text(text) => {
                self.gathered.take(Event::Text(text.clone()));
                vec![self.piece(fragment(text))]
            }
            Event::Part(part) => {
                let home = FileBase { origin: self.origin, task: &self.task.id };
                self.gathered.take(Event::Part(part.clone()));
                // Counted as `view::made` counts them: who comes back would otherwise have one artifact under two ids.
                match home.place(near(self.permit, part).await, self.own + 1) {
                    Some(PartPlacement::Answer(part)) => vec![self.piece(part)],
                    Some(PartPlacement::Own(artifact)) => {
                        self.own += 1;
                        vec![self.made(artifact)]
                    }
                    Some(PartPlacement::Tool(event)) => vec![self.at_work(number, vec![event], Metadata::new())],
                    None => Vec::new(),
                }
            }
            Event::ToolCall(call) => vec![self.at_work(number, vec![tool_event(&call)], Metadata::new())],
            // A2A has no words for what a search says about its answer.
            Event::Findings(_) => Vec::new(),
            Event::Progress(progress) => vec![self.progress(number, progress)],
            Event::Task(_) => Vec::new(),
            Event::Ending(ending) => self.ending(number, ending).await,
        }
    }

    /// Takes note of an event that the reader has seen already.
    pub(crate) async fn pass(&mut self, number: u64, event: Event) {
        match event {
            Event::Ending(_) => *self = Self::new(self.host, self.permit, self.task, self.origin, self.offers),
            other => drop(self.items(number, other).await),
        }
    }

    /// The next piece of the answer: the first one replaces, the others append.
    fn piece(&mut self, part: Part) -> Item {
        let append = std::mem::replace(&mut self.is_begun, true);
        self.update(answer(vec![part]), append, false)
    }

    /// The artifact of the answer, whole.
    fn whole(&mut self) -> Artifact {
        let home = FileBase { origin: self.origin, task: &self.task.id };
        let parts = std::mem::take(&mut self.gathered).finish(Ending::Complete).parts;
        let said = parts.into_iter().filter_map(|part| match home.place(part, 0)? {
            PartPlacement::Answer(part) => Some(part),
            PartPlacement::Own(_) | PartPlacement::Tool(_) => None,
        });
        answer(said.collect())
    }

    fn made(&self, artifact: Artifact) -> Item {
        self.update(artifact, false, true)
    }

    fn update(&self, artifact: Artifact, append: bool, last_chunk: bool) -> Item {
        let (task, context) = (self.task.id.expose().to_owned(), view::context(self.task));
        Item::Artifact(ArtifactUpdate { task, context, artifact, append, last_chunk, metadata: Metadata::new() })
    }

    fn progress(&self, number: u64, progress: Progress) -> Item {
        let fraction = progress.fraction.map(|fraction| json!({"progress": fraction}));
        let metadata = fraction.map(|own| Metadata::from_iter([("mentionable".to_owned(), own)]));
        self.at_work(number, progress.note.map(Part::text).into_iter().collect(), metadata.unwrap_or_default())
    }

    /// The task is being worked on, and there is something to say about it.
    fn at_work(&self, number: u64, parts: Vec<Part>, metadata: Metadata) -> Item {
        let shows_tools = parts.iter().any(|part| matches!(part.content, Content::Data(_)));
        let extensions = if shows_tools { vec![TOOL_EVENTS.to_owned()] } else { Vec::new() };
        let message = (!parts.is_empty()).then(|| {
            let said = view::said(self.task, &format!("e{number}"), parts);
            crate::model::Message { extensions, ..said }
        });
        // Of the task and not of this stream, so that everybody who follows is told the same.
        let timestamp = Some(self.task.updated_at);
        self.moved(Status { state: TaskState::Working, message, timestamp }, false, metadata)
    }

    fn moved(&self, status: Status, is_final: bool, metadata: Metadata) -> Item {
        Item::Status(self.move_to(status, is_final, metadata))
    }

    fn move_to(&self, status: Status, is_final: bool, metadata: Metadata) -> StatusUpdate {
        let (task, context) = (self.task.id.expose().to_owned(), view::context(self.task));
        StatusUpdate { task, context, status, is_final, metadata }
    }

    /// Closes the answer and says how it ended. Nothing follows (PolicyPart 3.5), unless it was a
    /// question, or a refusal, that was answered since.
    async fn ending(&mut self, number: u64, ending: Ending) -> Vec<Item> {
        let mut items = Vec::new();
        let whole = self.whole();
        if std::mem::take(&mut self.is_begun) {
            items.push(self.made(whole));
        }
        if let Ending::Refused(part) = &ending {
            // Before the status: nothing may follow a refusal (PolicyPart 3.5).
            let part = policy::outgoing(part, self.offers);
            items.extend(policy::mandates(&part).into_iter().map(|mandate| self.made(mandate)));
        }
        // The next turn counts its artifacts from 1, as they are counted when the task is read.
        self.own = 0;
        // A question or refusal that was answered since is replayed as what it was, and not as the task stands now.
        let is_last = !self.permit.last_event().await.is_ok_and(|last| last > number);
        let (status, metadata) = self.status_after(ending, is_last).await;
        items.push(self.moved(status, is_last, metadata));
        items
    }

    /// The status of the task after an ending. After the last one that is as the task itself says, so
    /// that a reader who asks again is told the same.
    async fn status_after(&self, ending: Ending, is_last: bool) -> (Status, Metadata) {
        let task = self.permit.reload().await.map_or_else(|_| self.task.clone(), |permit| permit.task().clone());
        if is_last && task.state.is_settled() {
            return (view::status(&task, self.offers), view::usage(&task));
        }
        let state = TaskState::after(&ending);
        let outcome = Some(CollectedReply::new(Vec::new(), ending));
        (view::status(&Task { state, outcome, ..task }, self.offers), Metadata::new())
    }
}
