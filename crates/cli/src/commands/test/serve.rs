//! `forecourt test --serve`: a deployment as its tests see it, for a program that has tests of its own.

use std::io::Read;

use forecourt_acceptance::{TestFiles, TestHost};
use serde_json::json;

use super::bench::Bench;
use super::{recordings, told};
use crate::args::Test;
use crate::commands::serve::signals::Signals;
use crate::output::{Failure, Outcome, stdoutln};

/// Serves until standard input ends, as it does when the program that started this one is gone, however it ended.
pub(super) async fn run(test: &Test) -> Outcome {
    let recordings = recordings(test)?;
    let mut signals = Signals::listen()?;
    let bench =
        Bench::start(test, &TestFiles::default(), recordings.clone()).await.map_err(Failure::before_anything)?;
    stdoutln!("{}", json!(bench.places()));
    tokio::select! {
        _ = tokio::task::spawn_blocking(read_to_end) => {}
        () = signals.stop() => {}
    }
    let missing = bench.missing();
    bench.end().await;
    if let Some(recordings) = recordings.filter(|_| test.record) {
        told(&recordings, false)?;
    }
    match missing.as_slice() {
        [] => Ok(()),
        missing => Err(Failure::yours(format!("not recorded: {}", missing.join(", ")))
            .hint("`--record` asks for real, and keeps what is answered")),
    }
}

fn read_to_end() {
    let (mut input, mut bytes) = (std::io::stdin().lock(), [0; 1024]);
    while matches!(input.read(&mut bytes), Ok(read) if read > 0) {}
}
