//! `forecourt ask` behind a consent: it waits until somebody has finished on the page of the refusal, and goes on.
//! PolicyPart 3.3.4, PolicyResolution 5.3 pattern 2.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use crate::payment::{Chain, PRICE, paid_for};
use crate::support::{Deployment, Served, within};
use crate::wire::Answer;

const POLITE: &str = r#"handle = "polite"
name = "Polite"

[backend]
kind = "echo"

[[policy.rules]]
kind = "require_consent"
text = "We keep what you ask."
"#;

fn polite() -> Served {
    Deployment::of_backend("kind = \"echo\"\n").and("agents/polite.toml", POLITE).serve()
}

/// `ask` of @polite, at work.
struct Asking {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    said: String,
}

impl Asking {
    fn begin(served: &Served, words: &[&str]) -> Self {
        Self::with_key(served, words, "")
    }

    /// The same with the key of a wallet.
    fn with_key(served: &Served, words: &[&str], key: &str) -> Self {
        let mut command = served.deployment.command("ask");
        command.arg(served.https_url("/~polite")).args(words).arg("--data").arg(served.deployment.data());
        command.env("FORECOURT_WALLET_KEY", key);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr, said: String::new() }
    }

    /// Reads what is told to the person up to a line with these words, and gives the state of the page that was named.
    fn state_before(&mut self, words: &str) -> String {
        while !self.said.lines().last().is_some_and(|line| line.contains(words)) {
            assert_ne!(self.stderr.read_line(&mut self.said).unwrap(), 0, "no {words:?} in {}", self.said);
        }
        state(&self.said).to_owned()
    }

    /// Its exit code, its answer, and all that it told the person.
    fn ended(mut self) -> (i32, String, String) {
        self.stderr.read_to_string(&mut self.said).unwrap();
        let output = self.child.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap(), self.said)
    }
}

/// The state in the address of a page that was printed.
fn state(said: &str) -> &str {
    said.split("/consent/").nth(1).unwrap().lines().next().unwrap()
}

/// Decides on the page of a state, as a browser does.
fn decide(served: &Served, state: &str, decision: &str) -> Answer {
    let path = format!("/consent/{state}");
    let page = ["-H", "Accept: text/html", "-H", "Sec-Fetch-Site: same-origin"];
    let form = served.curl(&path, &page).with_status(200).text();
    let token = form.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let (token, decision) = (format!("token={token}"), format!("decision={decision}"));
    served.curl(&path, &[&page[..], &["--data-urlencode", &token, "-d", &decision]].concat())
}

/// The flags behind "go on with:".
fn flags(said: &str) -> Vec<&str> {
    said.rsplit("go on with: ").next().unwrap().split_whitespace().collect()
}

#[test]
fn what_is_agreed_to_on_the_page_is_answered_on_the_terminal() {
    let served = polite();
    let mut asking = Asking::begin(&served, &["--wait", "60", "hello there"]);
    let state = asking.state_before("waiting until that is done (at most 60 s");
    decide(&served, &state, "accept").with_status(303);
    let (code, answer, said) = asking.ended();
    assert_eq!((code, answer.as_str()), (0, "hello there\n"), "{said}");
    assert!(said.contains("continue with: --session "), "{said}");
}

#[test]
fn what_is_declined_on_the_page_ends_the_wait_and_asks_nothing() {
    let served = polite();
    let mut asking = Asking::begin(&served, &["--wait", "60", "hello there"]);
    let state = asking.state_before("waiting");
    decide(&served, &state, "decline").with_status(303);
    let (code, answer, said) = asking.ended();
    assert_eq!((code, answer.as_str()), (1, ""), "{said}");
    assert!(said.contains("it was declined there"), "{said}");
}

#[test]
fn whoever_does_not_wait_goes_on_with_the_state_once() {
    let served = polite();
    let (code, _, said) = Asking::begin(&served, &["hello there"]).ended();
    let how = flags(&said);
    assert!(code == 1 && how[0] == "--session" && how[2] == "--state", "{said}");
    let (code, answer, _) = Asking::begin(&served, &how).ended();
    assert_eq!((code, answer.as_str()), (1, ""), "nobody agreed yet");
    decide(&served, state(&said), "accept").with_status(303);
    // The state alone opens nothing: whoever reads the address of the page is not shown the answer.
    let (code, answer, _) = Asking::begin(&served, &how[2..]).ended();
    assert_eq!((code, answer.as_str()), (1, ""));
    let (code, answer, said) = Asking::begin(&served, &how).ended();
    assert_eq!((code, answer.as_str()), (0, "hello there\n"), "{said}");
    let (code, answer, _) = Asking::begin(&served, &how).ended();
    assert_eq!((code, answer.as_str()), (1, ""), "it was used");
}

#[test]
fn a_wait_ends_and_says_how_to_go_on() {
    let served = polite();
    let (code, answer, said) = Asking::begin(&served, &["--wait", "1", "hello there"]).ended();
    assert_eq!((code, answer.as_str()), (1, ""), "{said}");
    assert!(said.contains("nobody finished there within 1 s"), "{said}");
    decide(&served, state(&said), "accept").with_status(303);
    let (code, answer, said) = Asking::begin(&served, &flags(&said)).ended();
    assert_eq!((code, answer.as_str()), (0, "hello there\n"), "{said}");
}

#[test]
fn the_flags_have_bounds_and_go_with_the_protocol_that_goes_on() {
    let served = polite();
    for (flag, value, via) in
        [("--wait", "5", "a2a"), ("--state", "x", "a2a"), ("--wait", "0", "rest"), ("--wait", "86401", "rest")]
    {
        let (code, _, said) = Asking::begin(&served, &[flag, value, "--via", via, "hello"]).ended();
        assert_eq!(code, 2, "{flag} {value} {said}");
    }
}

#[test]
fn what_costs_money_behind_a_consent_is_paid_for_once_it_is_agreed_to() {
    let Some(chain) = Chain::start() else { return };
    let served = chain.deployment().and("agents/polite.toml", &paid_for(POLITE)).serve();
    let words = ["--pay", "--yes", "--pay-max", "$1", "--wait", "60", "hello there"];
    let mut asking = Asking::with_key(&served, &words, chain.fact("payerKey"));
    let state = asking.state_before("waiting");
    assert_eq!(chain.paid(), 0, "nothing is paid for what nobody agreed to");
    decide(&served, &state, "accept").with_status(303);
    let (code, answer, said) = asking.ended();
    assert_eq!((code, answer.as_str()), (0, "hello there\n"), "{said}");
    within("it is paid", || (chain.paid() == PRICE).then_some(()));
}
