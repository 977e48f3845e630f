//! Requests of HTTP to the gateway of AGTP: each answer has a code of that wire, and none says that something broke.
//! `@guest@` stands for the Agent-ID of an agent that may negotiate.

#![no_main]

use forecourt_fuzz::agtp::{GATEWAY, check};
use forecourt_fuzz::mutation::mutate;
use forecourt_fuzz::place::at_place;
use forecourt_fuzz::script::{Memory, http, requests};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| { mutate(data, size, max_size, seed) });

fuzz_target!(|input: &[u8]| at_place(&GATEWAY, |place| {
    let mut memory = Memory::of(&place.mounted);
    for text in requests(input) {
        let Some(request) = http(&memory.fill(text)) else { continue };
        let answer = place.ask(request);
        assert!(answer.is_whole, "{}", answer.shown());
        let code = answer.field("agtp-status-code").and_then(|code| code.parse().ok());
        let code = code.unwrap_or_else(|| panic!("no code: {}", answer.shown()));
        check(code, answer.kind(), &answer.body);
        memory.hear(&answer);
    }
}));
