//! The order of checks: what is said first of a request with several faults. Base 5; AGTP-API 11, 13.2.

use super::support::{code, server};

#[tokio::test]
async fn s13_2_each_check_comes_before_the_next() {
    let server = server("[endpoints.methods]\ndisallow = [\"PURCHASE\"]").await;
    let chef = server.id("chef");
    let known = format!("\r\nAgent-ID: {chef}\r\nAuthority-Scope: documents:query");
    let unknown = "\r\nAgent-ID: nobody";
    // Each line has its own fault and those of all lines below it that can be had together.
    for (head, body, wanted) in [
        (format!("QEURY /order/\r\nDelegation-Chain: x{unknown}"), "[", (501, "delegation-not-supported")),
        (format!("QEURY /order#x{unknown}"), "[", (400, "invalid-request-line")),
        (format!("QEURY /order/{unknown}"), "[", (400, "invalid-body")),
        (format!("QEURY /order/{unknown}"), "", (459, "method-violation")),
        (format!("QEURY /agents/nobody{unknown}"), "", (459, "method-violation")),
        (format!("BOOK /agents/nobody{unknown}"), "", (404, "agent-handle-not-found")),
        (format!("BOOK /order/5{unknown}"), "", (460, "endpoint-violation")),
        (format!("BOOK /nowhere{unknown}"), "", (404, "endpoint-not-found")),
        (format!("PURCHASE /rooms/7?n=x{unknown}"), "", (401, "agent-unauthenticated")),
        (format!("PURCHASE /rooms/7?n=x{known}"), "", (405, "method-refused-by-policy")),
        (format!("DESCRIBE /rooms/7?n=x{known}"), "", (405, "method-not-allowed")),
        (format!("BOOK /rooms/7?n=x{known}"), "", (422, "input-validation-failed")),
        (format!("BOOK /rooms/7?n=7{known}"), "", (455, "scope-violation")),
    ] {
        let answer = server.ask(&head, body).await;
        assert_eq!(code(&answer), (wanted.0, wanted.1.to_owned()), "{head}");
    }
    assert_eq!(server.ask_as_chef("BOOK /rooms/7?n=7", "").await.start.code, 200);
}
