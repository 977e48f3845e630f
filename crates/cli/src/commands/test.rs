//! `forecourt test`: a deployment served in this process, apart from the world, and asked what its tests ask.

mod bench;
mod environment;
mod serve;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::Arc;

use forecourt::telemetry::TelemetryLayers;
use forecourt_acceptance::file::{FOLDER, RECORDED};
use forecourt_acceptance::{Report, Selection, TestFiles, TestResult};
use forecourt_client::printable::{counted, has_styles, shell_word};
use forecourt_egress::recordings::{RecordingMode, Recordings};

use self::bench::Bench;
pub(super) use self::environment::StandInEnvironment;
use crate::args::Test;
use crate::commands::serve::logging;
use crate::commands::serve::signals::Signals;
use crate::output::{Failure, Outcome, stderrln, stdout, stdoutln};

/// The variable that asks for the log of the host, as `serve` knows it.
const LOG: &str = "FORECOURT_LOG";

/// Runs the tests. Exits with 0 when all hold, with 1 when one does not, with 2 when they can't be run.
pub(crate) async fn run(test: &Test) -> Outcome {
    if test.serve {
        return serve::run(test).await;
    }
    let files = TestFiles::read(&test.dir, &StandInEnvironment::new(), None).map_err(Failure::from);
    let files = files.map_err(Failure::before_anything)?;
    let selection = selection(test);
    if !files.tests.iter().any(|test| selection.takes(test)) {
        return Err(nothing(test));
    }
    let recordings = recordings(test)?;
    // From here on a signal waits until what was begun can be ended, and what was made is removed.
    let mut signals = Signals::listen()?;
    let bench = Bench::start(test, &files, recordings.clone()).await.map_err(Failure::before_anything)?;
    let outcome = tokio::select! {
        outcome = run_all(&files, &bench, &selection) => outcome,
        () = signals.stop() => Err(Failure::yours("stopped before all tests were run").before_anything()),
    };
    bench.end().await;
    let report = outcome?;
    if let Some(file) = &test.junit {
        let wrong = |error: std::io::Error| Failure::yours(format!("{} cannot be written: {error}", file.display()));
        std::fs::write(file, report.junit()).map_err(wrong)?;
    }
    stdoutln!("{}", report.totals());
    let summary = report.summary();
    // What was not judged was not asked for either, and another run needs it.
    let is_whole = test.only.is_empty() && summary.failed == 0 && summary.unjudged == 0;
    let recorded = recordings.filter(|_| test.record).map_or(Ok(()), |recordings| told(&recordings, is_whole));
    recorded.and(ending(&report))
}

fn selection(test: &Test) -> Selection {
    let dir = shell_word(&test.dir.display().to_string());
    let how_to_record = format!("`forecourt test {dir} --record` asks for real, and keeps what is answered");
    let judge = test.judge.as_ref().map(|judge| judge.trim_start_matches('@').to_owned());
    Selection { only: test.only.clone(), judge, how_to_record }
}

fn nothing(test: &Test) -> Failure {
    let folder = test.dir.join(FOLDER);
    match test.only.is_empty() {
        true => Failure::usage(format!("there is no test in {}", folder.display()))
            .hint("a file such as tests/first.toml has them: [[test]] with `name`, `say` and [test.expect]"),
        false => Failure::usage(format!("no test in {} is called so", folder.display())),
    }
}

/// What answers for models and other services. `None`: they do themselves.
fn recordings(test: &Test) -> Result<Option<Arc<Recordings>>, Failure> {
    let mode = match (test.live, test.record) {
        (true, _) => return Ok(None),
        (false, true) => RecordingMode::Record,
        (false, false) => RecordingMode::Replay,
    };
    let opened = Recordings::open(&test.dir.join(FOLDER).join(RECORDED), mode);
    opened.map(|recordings| Some(Arc::new(recordings))).map_err(Failure::usage)
}

async fn run_all(files: &TestFiles, bench: &Bench, selection: &Selection) -> Result<Report, Failure> {
    let asked: BTreeSet<&str> = files.tests.iter().filter_map(|test| test.agent.as_deref()).collect();
    let known = bench.agents();
    // Found here and not before: agents of hubs are known once the deployment is built.
    if let Some(agent) = asked.into_iter().chain(selection.judge.as_deref()).find(|agent| !known.contains(*agent)) {
        let all = known.iter().map(|handle| format!("@{handle}")).collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(format!("there is no agent @{agent}")).hint(format!("there is {all}")));
    }
    let unset = bench.unset();
    if !unset.is_empty() {
        stderrln!("note: not set, and not needed here: {}", unset.join(", "));
    }
    let styles = has_styles(std::io::stdout().is_terminal());
    let mut tell = |result: &TestResult| stdout(format_args!("{}", result.text(styles)));
    let report = forecourt_acceptance::run(files, bench, selection, &mut tell).await;
    if report.summary().failed > 0 && std::env::var_os(LOG).is_none() {
        stderrln!("note: {LOG}=info shows what the host says of it");
    }
    Ok(report)
}

/// Says what was recorded, and removes what is not needed any more.
fn told(recordings: &Recordings, is_whole: bool) -> Outcome {
    let removed = if is_whole { recordings.prune() } else { 0 };
    let also = if removed == 0 {
        String::new()
    } else {
        format!(", {} removed that no test needs", counted(removed as u64, "recording"))
    };
    stderrln!("{} recorded{also}", counted(recordings.recorded() as u64, "request"));
    match recordings.problems() {
        problems if problems.is_empty() => Ok(()),
        problems => Err(Failure::yours(problems.join("\n"))),
    }
}

fn ending(report: &Report) -> Outcome {
    match report.summary().failed {
        0 => Ok(()),
        1 => Err(Failure::yours("one test failed")),
        count => Err(Failure::yours(format!("{count} tests failed"))),
    }
}

/// Shows the log of the host, where somebody asks for it by the variable that `serve` knows, too.
fn log(deployment: &forecourt::Deployment) -> Outcome {
    match std::env::var_os(LOG) {
        Some(_) => logging::start(deployment.log(), TelemetryLayers { traces: None, logs: None }),
        None => Ok(()),
    }
}
