//! Agents that want to be paid, and strangers who pay them: x402's own client libraries, unchanged, through a
//! facilitator that is x402's own library too, on a chain of this machine. `dev/sdk/setup` brings all of them.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::Value;

use crate::scripts::{client_script, library, run_checks};
use crate::support::{Deployment, Ran, Served, within};

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

    fn fact(&self, name: &str) -> &str {
        self.facts[name].as_str().unwrap()
    }

    /// A deployment with an agent that is paid through it.
    fn deployment(&self) -> Deployment {
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

    fn get(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.fact("facilitator"));
        let output = Command::new("curl").args(["-s", "--noproxy", "*", &url]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// What was paid so far, in the token's units.
    pub(crate) fn paid(&self) -> u64 {
        self.get(&format!("/balance/{}", self.fact("paid")))["balance"].as_str().unwrap().parse().unwrap()
    }

    /// The next settlement is done and not answered.
    fn next_settlement_is_silent(&self) {
        let url = format!("{}/fault", self.fact("facilitator"));
        let ran = Command::new("curl")
            .args(["-s", "--noproxy", "*", "-d", "{\"settle\":\"silent\"}", &url])
            .output()
            .unwrap();
        assert!(ran.status.success());
    }

    /// `forecourt ask --pay`, by somebody who has money.
    pub(crate) fn pay(&self, served: &Served, words: &[&str]) -> Ran {
        let mut command = served.deployment.command("ask");
        let data = served.deployment.data();
        command.arg(served.https_url("/~paid")).args(words).arg("--pay").arg("--data").arg(data);
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
    assert!(paid.stderr.contains("paid 0.05 USDC: 0x"), "{paid:?}");
    assert!(paid.fine().contains("hello"));
    assert_eq!(chain.paid(), PRICE);
}

#[test]
fn a_settlement_that_nobody_answered_for_is_found_on_the_chain_and_charged_once() {
    let Some(chain) = Chain::start() else { return };
    let served = chain.deployment().serve();
    chain.next_settlement_is_silent();
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
