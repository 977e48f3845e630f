//! What the operator's programs push: on disk when it is answered, found at once, and closed without a token.

use serde_json::Value;

use crate::support::{Deployment, Served};
use crate::wire::{Answer, curl};

const TOKEN: &str = "a-token-of-the-operator";
const LINES: &str = "Content-Type: application/x-ndjson";

fn served() -> Served {
    Deployment::kitchen().with("admin", &format!("token = \"{TOKEN}\"")).serve()
}

/// A call on the admin listener, with these words for curl.
fn call(served: &Served, path: &str, words: &[&str]) -> Answer {
    let authorization = format!("Authorization: Bearer {TOKEN}");
    let url = format!("http://127.0.0.1:{}{path}", served.admin);
    curl(&url, &[&["-H", &authorization], words].concat())
}

fn put(served: &Served, lines: &str) -> Value {
    let answer = call(served, "/content/chef", &["-H", LINES, "--data-binary", lines]);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn asked(served: &Served, text: &str) -> String {
    served.curl(&format!("/~chef?user={text}"), &["-H", "Accept: text/markdown"]).text()
}

const RECIPE: &str =
    r#"{"@type": "Recipe", "@id": "urn:q", "url": "https://example.com/q", "name": "Xanthic Quiverbread"}"#;

#[test]
fn a_pushed_item_is_found_at_once_and_survives_being_killed() {
    let served = served();
    let done = put(&served, RECIPE);
    assert_eq!((&done["stored"], &done["searchable"]), (&1.into(), &true.into()), "{done}");
    assert!(asked(&served, "quiverbread").contains("Xanthic Quiverbread"));
    let again = served.killed().serve();
    assert!(asked(&again, "quiverbread").contains("Xanthic Quiverbread"));
    let gone = call(&again, "/content/chef?id=https://example.com/q", &["-X", "DELETE"]);
    assert_eq!((gone.status, gone.json()["removed"][0].as_str()), (200, Some("urn:q")));
    assert!(!asked(&again, "quiverbread").contains("Xanthic"));
    assert_eq!(call(&again, "/content/chef?id=urn:q", &["-X", "DELETE"]).status, 404);
    let last = again.killed().serve();
    assert!(!asked(&last, "quiverbread").contains("Xanthic"));
}

#[test]
fn an_item_of_a_file_can_be_removed_and_comes_back_when_that_is_forgotten() {
    let served = served();
    let recipes = served.deployment.read("content/recipes.jsonl");
    let first: Value = serde_json::from_str(recipes.lines().next().unwrap()).unwrap();
    let id = first["@id"].as_str().or(first["url"].as_str()).unwrap().to_owned();
    let name = first["name"].as_str().unwrap().to_owned();
    let body = serde_json::json!({"ids": [id]}).to_string();
    let json = "Content-Type: application/json";
    let words = ["-X", "DELETE", "-H", json, "--data-binary", &body];
    assert_eq!(call(&served, "/content/chef", &words).status, 200);
    let question = name.replace(' ', "%20").replace(['\'', '"'], "");
    assert!(!asked(&served, &question).contains(&id), "it is gone");
    let served = served.killed().serve();
    assert!(!asked(&served, &question).contains(&id), "and stays away");
    assert_eq!(call(&served, "/content/chef?pushed=all", &["-X", "DELETE"]).status, 200);
    crate::support::within("it is back", || asked(&served, &question).contains(&id).then_some(()));
}

#[test]
fn calls_without_the_token_are_refused_and_say_how() {
    let served = served();
    let url = format!("http://127.0.0.1:{}/content/chef", served.admin);
    for wrong in ["Authorization: Bearer nothing", "X-Nothing: x"] {
        let refused = curl(&url, &["-H", wrong, "-H", LINES, "--data-binary", RECIPE]);
        assert_eq!(refused.status, 401, "{}", refused.text());
    }
    assert_eq!(served.operator("/healthz").status, 200, "health asks for nothing");
    let public = served.curl("/content/chef", &["-H", &format!("Authorization: Bearer {TOKEN}"), "-d", RECIPE]);
    assert_eq!(public.status, 404, "the public listener has no such call");
    assert!(!asked(&served, "quiverbread").contains("Xanthic"));
    let closed = Deployment::gatehouse().serve();
    let refused = call(&closed, "/content/gate", &["-H", LINES, "--data-binary", RECIPE]);
    assert!(refused.status == 403 && refused.text().contains("[admin]"), "{}", refused.text());
}

#[test]
fn what_is_wrong_with_a_call_is_said() {
    let served = served();
    for (path, words, status, said) in [
        ("/content/nobody", ["-H", LINES, "--data-binary", RECIPE], 404, "chef"),
        ("/content/chef", ["-H", "Content-Type: image/png", "--data-binary", RECIPE], 415, "application/x-ndjson"),
        ("/content/chef", ["-H", LINES, "--data-binary", "{\"name\": \"no id\"}"], 422, "no `@id`"),
        ("/content/chef", ["-H", LINES, "-X", "DELETE"], 400, "?id="),
        ("/content/chef", ["-H", LINES, "-X", "PUT"], 405, ""),
    ] {
        let answer = call(&served, path, &words);
        assert!(answer.status == status && answer.text().contains(said), "{path} {words:?} {}", answer.text());
    }
    let file = served.deployment.path().join("large");
    let large = |bytes: usize| {
        std::fs::write(&file, format!("{RECIPE}{}", "\n".repeat(bytes - RECIPE.len()))).unwrap();
        call(&served, "/content/chef", &["-H", LINES, "--data-binary", &format!("@{}", file.display())]).status
    };
    assert_eq!(large(forecourt_index::limits::PUSH_BYTES_MAX), 200);
    assert_eq!(large(forecourt_index::limits::PUSH_BYTES_MAX + 1), 413);
}

#[test]
fn a_token_that_is_too_short_is_refused_before_a_port_opens() {
    let short = Deployment::gatehouse().with("admin", "token = \"short-secret\"");
    let said = short.run("check", ["."]).failed(1);
    assert!(said.contains("at least 16 characters") && !said.contains("short-secret"), "{said}");
}
