//! One test after another.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio::time::timeout;

use crate::answer::Answer;
use crate::expectation::{Mismatch, mismatches};
use crate::file::{TestCase, TestFiles, Turn};
use crate::judge::judge;
use crate::report::{Report, Shortfall, TestResult, Verdict};
use crate::settings::SenderSettings;
use crate::wire::{Conversation, Peer, Wire};

/// A deployment that is tested: it is served, and whoever serves it knows what no caller is told.
pub trait TestHost: Send + Sync {
    /// Whom to ask: an agent, the default agent where none is named. Nobody knows who asks yet.
    fn peer(&self, agent: Option<&str>) -> Peer;

    /// What proves that somebody is `sender`. `None`: nothing does.
    ///
    /// # Errors
    /// A sentence: nobody is believed who says so.
    fn bearer<'a>(&'a self, sender: &'a SenderSettings) -> BoxFuture<'a, Result<Option<String>, String>>;

    /// A test begins.
    fn begin(&self);

    /// The calls of the test under way that were not recorded.
    fn missing(&self) -> Vec<String>;

    /// What models have cost until now, in millionths of a unit of money.
    fn cost_micros(&self) -> u64;
}

/// Which tests are run, and how.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Words of which one at least is in the name of each test that is run; all tests where there are none.
    pub only: Vec<String>,
    /// The agent that judges; without one nothing is judged.
    pub judge: Option<String>,
    /// What to do about calls that were not recorded.
    pub how_to_record: String,
}

/// Runs the tests in their order, each over its protocols, and tells of each as soon as it is over.
pub fn run<'a>(
    files: &'a TestFiles,
    host: &'a dyn TestHost,
    selection: &'a Selection,
    tell: &'a mut (dyn FnMut(&TestResult) + Send),
) -> BoxFuture<'a, Report> {
    Box::pin(async move {
        let mut report = Report::default();
        for test in files.tests.iter().filter(|test| selection.takes(test)) {
            for wire in &test.over {
                let result = run_one(test, *wire, host, selection).await;
                tell(&result);
                report.results.push(result);
            }
        }
        report
    })
}

impl Selection {
    /// Whether a test is among those that are run.
    pub fn takes(&self, test: &TestCase) -> bool {
        let is_named = |word: &String| test.name.to_lowercase().contains(&word.to_lowercase());
        self.only.is_empty() || self.only.iter().any(is_named)
    }
}

async fn run_one(test: &TestCase, wire: Wire, host: &dyn TestHost, selection: &Selection) -> TestResult {
    let begun = Instant::now();
    let mut result = TestResult {
        name: test.name.clone(),
        file: test.file.clone(),
        line: test.line,
        wire,
        verdict: Verdict::Passed,
        elapsed: Duration::ZERO,
        unjudged: 0,
        cost_micros: 0,
    };
    host.begin();
    let cost = host.cost_micros();
    let talk = talk(test, wire, host, selection, &mut result.unjudged);
    let late = |_| {
        let seconds = test.timeout.as_secs();
        Err(vec![Shortfall::at(test.line, Mismatch::new(format!("an answer within {seconds} s"), "none came"))])
    };
    let outcome = timeout(test.timeout, talk).await.unwrap_or_else(late);
    result.verdict = match (outcome, host.missing()) {
        (Ok(()), missing) if missing.is_empty() => Verdict::Passed,
        (Err(shortfalls), missing) if missing.is_empty() => Verdict::Failed(shortfalls),
        // Whatever else does not hold comes of this.
        (_, missing) => {
            let told = |what: &String| {
                let expected = format!("{what} to be recorded");
                Shortfall::at(test.line, Mismatch::new(expected, format!("it is not: {}", selection.how_to_record)))
            };
            Verdict::Failed(missing.iter().map(told).collect())
        }
    };
    result.cost_micros = host.cost_micros().saturating_sub(cost);
    result.elapsed = begun.elapsed();
    result
}

/// Has the conversation of a test. The first turn of which something does not hold is the last: what follows it would
/// fail for that alone.
async fn talk(
    test: &TestCase,
    wire: Wire,
    host: &dyn TestHost,
    selection: &Selection,
    unjudged: &mut usize,
) -> Result<(), Vec<Shortfall>> {
    let whole = |expected: &str, why: String| vec![Shortfall::at(test.line, Mismatch::new(expected, why))];
    let bearer = host.bearer(&test.sender).await.map_err(|why| whole("a caller that is believed", why))?;
    let peer = Peer { bearer, language: test.language.clone(), ..host.peer(test.agent.as_deref()) };
    let mut conversation = Conversation::new(wire, peer);
    for turn in &test.turns {
        let cost = host.cost_micros();
        let answer = conversation.say(&turn.say).await.map_err(|why| whole("an answer", why))?;
        let answer = Answer { cost_micros: host.cost_micros().saturating_sub(cost), ..answer };
        let mut found = mismatches(turn, &answer);
        match (&turn.expect.judge, &selection.judge) {
            (Some(_), None) => *unjudged += 1,
            // What does not hold anyway is not worth the price of a judge.
            (Some(sentence), Some(name)) if found.is_empty() => {
                found.extend(judge(host.peer(Some(name)), sentence, &turn.say, &answer).await.err());
            }
            _ => {}
        }
        if !found.is_empty() {
            return Err(found.into_iter().map(|mismatch| of_turn(test, turn, mismatch)).collect());
        }
    }
    Ok(())
}

fn of_turn(test: &TestCase, turn: &Turn, mismatch: Mismatch) -> Shortfall {
    let said = (test.turns.len() > 1).then(|| turn.say.clone());
    Shortfall { line: turn.line, said, mismatch }
}
