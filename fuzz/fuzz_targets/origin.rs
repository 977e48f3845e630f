//! Comparing hosts: a URL and a host, on two lines.

#![no_main]

use forecourt_core::origin::{is_bound_to, normalize};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (url, host) = text.split_once('\n').unwrap_or((text, "agent.example"));
    if is_bound_to(url, host) {
        let normal = normalize(host).expect("a host that something is bound to");
        assert_eq!(normalize(&normal).as_deref(), Some(normal.as_str()));
        assert!(is_bound_to(url, &normal));
        assert!(is_bound_to(&format!("https://{normal}/"), host));
    }
});
