//! Bodies of questions for NLWeb: each answer is JSON or a stream of events that are. What begins with a method is a
//! request of HTTP as it stands.

#![no_main]

use forecourt_fuzz::mutation::mutate;
use forecourt_fuzz::place::{Plan, at_place, shared};
use forecourt_fuzz::rpc::events;
use forecourt_fuzz::script::{Memory, http, requests};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use serde_json::Value;

const NLWEB: Plan = Plan { protocol: &forecourt_nlweb::PROTOCOL, section: "", routes: shared };
const HEAD: &[u8] = b"POST /~chef/ask\nContent-Type: application/json\n\n";

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| { mutate(data, size, max_size, seed) });

fuzz_target!(|input: &[u8]| at_place(&NLWEB, |place| {
    let mut memory = Memory::of(&place.mounted);
    for text in requests(input) {
        let said = memory.fill(text);
        let is_whole = said.first().is_some_and(u8::is_ascii_uppercase);
        let Some(request) = http(&if is_whole { said } else { [HEAD, &said].concat() }) else { continue };
        let answer = place.ask(request);
        assert!(answer.is_whole, "the answer has no end: {}", answer.shown());
        memory.hear(&answer);
        if answer.kind() == Some("text/event-stream") {
            for data in events(&answer.body) {
                let json: Value = serde_json::from_str(&data).unwrap_or_else(|_| panic!("no JSON: {data}"));
                memory.learn(&json);
            }
        }
    }
}));
