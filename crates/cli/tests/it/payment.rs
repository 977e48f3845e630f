//! Agents that want to be paid, and strangers who pay them: x402's own client libraries, unchanged, through a
//! facilitator that is x402's own library too, on a chain of this machine. `dev/sdk/setup` brings all of them.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::nodes::Nodes;
use crate::scripts::{client_script, library, run_checks};
use crate::support::{Deployment, PATIENCE, Ran, Served, within, within_time};

/// An agent that costs something.
pub(crate) const PAID: &str = r#"
handle = "paid"
name = "Paid"
description = "Repeats what it is paid for."

[backend]
kind = "echo"

[[policy.rules]]
kind = "require_payment"
price = "0.05 USDC"
message = "An answer costs 0.05 USDC."
offers = [{ x402 = { network = "base-sepolia" } }]
"#;
/// What it costs, in the token's units.
pub(crate) const PRICE: u64 = 50_000;

/// A chain with a token on it, and a facilitator. Ends when it is dropped.
pub(crate) struct Chain {
    child: Child,
    /// Its end is the child's.
    input: Option<ChildStdin>,
    facts: Value,
}

impl Chain {
    /// Starts one, unless the libraries are not there.
    pub(crate) fn start() -> Option<Self> {
        let (x402, chain) = (library("x402-js")?, library("chain")?);
        let mut command = client_script("x402/chain.mjs", None);
        command.env("FORECOURT_X402", x402).env("FORECOURT_CHAIN", chain);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let facts = serde_json::from_str(&line).expect("the chain starts");
        Some(Self { input: child.stdin.take(), child, facts })
    }

    pub(crate) fn fact(&self, name: &str) -> &str {
        self.facts[name].as_str().unwrap()
    }

    /// A deployment with an agent that is paid through it.
    pub(crate) fn deployment(&self) -> Deployment {
        Deployment::gatehouse().open_to_loopback().with("payments", &self.settings()).and("agents/paid.toml", PAID)
    }

    /// What stands under `[payments]` of a deployment that is paid through it.
    pub(crate) fn settings(&self) -> String {
        format!(
            "facilitator = \"{}\"\npay_to = \"{}\"\n\n[payments.networks.base-sepolia]\nrpc = \"{}\"",
            self.fact("facilitator"),
            self.fact("paid"),
            self.fact("rpc")
        )
    }

