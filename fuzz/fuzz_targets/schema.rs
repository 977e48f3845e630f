//! Schemas of strangers, on the first line, and values to hold against them: nothing panics or takes long.

#![no_main]

use forecourt_contract::Schema;
use forecourt_core::json;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Some((source, value)) = text.split_once('\n') else { return };
    let (Ok(source), Ok(value)) = (json::parse(source.as_bytes()), json::parse(value.as_bytes())) else { return };
    let again = Schema::compile(source.clone());
    if let Ok(schema) = Schema::compile(source) {
        assert_eq!(Some(schema.check(&value)), again.ok().map(|again| again.check(&value)));
        drop(schema.check(schema.source()));
    }
});
