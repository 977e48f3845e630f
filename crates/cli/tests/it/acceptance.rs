//! `forecourt test`: what holds and what does not, recorded models, callers, and the exit codes.

use std::path::PathBuf;

use serde_json::json;

use crate::receiver::Receiver;
use crate::support::{Deployment, Ran};

/// The kitchen's @gate and @echo, with these tests.
fn gatehouse(tests: &str) -> Deployment {
    Deployment::gatehouse().and("tests/a.toml", tests)
}

fn run(deployment: &Deployment, arguments: &[&str]) -> Ran {
    deployment.run("test", [&["."][..], arguments].concat())
}

const GATE: &str = r#"
[[test]]
name = "it asks for money"
agent = "gate"
say = "pay"
over = ["rest", "a2a", "mcp", "nlweb"]
expect = { refusal = "payment_required", contains = "two coins" }

[[test]]
name = "it says so by a status, too"
agent = "gate"
say = "pay"
expect = { status = 402 }

[[test]]
name = "it looks things up"
agent = "gate"
say = "tool"
over = ["rest", "a2a"]
expect = { contains = "three", calls = [{ tool = "search", arguments = { q = "hello" } }], not_called = "book" }

[[test]]
name = "it gives a file"
agent = "gate"
say = "file"
over = ["rest", "a2a"]
expect = { files = "pixel.png" }

[[test]]
name = "it fails when it is told to"
agent = "gate"
say = "fail"
over = ["rest", "a2a", "mcp"]
expect = { failure = "agent-failed" }
"#;

#[test]
fn what_holds_is_told_in_a_line_each_over_every_protocol() {
    let deployment = gatehouse(GATE);
    let said = run(&deployment, &["--junit", "report.xml"]).fine();
    assert!(said.contains("pass  it asks for money (nlweb)") && said.ends_with("12 passed, 0 failed\n"), "{said}");
    let report = deployment.read("report.xml");
    assert!(
        report.contains("tests=\"12\" failures=\"0\"") && report.contains("it fails when it is told to (mcp)"),
        "{report}"
    );
    assert!(!deployment.data().exists(), "what is served is not touched");
    assert!(!deployment.path().join("state").exists(), "nobody is led to what is only tested");
    assert!(run(&deployment, &["--only", "status"]).fine().ends_with("1 passed, 0 failed\n"));
}

