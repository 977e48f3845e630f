//! Bodies of JSON-RPC for A2A, each at the hub's `echo`, as a client of 0.3 or of 1.0 sends it; a version before the
//! body counts instead. What begins with a method is a request of HTTP as it stands: the other bindings, other paths.

#![no_main]

use forecourt_fuzz::mutation::mutate;
use forecourt_fuzz::place::{Plan, at_place, shared};
use forecourt_fuzz::rpc;
use forecourt_fuzz::script::{Memory, http, requests};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

const A2A: Plan = Plan { protocol: &forecourt_a2a::PROTOCOL, section: "", routes: shared };

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| { mutate(data, size, max_size, seed) });

fuzz_target!(|input: &[u8]| at_place(&A2A, |place| {
    let mut memory = Memory::of(&place.mounted);
    for text in requests(input) {
        let said = memory.fill(text);
        if said.first().is_some_and(u8::is_ascii_uppercase) {
            if let Some(request) = http(&said) {
                memory.hear(&place.ask(request));
            }
            continue;
        }
        let begin = said.iter().position(|byte| b"{[".contains(byte)).unwrap_or(said.len());
        let (version, body) = said.split_at(begin);
        let version = match version.trim_ascii() {
            // Only its methods have a slash.
            b"" if method(body).contains('/') => b"0.3",
            b"" => b"1.0",
            version => version,
        };
        let head = b"POST /a2a/echo\nContent-Type: application/json\nA2A-Version: ";
        let Some(request) = http(&[head, version, b"\n\n", body].concat()) else { continue };
        let answer = place.ask(request);
        assert!(answer.is_whole, "the answer has no end: {}", answer.shown());
        memory.hear(&answer);
        let messages = rpc::messages(body, &answer);
        messages.iter().for_each(|message| memory.learn(message));
        rpc::responses(body, &answer, &messages);
    }
}));

fn method(body: &[u8]) -> String {
    let body = serde_json::from_slice::<serde_json::Value>(body).unwrap_or_default();
    body["method"].as_str().unwrap_or_default().to_owned()
}
