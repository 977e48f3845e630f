//! What agents propose: any parameters of PROPOSE are a proposal or a fault, and each proposal is held against a host
//! without any endpoint, twice alike.

#![no_main]

use forecourt_contract::{Caller, Dispatcher};
use forecourt_core::json;
use forecourt_synthesis::proposal::Proposal;
use forecourt_synthesis::settings::SynthesisSettings;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// Calls that a plan has at most.
const STEPS_MAX: usize = 64;

fuzz_target!(|bytes: &[u8]| {
    let Ok(Value::Object(parameters)) = json::parse(bytes) else { return };
    let Ok(proposal) = Proposal::read(&parameters) else { return };
    let (dispatcher, settings, caller) = (Dispatcher::default(), SynthesisSettings::default(), Caller::default());
    let [one, other] = [(); 2].map(|()| proposal.evaluate(&dispatcher, &settings, STEPS_MAX, &caller).map(drop));
    assert!(one.is_err(), "something was put together of nothing");
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
});
