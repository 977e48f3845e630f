//! Refusals: what is read is written and read again as the same, and no header value breaks out.

#![no_main]

use forecourt_core::policy::RefusalKind;
use forecourt_core::{PolicyPart, json};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let Ok(Value::Object(fields)) = json::parse(bytes) else { return };
    let Ok(part) = PolicyPart::from_json(fields) else { return };
    let _ = part.validate("agent.example");
    if let RefusalKind::Unauthorized { auth_challenges } = &part.kind {
        for header in auth_challenges.iter().map(|challenge| challenge.encode().expect("read challenges are valid")) {
            assert!(header.bytes().all(|b| b == b'\t' || (0x20..0x7f).contains(&b)), "{header}");
        }
    }
    assert_eq!(PolicyPart::from_json(part.to_json()), Ok(part));
});
