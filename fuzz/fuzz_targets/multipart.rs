//! Forms for an agent over REST: the first line is the media type, and behind it is the body. What begins with a method
//! is a request of HTTP as it stands.

#![no_main]

use forecourt_fuzz::place::{Plan, at_place, shared};
use forecourt_fuzz::script::{Memory, http, requests};
use libfuzzer_sys::fuzz_target;

const REST: Plan = Plan { protocol: &forecourt_mentionable::PROTOCOL, section: "", routes: shared };
const HEAD: &[u8] = b"POST /~echo\nAccept: application/json\nContent-Type: ";

fuzz_target!(|input: &[u8]| at_place(&REST, |place| {
    let mut memory = Memory::of(&place.mounted);
    for text in requests(input) {
        let said = memory.fill(text);
        let is_whole = said.first().is_some_and(u8::is_ascii_uppercase);
        let end = said.iter().position(|byte| *byte == b'\n').unwrap_or(said.len());
        let (kind, body) = (&said[..end], said.get(end + 1..).unwrap_or_default());
        let text = if is_whole { said.clone() } else { [HEAD, kind, b"\n\n", body].concat() };
        let Some(request) = http(&text) else { continue };
        let answer = place.ask(request);
        assert!(answer.is_whole, "the answer has no end: {}", answer.shown());
        memory.hear(&answer);
    }
}));
