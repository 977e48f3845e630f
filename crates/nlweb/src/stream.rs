//! An answer as it comes, in frames. NLWeb 6; design 24.

use std::sync::Arc;

use bytes::Bytes;
use forecourt_core::{Event, Language, LazyJson};
use forecourt_surface::sse;
use futures::{Stream, StreamExt};
use serde::Serialize;
use serde_json::{Map, json};
use tokio::time::Instant;

use crate::api_error::code;
use crate::response::{About, Outcome, Response, sentences};
use crate::section::NlwebSettings;
use crate::service::{QuestionUnderWay, Service, ended};
use crate::unfold::{End, Piece, Unfolding};
use crate::wire::Dialect;

/// The answer of an agent, from its first event to its last. Dropping it stops the agent.
pub(crate) fn frames(service: Arc<Service>, begun: QuestionUnderWay) -> impl Stream<Item = Bytes> + Send {
    let QuestionUnderWay { reply, mut about, language, at, .. } = begun;
    let whose = service.whose(reply.agent.clone(), None);
    // A model reads the words of an answer; a stream has no other place for them.
    about.style.summarize |= about.style.format == crate::wire::Format::ChatgptApp;
    async_stream::stream! {
        let mut unfolding = Unfolding::new(about.style, sentences(language.as_ref()), whose.shelf(&service.actions));
        let mut writer = Writer { about, settings: &service.settings, begun: false };
        let (usage, mut events) = (reply.usage, reply.events);
        while let Some(event) = events.next().await {
            match event {
                Event::Ending(ending) => {
                    let (last, end) = unfolding.finish(ending);
                    writer.about.tell(unfolding.findings());
                    writer.about.usage = usage.so_far();
                    let outcome = writer.close(end, unfolding.worded(), language.as_ref());
                    for frame in writer.end(last, outcome, at) {
                        yield frame;
                    }
                    return;
                }
                other => {
                    let is_told = matches!(other, Event::Findings(_));
                    let pieces = unfolding.take(other);
                    if is_told {
                        writer.about.tell(unfolding.findings());
                    }
                    // A stream begins once it is known to hold an answer, so that its first frame says
                    // what it is.
                    if (unfolding.is_answer() || !pieces.is_empty())
                        && let Some(frame) = writer.start("answer")
                    {
                        yield frame;
                    }
                    for piece in pieces {
                        yield writer.piece(piece);
                    }
                }
            }
        }
    }
}

/// What was written so far.
struct Writer<'a> {
    about: About,
    settings: &'a NlwebSettings,
    begun: bool,
}

impl Writer<'_> {
    /// The frame that begins the stream, once. NLWeb 6.1, `start`.
    fn start(&mut self, kind: &'static str) -> Option<Bytes> {
        if std::mem::replace(&mut self.begun, true) {
            return None;
        }
        let is_answer = kind == "answer" || kind == "Answer";
        let dialect = self.about.style.dialect;
        let kind = if dialect == Dialect::V0_54 && kind == "answer" { "Answer" } else { kind };
        let mut meta = self.about.beginning(kind, is_answer, self.settings);
        meta.insert("streaming".to_owned(), true.into());
        Some(self.frame("start", &json!({"_meta": meta})))
    }

    fn piece(&self, piece: Piece) -> Bytes {
        match (piece, self.about.style.dialect) {
            (Piece::Item(at, item), Dialect::V0_55) => self.frame("result", &PlacedItem { index: at, item }),
            (Piece::Item(_, item), Dialect::V0_54) => self.frame("result", &Results { results: [item] }),
            (Piece::Trouble(why), _) => self.failed(&Outcome::failure(code::INTERNAL_ERROR, why)),
        }
    }

    fn failed(&self, outcome: &Outcome) -> Bytes {
        let style = self.about.style;
        let response = Response { about: About::plain(style), outcome: outcome.clone() };
        self.frame("error", &response.to_value(self.settings))
    }

    fn close(&self, end: End, said: String, language: Option<&Language>) -> Outcome {
        match end {
            End::Answer => Outcome::Answer { results: Vec::new(), said },
            other => ended(other, language),
        }
    }

    /// The last frames: what is left of the answer, why it is none, and the state of the session.
    fn end(&mut self, last: Vec<Piece>, outcome: Outcome, at: Instant) -> Vec<Bytes> {
        let style = self.about.style;
        let mut frames: Vec<Bytes> = self.start(outcome.kind(style.dialect)).into_iter().collect();
        frames.extend(last.into_iter().map(|piece| self.piece(piece)));
        if outcome.is_failure() {
            frames.push(self.failed(&outcome));
        }
        self.about.millis = u64::try_from(at.elapsed().as_millis()).ok();
        let content = match &outcome {
            Outcome::Elicitation(_) => outcome.content(style),
            _ => Map::new(),
        };
        let response = Response { about: self.about.clone(), outcome };
        // The items were sent one by one; only a question, which is no item, stands in this frame.
        let mut complete = content;
        complete.insert("_meta".to_owned(), response.meta(self.settings).into());
        frames.push(self.frame("complete", &complete));
        frames
    }

    /// Frames of 0.54 have no names.
    fn frame(&self, name: &'static str, data: &impl Serialize) -> Bytes {
        // Writing JSON to memory does not fail.
        let data = serde_json::to_string(data).unwrap_or_default();
        match self.about.style.dialect {
            Dialect::V0_55 => sse::event(name, &data),
            Dialect::V0_54 => sse::message(&data),
        }
    }
}

/// An item at its place. NLWeb 6.1, `result`.
#[derive(Serialize)]
struct PlacedItem {
    index: usize,
    item: LazyJson,
}

/// The same for clients of 0.54.
#[derive(Serialize)]
struct Results {
    results: [LazyJson; 1],
}
