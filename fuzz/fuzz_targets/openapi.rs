//! OpenAPI documents of strangers: any bytes are imported or refused, and what is imported has one fate
//! for each operation.

#![no_main]

use forecourt_openapi::limits::OPERATIONS_MAX;
use forecourt_openapi::{ImportChoices, Options, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for is_rehosted in [false, true] {
        let choices = ImportChoices { base_url: Some("https://api.example".to_owned()), ..ImportChoices::default() };
        let options = Options { choices, is_rehosted, ..Options::default() };
        if let Ok(imported) = import(bytes, &options) {
            assert!((1..=OPERATIONS_MAX).contains(&imported.operations.len()));
        }
    }
});
