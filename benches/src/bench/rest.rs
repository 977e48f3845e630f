//! GET markdown from `echo`, against an axum handler that negotiates and answers the same bytes.

use anyhow::ensure;

use crate::arm::{Arm, ECHO};
use crate::load::{Asked, sample};
use crate::report::{compare, sides};
use crate::run::Run;

/// Bytes by which the heads of two answers may differ.
const HEADERS_DIFFER_MAX: usize = 64;

/// Runs the comparison.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let arms =
        [Arm::baseline("axum", "rest")?, Arm::baseline("axum again", "rest")?, Arm::forecourt("forecourt echo", ECHO)?];
    let request = |port: u16| {
        format!(
            "GET /~echo?user=hello+from+the+other+side HTTP/1.1\r\nHost: demo.localhost:{port}\r\n\
             Accept: text/markdown, text/html;q=0.5\r\nUser-Agent: bench\r\n\r\n"
        )
    };
    let [theirs, ours] = [sample(arms[0].port, &request(arms[0].port))?, sample(arms[2].port, &request(arms[2].port))?];
    let (their_head, their_body) = theirs.split_once("\r\n\r\n").unwrap_or_default();
    let (our_head, our_body) = ours.split_once("\r\n\r\n").unwrap_or_default();
    ensure!(their_body == our_body, "the bodies differ: {their_body:?}, {our_body:?}");
    let differ = their_head.len().abs_diff(our_head.len());
    ensure!(differ <= HEADERS_DIFFER_MAX, "the heads differ by {differ} bytes:\n{their_head}\n\n{our_head}");
    compare(run, "", &sides(&arms, |port| Asked::of(request(port), "hello")))
}
