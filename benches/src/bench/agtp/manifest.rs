//! The manifest of 1,000 endpoints, against a bare text server on tokio and rustls that sends the same
//! bytes.

use super::{bare, daemon};
use crate::arm::{Arm, ECHO};
use crate::load::{self, Asked};
use crate::report::{compare, sides};
use crate::run::Run;

const ENDPOINTS: usize = 1_000;
const ENDPOINTS_SMOKE: usize = 20;

/// Compares the CPU of one manifest.
pub(in crate::bench) fn run(run: &Run) -> anyhow::Result<()> {
    let count = run.of(ENDPOINTS, ENDPOINTS_SMOKE);
    let endpoints = (0..count).map(|n| (format!("endpoints/room{n}.toml"), endpoint(n)));
    let fixed = ECHO.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let files: Vec<(String, String)> = fixed.chain(endpoints).collect();
    let (ours, tls) = daemon(Arm::forecourt("forecourt", &files)?)?;
    let request = bare("DISCOVER");
    let folder = ours.data()?;
    let answer = load::sample_within(ours.port, Some(&tls), &request)?;
    println!("{} bytes", answer.len());
    std::fs::write(folder.join(crate::baseline::ANSWER), answer)?;
    let again = || Arm::baseline_over("rustls", "agtp", &folder);
    let arms = [again()?, again()?, ours];
    compare(run, "", &sides(&arms, |_| Asked::of(request.clone(), "\"/rooms19/").within(&tls)))
}

fn endpoint(n: usize) -> String {
    format!(
        r#"[endpoint]
method = "BOOK"
path = "/rooms{n}/{{room_id}}"
description = "Books a room in house {n}."
required_scopes = ["booking:room"]
errors = ["upstream_timeout", "upstream_connection_error", "upstream_malformed_response",
          "upstream_authentication_failed", "upstream_error"]
[endpoint.semantic]
intent = "Book a room."
actor = "agent"
outcome = "A room is booked."
capability = "transaction"
confidence = 0.9
impact = "reversible"
is_idempotent = false
[endpoint.input_schema]
type = "object"
required = ["room_id"]
additionalProperties = false
[endpoint.input_schema.properties.room_id]
type = "string"
[endpoint.output_schema]
type = "object"
[endpoint.handler]
type = "external_service"
url = "https://rooms.example/{n}"
method = "POST"
"#
    )
}
