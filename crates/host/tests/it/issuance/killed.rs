//! A host that is killed with `kill -9`: before what was paid is used, and before it is answered.
//!
//! The test starts itself once more as a child, which serves on a database, says how far it came and then only
//! waits to be killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use forecourt_core::policy::PaidFor;
use forecourt_core::{StateToken, Store, SystemClock, ThreadId};
use forecourt_host::{Run, SystemEntropy};
use forecourt_issuance::IssuanceStatus;
use forecourt_store::{Sqlite, SqliteOptions};
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;

use super::support::{Till, Wants, ask, coins, payment, with_state};
use crate::support::{Setup, message};

/// Set for the child: the folder of its database, and how far it goes.
const CHILD_DIR: &str = "FORECOURT_KILLED_HOST_DIR";
const CHILD_STEP: &str = "FORECOURT_KILLED_HOST_STEP";
/// What the child says once it has come so far.
const READY: &str = "ready ";

fn open(folder: &Path) -> Arc<dyn Store> {
    Sqlite::open(&folder.join("forecourt.db"), SqliteOptions::default()).unwrap()
}

fn serving(store: Arc<dyn Store>) -> Setup {
    let rule = Wants::this(payment("5", PaidFor::Turn));
    Setup { store, rules: vec![rule], schemes: vec![Arc::<Till>::default()], remembers: true, ..Setup::default() }
}

/// A child that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a child up to a step, kills it, and gives the conversation and the state that it paid for.
fn run_and_kill(folder: &Path, step: &str) -> (ThreadId, StateToken) {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "issuance::killed::the_child_serves_until_it_is_killed", "--nocapture"])
        .env(CHILD_DIR, folder)
        .env(CHILD_STEP, step)
        .stdout(Stdio::piped())
        .spawn();
    let mut child = Killed(child.unwrap());
    let output = BufReader::new(child.0.stdout.take().unwrap());
    let said =
        output.lines().map(Result::unwrap).find_map(|line| line.split_once(READY).map(|(_, rest)| rest.to_owned()));
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    let said = said.expect("the child came so far");
    let (thread, state) = said.split_once(' ').unwrap();
    (ThreadId::parse(thread).unwrap(), StateToken::parse(state.trim()).unwrap())
}

#[tokio::test]
async fn policy5_5_what_was_paid_is_answered_once_whenever_the_host_is_killed() {
    for step in ["verified", "consumed", "speaking", "answered"] {
        let folder = tempfile::tempdir().unwrap();
        let (thread, state) = run_and_kill(folder.path(), step);
        let agent = ScriptedAgent::saying(["Soup."]);
        let host = serving(open(folder.path())).host_as_it_is(agent.clone()).await;
        let is_open = step != "answered";
        for may_pass in [is_open, false] {
            let answered = ask(&host, with_state("Dinner?", Some(thread.clone()), &state)).await;
            assert_eq!(answered.is_answer(), may_pass, "{step}");
        }
        assert_eq!(agent.heard().len(), usize::from(is_open), "{step}");
        assert_eq!(host.issuance(&state).await.unwrap().unwrap().status, IssuanceStatus::Consumed);
    }
}

/// Does nothing unless it was started by the test above.
#[test]
fn the_child_serves_until_it_is_killed() {
    let (Some(folder), Ok(step)) = (std::env::var_os(CHILD_DIR), std::env::var(CHILD_STEP)) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let steps = match step.as_str() {
            "speaking" => vec![Step::Do(forecourt_core::Event::Text("So".to_owned())), Step::Hang],
            "answered" => vec![Step::Do(forecourt_core::Event::Ending(forecourt_core::Ending::Complete))],
            _ => vec![Step::Hang],
        };
        let host = serving(open(Path::new(&folder))).host_as_it_is(ScriptedAgent::new(steps)).await;
        let refused = ask(&host, message("Dinner?")).await;
        let (thread, state) = (refused.thread.clone().unwrap(), refused.state());
        host.pay(&state, &coins("5", "a"), &Default::default()).await.unwrap();
        if step != "verified" {
            let again = with_state("", Some(thread.clone()), &state);
            let mut reply = host.receive(again, Run::without_task()).await.unwrap();
            if step != "consumed" {
                reply.events.next().await.unwrap();
            }
            std::mem::forget(reply);
        }
        let mut output = std::io::stdout().lock();
        writeln!(output, "\n{READY}{} {}", thread.expose(), state.expose()).unwrap();
        output.flush().unwrap();
        drop(output);
        std::future::pending::<()>().await;
    });
}

impl Setup {
    /// [`Setup::host`] with the time and the randomness of the machine, as two processes after one another have.
    async fn host_as_it_is(&self, agent: Arc<ScriptedAgent>) -> Arc<forecourt_host::Host> {
        self.host_with(agent, Arc::new(SystemClock), Arc::new(SystemEntropy)).await
    }
}
