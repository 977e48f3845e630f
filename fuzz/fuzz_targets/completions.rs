//! What providers of completions stream: any events come to a reply or to an ending, within bounds.

#![no_main]

use forecourt_agents::sse_reader::SseReader;
use forecourt_completions::draft::{ModelReplyDraft, ReplyFinish};
use forecourt_completions::limits::TOOL_CALLS_MAX;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const EVENT_BYTES_MAX: usize = 64 * 1024;

fuzz_target!(|bytes: &[u8]| {
    for starts_thinking in [false, true] {
        read(bytes, starts_thinking);
    }
});

fn read(bytes: &[u8], starts_thinking: bool) {
    let (mut reader, mut draft) = (SseReader::new(EVENT_BYTES_MAX), ModelReplyDraft::new(starts_thinking));
    if reader.push(bytes).is_err() {
        return;
    }
    let mut shown = 0;
    while let Some(event) = reader.next_event() {
        if event.data == "[DONE]" {
            draft.done();
            break;
        }
        let Ok(chunk) = serde_json::from_str::<Value>(&event.data) else { return };
        let Ok(content) = draft.take(&chunk) else { return };
        shown += content.text.len();
    }
    assert!(shown + draft.rest().len() <= draft.written, "more is shown than was written");
    if let Ok(ReplyFinish::Calls(round)) = draft.finish() {
        assert!((1..=TOOL_CALLS_MAX).contains(&round.calls.len()));
        assert!(round.calls.iter().all(|call| !call.id.is_empty()), "a call without a name for its result");
        assert_eq!(round.message()["tool_calls"].as_array().map(Vec::len), Some(round.calls.len()));
    }
}
