//! Manifests and documents of others: any bytes end in findings, a document or a fault.

#![no_main]

use forecourt_agtp_client::manifest::check;
use forecourt_core::Timestamp;
use forecourt_identity::agents::AgentDocument;
use forecourt_identity::genesis::Genesis;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    drop(check(bytes, Timestamp::UNIX_EPOCH));
    drop(AgentDocument::parse(bytes));
    if let Ok(genesis) = Genesis::parse(bytes, None) {
        assert!(Genesis::parse(bytes, Some(genesis.id())).is_ok());
    }
});
