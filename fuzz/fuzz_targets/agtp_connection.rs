//! The bytes of connections of AGTP, as they are within TLS: each answer is a response of it, and none says that
//! something broke. `@guest@` stands for the Agent-ID of an agent that may negotiate.

#![no_main]

use std::cell::{Cell, RefCell};

use forecourt_fuzz::agtp::{Line, check};
use forecourt_fuzz::script::requests;
use libfuzzer_sys::fuzz_target;

/// Inputs after which another host begins.
const INPUTS_MAX: u32 = 500;

thread_local! {
    static LINE: RefCell<Line> = RefCell::new(Line::open());
    static INPUTS: Cell<u32> = const { Cell::new(0) };
}

fuzz_target!(|input: &[u8]| {
    let inputs = INPUTS.get() + 1;
    INPUTS.set(inputs % INPUTS_MAX);
    if inputs == INPUTS_MAX {
        LINE.set(Line::open());
    }
    LINE.with_borrow(|line| {
        let mut memory = line.memory.clone();
        for said in requests(input) {
            for response in line.responses(&memory.fill(said)) {
                let json = check(response.start.code, response.field("Content-Type"), &response.body);
                json.iter().for_each(|json| memory.learn(json));
            }
        }
    });
});
