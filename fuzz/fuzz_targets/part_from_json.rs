//! Parts: what is read is written and read again as the same.

#![no_main]

use forecourt_core::{Part, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(value) = json::parse(bytes) else { return };
    if let Ok(part) = serde_json::from_value::<Part>(value) {
        let written = serde_json::to_value(&part).expect("a part has a JSON form");
        assert_eq!(serde_json::from_value::<Part>(written).ok(), Some(part));
    }
});
