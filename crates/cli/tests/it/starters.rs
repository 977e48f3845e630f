//! Each starter of `forecourt init --with`: it is made, passes `check`, is served, and its agent answers.

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::receiver::Receiver;
use crate::support::{Deployment, FREE_PORTS, within};

fn made(starter: &str) -> Deployment {
    let folder = Deployment::empty();
    let said = folder.run("init", [".", "--with", starter]).fine();
    assert!(said.contains("forecourt serve ."), "{said}");
    folder.run("check", ["."]).fine();
    // What stands beside it is not there: the recordings answer.
    let tested = folder.run("test", ["."]).fine();
    assert!(tested.contains("pass") && tested.contains(" 0 failed"), "{tested}");
    folder
}

/// What the agent of a served starter answers to words.
#[track_caller]
fn answers(deployment: Deployment, agent: &str, words: &str) -> String {
    let served = deployment.serve();
    served.deployment.run("ask", [&format!("@{agent}@demo.localhost"), words]).fine().trim().to_owned()
}

#[test]
fn search_answers_from_its_files() {
    assert!(answers(made("search"), "search", "what is here?").contains("Welcome"));
}

#[test]
fn model_answers_with_a_provider_that_needs_no_key() {
    let said = json!({"choices": [{"message": {"content": "Much."}, "finish_reason": "stop"}]});
    let provider = Receiver::answering(vec![said]);
    let site = made("model");
    let own = format!("base_url = \"{}\"", provider.webhook_url());
    site.edit("agents/assistant.toml", "provider = \"ollama\"", &own);
    assert_eq!(answers(site, "assistant", "What can you do?"), "Much.");
    let asked = provider.post();
    assert_eq!(asked.json()["model"], "qwen3:8b");
    assert_eq!(asked.field("authorization"), None);
}

#[test]
fn model_says_what_to_start_while_there_is_no_provider() {
    let site = made("model");
    site.edit("agents/assistant.toml", "provider = \"ollama\"", "base_url = \"http://127.0.0.1:1/v1\"");
    let served = site.serve();
    let told = served.deployment.run("ask", ["@assistant@demo.localhost", "hello"]).failed(3);
    assert!(told.contains("can't be reached"), "{told}");
    served.signal(nix::sys::signal::Signal::SIGTERM);
    let log = served.ended().1;
    assert!(log.contains("http://127.0.0.1:1/v1") && log.contains("ollama serve"), "{log}");
}

#[test]
fn python_answers_and_its_endpoint_is_called() {
    let served = made("python").serve();
    let ask = |words: &[&str]| served.deployment.run(words[0], &words[1..]).fine();
    assert_eq!(ask(&["ask", "@helper@demo.localhost", "one two"]).trim(), "You said 2 words: one two");
    let book =
        ["agtp", "BOOK", "agtp://demo.localhost/rooms/8", "--scope", "booking:room", "-d", r#"{"guest": "Ada"}"#];
    let id = ask(&["agtp", "DISCOVER", "agtp://demo.localhost/agents", "--json"]);
    let id = regex::Regex::new("[0-9a-f]{64}").unwrap().find(&id).unwrap().as_str().to_owned();
    assert!(ask(&[&book[..], &["--agent-id", &id]].concat()).contains("r-8"));
}

#[test]
fn mcp_answers_with_its_tool() {
    assert_eq!(answers(made("mcp"), "tool", "hello"), "olleh");
}

/// A program in the background, which ends with the test.
struct Beside(Child);

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn http_answers_with_the_service_beside_it() {
    let site = made("http");
    let port = forecourt_testkit::free_port();
    site.edit("agents/service.toml", "8701", &port.to_string());
    site.edit("service.py", "8701", &port.to_string());
    let mut python = Command::new("python3");
    python.arg("service.py").current_dir(site.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let _service = Beside(python.spawn().unwrap());
    within("the service listens", || TcpStream::connect(("127.0.0.1", port)).ok());
    assert_eq!(answers(site, "service", "hello"), "HELLO");
}

#[test]
fn a2a_answers_with_the_deployment_beside_it() {
    let site = made("a2a");
    // The other side is a deployment as well; it is moved, so that each has a folder of its own.
    let elsewhere = Deployment::empty();
    for file in ["forecourt.toml", "agents/echo.toml"] {
        elsewhere.write(file, &site.read(&format!("elsewhere/{file}")));
    }
    let elsewhere = elsewhere.serve_on(&FREE_PORTS);
    site.edit("agents/remote.toml", "8702", &elsewhere.http.to_string());
    assert_eq!(answers(site, "remote", "hello"), "hello");
}

#[test]
fn several_starters_fit_together() {
    let folder = Deployment::empty();
    let all = ["python", "search", "model", "http", "a2a", "mcp", "search"];
    folder.run("init", ["."].into_iter().chain(all.into_iter().flat_map(|one| ["--with", one]))).fine();
    folder.run("check", ["."]).fine();
    assert!(folder.run("test", ["."]).fine().contains("8 passed, 0 failed"));
    assert!(folder.read("forecourt.toml").contains("default_agent = \"helper\""));
    for (file, schema) in [
        ("forecourt.toml", ".schemas/deployment.schema.json"),
        ("agents/echo.toml", "../.schemas/agent.schema.json"),
        ("tests/first.toml", "../.schemas/test.schema.json"),
    ] {
        assert_eq!(folder.read(file).lines().next().unwrap(), format!("#:schema {schema}"));
        let schema: serde_json::Value = serde_json::from_str(&folder.read(schema.trim_start_matches("../"))).unwrap();
        assert!(schema["properties"].is_object(), "{file}");
    }
    assert!(folder.run("init", [".", "--with", "nothing"]).failed(2).contains("python"));
}
