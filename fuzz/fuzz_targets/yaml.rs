//! YAML of strangers: any bytes are a value or a reason, and what is written is read again.

#![no_main]

use forecourt_core::yaml::{YamlBounds, parse, write};
use libfuzzer_sys::fuzz_target;

const BOUNDS: YamlBounds = YamlBounds { nodes_max: 50_000, repeated_max: 10_000 };

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = parse(bytes, BOUNDS) {
        let written = write(&value).expect("what JSON can say can be written");
        assert_eq!(parse(written.as_bytes(), BOUNDS), Ok(value), "{written}");
    }
});