    /// What it says at a path. `None`: it is down.
    fn said(&self, path: &str) -> Option<Value> {
        let url = format!("{}{path}", self.fact("facilitator"));
        let output = Command::new("curl").args(["-s", "--noproxy", "*", &url]).output().unwrap();
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    fn get(&self, path: &str) -> Value {
        self.said(path).unwrap()
    }

    /// What was paid so far, in the token's units.
    pub(crate) fn paid(&self) -> u64 {
        self.get(&format!("/balance/{}", self.fact("paid")))["balance"].as_str().unwrap().parse().unwrap()
    }

    /// Has something go wrong, as `chain.mjs` says.
    fn fault(&self, fault: &str) {
        let url = format!("{}/fault", self.fact("facilitator"));
        let ran = Command::new("curl").args(["-s", "--noproxy", "*", "-d", fault, &url]).output().unwrap();
        assert!(ran.status.success());
    }

    /// How often the facilitator was asked to `verify` or `settle`.
    fn asked(&self, verb: &str) -> u64 {
        self.get("/asked")[verb].as_u64().unwrap()
    }

    /// `forecourt ask --pay`, by somebody who has money.
    pub(crate) fn pay(&self, served: &Served, words: &[&str]) -> Ran {
        self.pay_for(served, "paid", words)
    }

    /// The same, for another agent.
    fn pay_for(&self, served: &Served, agent: &str, words: &[&str]) -> Ran {
        let mut command = served.deployment.command("ask");
        let data = served.deployment.data();
        command.arg(served.https_url(&format!("/~{agent}"))).args(words).arg("--pay").arg("--data").arg(data);
        command.env("FORECOURT_WALLET_KEY", self.fact("payerKey"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has a client library pay.
fn pays(name: &str, script: &str, words: &[&str]) {
    let (Some(chain), Some(folder)) = (Chain::start(), library(name)) else { return };
    let served = chain.deployment().serve();
    let mut command = client_script(script, Some(&folder));
    command.args(words).current_dir(served.deployment.path());
    command.env("FORECOURT_URL", served.https_url("")).env("FORECOURT_FACILITATOR", chain.fact("facilitator"));
    command.env("FORECOURT_PAID", chain.fact("paid")).env("FORECOURT_WALLET_KEY", chain.fact("payerKey"));
    command.env("SSL_CERT_FILE", served.ca()).env("NODE_EXTRA_CA_CERTS", served.ca()).env_remove("SSL_CERT_DIR");
    run_checks(&mut command);
}

#[test]
fn x402_fetch_of_version_2_pays() {
    pays("x402-js", "x402_js.mjs", &["2"]);
}

#[test]
fn x402_fetch_of_version_1_pays() {
    pays("x402-js", "x402_js.mjs", &["1"]);
}

#[test]
fn x402_for_python_pays() {
    pays("x402-py", "x402_python.py", &[]);
}

#[test]
fn ask_pays_once_its_user_agreed_and_not_before() {
    let Some(chain) = Chain::start() else { return };
    let served = chain.deployment().serve();

    let refused = chain.pay(&served, &["hello"]).failed(1);
    assert!(refused.contains("amount   0.05 USDC") && refused.contains("nothing was paid"), "{refused}");
    assert!(refused.contains(chain.fact("paid")), "{refused}");
    let dear = chain.pay(&served, &["hello", "--yes", "--pay-max", "$0.049999"]).failed(1);
    assert!(dear.contains("more than --pay-max $0.049999"), "{dear}");
    assert_eq!(chain.paid(), 0);

    let paid = chain.pay(&served, &["hello", "--yes", "--pay-max", "0.05 USDC"]);
    assert!(paid.stderr.contains("paid: 0x"), "{paid:?}");
    assert!(paid.fine().contains("hello"));
    assert_eq!(chain.paid(), PRICE);
}

#[test]
fn a_settlement_that_nobody_answered_for_is_found_on_the_chain_and_charged_once() {
    let Some(chain) = Chain::start() else { return };
    let deployment = chain.deployment();
    deployment.write("agents/paid.toml", &PAID.replace("price =", "charge = \"before\"\nprice ="));
    let served = deployment.serve();
    chain.fault(r#"{"settle":"silent"}"#);
    let broken = chain.pay(&served, &["hello", "--yes", "--pay-max", "$1"]);
    assert_eq!((chain.paid(), broken.code == Some(0)), (PRICE, false), "{broken:?}");
    let session = broken.stderr.split("--session ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let session = session.unwrap_or_else(|| panic!("{broken:?}"));
    let (url, data) = (served.https_url("/~paid"), served.deployment.data().display().to_string());
    within("the settlement is found", || {
        let ran = served.deployment.run("ask", [url.as_str(), "hello", "--session", session, "--data", data.as_str()]);
        (ran.code == Some(0)).then_some(())
    });
    assert_eq!(chain.paid(), PRICE);
}

/// An agent whose program fails, and one whose program takes so long that its host can be killed meanwhile.
const BROKEN: &str = "handle = \"broken\"\nname = \"Broken\"\n\n[backend]\nkind = \"command\"\ncommand = [\"false\"]\n";
const SLOW: &str =
    "handle = \"slow\"\nname = \"Slow\"\n\n[backend]\nkind = \"command\"\ncommand = [\"sleep\", \"60\"]\n";

/// The rule of [`PAID`] before another agent.
pub(crate) fn paid_for(agent: &str) -> String {
    format!("{agent}\n[[policy.rules]]{}", PAID.split("[[policy.rules]]").nth(1).unwrap())
}

/// The outcomes in the audit, the oldest first.
fn outcomes(deployment: &Deployment) -> Vec<String> {
    let audit = deployment.run("audit", [deployment.path().as_os_str(), "--json".as_ref()]).fine();
    let outcome = |line: &str| serde_json::from_str::<Value>(line).unwrap()["outcome"].as_str().unwrap().to_owned();
    audit.lines().map(outcome).collect()
}

#[test]
fn whatever_goes_wrong_an_answer_is_charged_once_and_an_attempt_never() {
    let Some(chain) = Chain::start() else { return };
    let deployment = chain.deployment();
    deployment.write("agents/broken.toml", &paid_for(BROKEN));
    let served = deployment.serve();
    let ask = |agent: &str| chain.pay_for(&served, agent, &["hello", "--yes", "--pay-max", "$1"]);
    let mut paid = 0;
    // Fault, agent, whether there is an answer, and whether the money is taken in the end.
    for (fault, agent, is_answer, is_paid) in [
        ("{}", "paid", true, true),
        ("{}", "broken", false, false),
        (r#"{"verify":"no"}"#, "paid", false, false),
        (r#"{"verify":"error"}"#, "paid", false, false),
        (r#"{"verify":"deaf"}"#, "paid", false, false),
        (r#"{"verify":"slow"}"#, "paid", true, true),
        (r#"{"settle":"no"}"#, "paid", false, false),
        (r#"{"settle":"slow"}"#, "paid", true, true),
        (r#"{"settle":"silent"}"#, "paid", true, true),
        (r#"{"settle":"deaf"}"#, "paid", true, true),
        (r#"{"settle":"error"}"#, "paid", true, true),
    ] {
        chain.fault(fault);
        let ran = ask(agent);
        assert_eq!(ran.code == Some(0), is_answer, "{fault} {agent}: {ran:?}");
        paid += if is_paid { PRICE } else { 0 };
        within("the money is where it should be", || (chain.paid() == paid).then_some(()));
        if agent == "broken" {
            assert!(ran.stderr.contains("Nothing was charged."), "{ran:?}");
        }
    }
    within("the audit knows of all that was paid", || {
        let count = outcomes(&served.deployment).iter().filter(|outcome| *outcome == "paid").count() as u64;
        (count * PRICE == paid).then_some(())
    });
    assert_eq!(chain.paid(), paid);
}

#[test]
fn a_facilitator_that_is_away_when_the_answer_is_complete_is_asked_again() {
    let Some(chain) = Chain::start() else { return };
    let deployment = chain.deployment();
    // It answers when the facilitator is away.
    let (begun, away) = (deployment.path().join("begun"), deployment.path().join("away"));
    let waits = format!("touch '{}'; until [ -e '{}' ]; do sleep 0.05; done; cat", begun.display(), away.display());
    let late = SLOW.replace("slow", "late").replace(r#"["sleep", "60"]"#, &format!(r#"["sh", "-c", "{waits}"]"#));
    deployment.write("agents/late.toml", &paid_for(&late));
    let served = deployment.serve();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| chain.pay_for(&served, "late", &["hello", "--yes", "--pay-max", "$1"]));
        within("it is checked, and the agent is at work", || begun.exists().then_some(()));
        chain.fault(r#"{"down":4}"#);
        within("it is away", || chain.said("/asked").is_none().then_some(()));
        std::fs::write(&away, "").unwrap();
        let answered = asking.join().unwrap();
        assert_eq!(answered.code, Some(0), "{answered:?}");
    });
    within("it is there again", || chain.said("/asked"));
    within("it has settled", || (chain.paid() == PRICE).then_some(()));
}

#[test]
fn a_host_that_is_killed_takes_nothing_for_what_it_did_not_answer() {
    let Some(chain) = Chain::start() else { return };
    let deployment = chain.deployment();
    deployment.write("agents/slow.toml", &paid_for(SLOW));
    let mut deployment = deployment;
    for (fault, agent, asked) in [
        (r#"{"verify":"held"}"#, "paid", "verify"),
        ("{}", "slow", "verify"),
        (r#"{"settle":"held"}"#, "paid", "settle"),
    ] {
        let served = deployment.serve();
        let before = chain.asked(asked);
        chain.fault(fault);
        let words = ["hello", "--yes", "--pay-max", "$1"];
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| chain.pay_for(&served, agent, &words));
            within("it came so far", || (chain.asked(asked) > before).then_some(()));
            served.signal(Signal::SIGKILL);
            assert_ne!(asking.join().unwrap().code, Some(0));
        });
        deployment = served.killed();
    }
    assert_eq!(chain.paid(), 0);
    // What was being settled is found out at the next start: it is taken, once, and owed.
    let served = deployment.serve();
    within("it is found out", || (chain.paid() == PRICE).then_some(()));
    within("and told", || outcomes(&served.deployment).contains(&"paid".to_owned()).then_some(()));
}

#[test]
fn of_three_nodes_one_takes_the_money_and_another_finds_out_for_one_that_died() {
    let (Some(chain), Some(mut nodes)) = (Chain::start(), Nodes::start(0)) else { return };
    for _ in 0..3 {
        let deployment = nodes.deployment().open_to_loopback().with("payments", &chain.settings());
        nodes.add_in(deployment.and("agents/paid.toml", PAID), &[]);
    }
    let words = ["hello", "--yes", "--pay-max", "$1"];
    for node in &nodes.nodes {
        chain.pay(node, &words).fine();
    }
    assert_eq!(chain.paid(), 3 * PRICE);
    let dying = nodes.nodes.remove(0);
    let before = chain.asked("settle");
    chain.fault(r#"{"settle":"held"}"#);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| chain.pay(&dying, &words));
        within("it is being settled", || (chain.asked("settle") > before).then_some(()));
        dying.signal(Signal::SIGKILL);
        assert_ne!(asking.join().unwrap().code, Some(0));
    });
    within_time(PATIENCE * 2, "another node finds out", || (chain.paid() == 4 * PRICE).then_some(()));
    // It goes on as ever, and nothing is taken twice.
    chain.pay(&nodes.nodes[0], &words).fine();
    assert_eq!(chain.paid(), 5 * PRICE);
}