#[test]
fn what_does_not_hold_is_told_with_what_came_and_where() {
    let deployment = gatehouse(
        "[[test]]\nname = \"wrong\"\nagent = \"gate\"\nsay = \"pay\"\n[test.expect]\ncontains = \"fish\"\n\
         [[test]]\nname = \"late\"\nagent = \"gate\"\nsay = \"slow\"\ntimeout_seconds = 1\n\
         [[test]]\nname = \"right\"\nagent = \"echo\"\nsay = \"hello\"\nexpect = { contains = \"hello\" }\n",
    );
    let ran = run(&deployment, &["--junit", "report.xml"]);
    let said = ran.stdout.clone();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for told in [
        "FAIL  wrong (rest)",
        "./tests/a.toml:5",
        "expected: an answer",
        "came:     the refusal `payment_required`: Two coins.",
        "expected: text with “fish”",
        "FAIL  late (rest)",
        "expected: an answer within 1 s",
        "pass  right (rest)",
        "1 passed, 2 failed",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert!(deployment.read("report.xml").contains("failures=\"2\""));
    let none = run(&deployment, &["--only", "nobody"]).failed(2);
    assert!(none.contains("no test"), "{none}");
}

#[test]
fn mistakes_are_found_by_check_and_nothing_is_run() {
    let deployment =
        gatehouse("[[test]]\nname = \"a\"\nagent = \"gaet\"\nsay = \"pay\"\n[test.expect]\ncontians = \"x\"\n");
    for ran in [run(&deployment, &[]).failed(2), deployment.run("check", ["."]).failed(1)] {
        assert!(ran.contains("tests/a.toml:6") && ran.contains("contains"), "{ran}");
    }
    deployment.edit("tests/a.toml", "contians", "contains");
    assert!(deployment.run("check", ["."]).failed(1).contains("did you mean `gate`?"));
    assert!(run(&deployment, &[]).failed(2).contains("there is no agent @gaet"));
    assert!(run(&Deployment::gatehouse(), &[]).failed(2).contains("there is no test"));
}

#[test]
fn callers_are_who_a_test_says_and_rules_see_them() {
    let rules = "\n[[policy.rules]]\nkind = \"require_identity\"\n\n[[policy.rules]]\nkind = \"deny\"\nsubjects = [\"oauth:https://id.example#mallory\"]\n";
    let issuer = "[[identity.bearer]]\nissuer = \"https://id.example\"\naudience = [\"shop\"]\njwks_url = \"https://id.example/keys\"\n";
    let test = |name: &str, sender: &str, expect: &str| {
        format!(
            "[[test]]\nname = \"{name}\"\nagent = \"echo\"\nsay = \"hi\"\nover = [\"rest\", \"a2a\", \"mcp\", \"nlweb\"]\n{sender}\nexpect = {{ {expect} }}\n"
        )
    };
    let tests = [
        test("stranger", "", "refusal = \"unauthorized\""),
        test("person", "as = { subject = \"ada\" }", "contains = \"hi\""),
        test("mallory", "as = { subject = \"mallory\", issuer = \"https://id.example\" }", "refusal = \"forbidden\""),
        test("program", "as = { api_key = \"nightly\" }", "contains = \"hi\""),
    ];
    let deployment = gatehouse(&tests.concat());
    let (top, echo) = (deployment.read("forecourt.toml"), deployment.read("agents/echo.toml"));
    deployment.write("forecourt.toml", &format!("{top}\n{issuer}"));
    deployment.write("agents/echo.toml", &format!("{echo}{rules}"));
    assert!(run(&deployment, &[]).fine().ends_with("16 passed, 0 failed\n"));
    let token = "[[test]]\nname = \"token\"\nagent = \"echo\"\nsay = \"hi\"\nas = { token = \"nonsense\" }\nexpect = { status = 401 }\n";
    deployment.write("tests/a.toml", token);
    run(&deployment, &[]).fine();
    deployment
        .write("tests/a.toml", &test("elsewhere", "as = { subject = \"a\", issuer = \"https://x.example\" }", ""));
    assert!(run(&deployment, &[]).stdout.contains("https://id.example"));
}

/// A model behind `provider`, with tests of it.
fn with_model(provider: &Receiver) -> Deployment {
    let own = format!(
        "kind = \"model\"\nbase_url = \"{}\"\nmodel = \"m\"\napi_key = \"${{ACCEPTANCE_KEY}}\"\n[backend.price]\ninput = 1000.0\noutput = 0.0\n",
        provider.webhook_url()
    );
    Deployment::of_backend(&own).and("tests/a.toml", MODEL)
}

const MODEL: &str = r#"
[[test]]
name = "it answers"
say = "What can you do?"
[test.expect]
contains = "Much"
judge = "It says much."

[[test]]
name = "it answers the same to the same"
say = "What can you do?"
expect = { contains = "Much" }
"#;

fn files(deployment: &Deployment) -> Vec<PathBuf> {
    std::fs::read_dir(deployment.path().join("tests/recorded"))
        .map(|all| all.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default()
}

fn says(words: &str) -> serde_json::Value {
    json!({"choices": [{"message": {"content": words}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}})
}

#[test]
fn a_recorded_model_answers_without_a_network_and_without_a_key() {
    let provider = Receiver::answering(vec![says("Much."), says("Yes, it does."), says("Much.")]);
    let deployment = with_model(&provider);
    let key = [("ACCEPTANCE_KEY", "sk-0123456789-secret".to_owned())];
    let unrecorded = run(&deployment, &[]);
    assert_eq!(unrecorded.code, Some(1), "{unrecorded:?}");
    assert!(unrecorded.stdout.contains("to be recorded") && unrecorded.stdout.contains("--record"), "{unrecorded:?}");
    assert!(unrecorded.stderr.contains("ACCEPTANCE_KEY"), "{unrecorded:?}");

    let recorded = deployment.run_with("test", [".", "--record", "--judge", "agent"], &key);
    assert!(recorded.stderr.contains("2 requests recorded"), "{recorded:?}");
    assert!(recorded.fine().contains("2 passed, 0 failed, at the prices of models 0.009"));
    assert_eq!(provider.post().field("authorization"), Some("Bearer sk-0123456789-secret"));
    let kept = files(&deployment);
    let text: String = kept.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    assert_eq!(kept.len(), 2, "asked once for both tests, and once to judge");
    assert!(text.contains("Much.") && !text.contains("sk-0123456789"), "{text}");

    // What was not judged this time is needed by who judges.
    deployment.run_with("test", [".", "--record"], &key).fine();
    assert_eq!(files(&deployment).len(), 2);

    drop(provider);
    assert!(run(&deployment, &["--judge", "agent"]).fine().starts_with("pass"));
    let unjudged = run(&deployment, &[]).fine();
    assert!(unjudged.contains("1 expectation skipped that a model would judge"), "{unjudged}");
    deployment.edit("tests/a.toml", "contains = \"Much\" }", "cost_max = 0.0029 }");
    let dear = run(&deployment, &[]);
    assert!(dear.code == Some(1) && dear.stdout.contains("it cost 0.003"), "{dear:?}");
}
