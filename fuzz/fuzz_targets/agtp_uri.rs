//! Addresses of AGTP: what is read is read again from what it is written as, and fits a request line.

#![no_main]

use forecourt_agtp_wire::uri::AgtpUri;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(uri) = AgtpUri::parse(text) else { return };
    assert_eq!(AgtpUri::parse(&uri.to_string()).as_ref(), Ok(&uri));
    assert!(uri.target().is_none_or(|target| target.starts_with('/') && target.is_ascii()));
});
