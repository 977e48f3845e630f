//! JSON from strangers: what is read, the usual reader reads alike, and its canonical form stays.

#![no_main]

use forecourt_core::json::{canonical, parse};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let Ok(value) = parse(bytes) else { return };
    assert_eq!(serde_json::from_slice::<Value>(bytes).ok().as_ref(), Some(&value));
    if let Ok(once) = canonical(&value) {
        let again = parse(&once).expect("a canonical form is JSON");
        assert_eq!(canonical(&again), Ok(once));
    }
});
