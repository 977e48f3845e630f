//! An answer of several values, as they come.

use async_stream::stream;
use forecourt_core::{Ending, Event, EventStream};
use futures::{Stream, StreamExt};
use serde_json::Value;

use super::reader::AnswerReader;

/// Plays an answer of several values. Ends with the first ending among them; `Err` from `values` is
/// an ending too, and an end without one is a failure.
pub(crate) fn play(
    values: impl Stream<Item = Result<Value, Ending>> + Send + 'static,
    mut reader: AnswerReader,
) -> EventStream {
    Box::pin(stream! {
        if let Err(ending) = reader.admit().await {
            yield Event::Ending(ending);
            return;
        }
        let (mut values, budget) = (std::pin::pin!(values), reader.watch());
        loop {
            let next = tokio::select! {
                biased;
                next = values.next() => next,
                ending = budget.used_up() => Some(Err(ending)),
            };
            let Some(value) = next else { break };
            let events = match value {
                Ok(value) => reader.read(value),
                // A whole answer needs no ending of its own.
                Err(Ending::Complete) => reader.end(),
                Err(ending) => vec![Event::Ending(ending)],
            };
            reader.count();
            for event in events {
                let is_last = matches!(event, Event::Ending(_));
                yield event;
                if is_last {
                    return;
                }
            }
        }
        // A program that stopped without an ending may have crashed: half an answer must not look whole.
        yield Event::Ending(Ending::unfinished());
    })
}
