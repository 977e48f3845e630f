//! Mentions: what is found is written in the text.

#![no_main]

use forecourt_core::{Domain, first_mention};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for own in ["demo.localhost", "xn--bcher-kva.example"] {
        let own = Domain::parse(own).expect("a domain");
        if let Some(handle) = first_mention(text, &own) {
            assert!(text.to_ascii_lowercase().contains(&format!("@{handle}")));
        }
    }
});
