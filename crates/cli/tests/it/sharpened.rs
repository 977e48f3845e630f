//! A search that a real language model sharpens, from the binary to the wire: the one at FORECOURT_LLM_URL,
//! which `dev/llm/with` starts. It is small, so nothing is said about how clever it is.

use serde_json::{Value, json};

use crate::support::Deployment;

const SOUPS: [(&str, &str); 4] = [
    ("Pea soup", "A thick soup of split peas. It takes two hours."),
    ("Cold cucumber soup", "A soup for hot days that is never cooked."),
    ("Lentil soup", "A quick soup of red lentils, done in twenty minutes."),
    ("Onion soup", "A soup of onions with cheese on top."),
];

fn soups() -> String {
    let soup = |(name, text): &(&str, &str)| {
        let url = format!("https://soups.example/{}", name.to_lowercase().replace(' ', "-"));
        json!({"@type": "Recipe", "name": name, "description": text, "url": url}).to_string() + "\n"
    };
    SOUPS.iter().map(soup).collect()
}

fn sharpened(url: &str, more: &str) -> Deployment {
    let backend = format!(
        "kind = \"search\"\ncontent = [\"soups.jsonl\"]\nitem_label = \"soups\"\n\
         [backend.rerank]\nbase_url = \"{url}\"\nmodel = \"small\"\n{more}"
    );
    Deployment::of_backend(&backend).and("soups.jsonl", &soups())
}

fn ask(deployment: Deployment) -> Value {
    let body = json!({"query": {"text": "a quick soup"}, "prefer": {"mode": "list, summarize"}}).to_string();
    let served = deployment.serve();
    served.curl("/ask", &["-H", "Content-Type: application/json", "-d", &body]).with_status(200).json()
}

/// Every item is one of ours, and nothing links to anywhere else.
fn is_grounded(answer: &Value) {
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), SOUPS.len() + 1, "four soups and a summary: {answer}");
    for (name, _) in SOUPS {
        assert_eq!(results.iter().filter(|item| item["name"] == name).count(), 1, "{answer}");
    }
    let summary = results.iter().find(|item| item["@type"] == "SearchSummary").unwrap()["text"].as_str().unwrap();
    assert!(!summary.is_empty());
    assert_eq!(summary.matches("](").count(), summary.matches("](https://soups.example/").count(), "{summary}");
}

#[test]
fn a_small_model_ranks_and_the_answer_is_grounded() {
    let Ok(url) = std::env::var("FORECOURT_LLM_URL") else {
        println!("skipped: no language model at FORECOURT_LLM_URL");
        return;
    };
    let answer = ask(sharpened(&url, "rank_seconds = 50\ntotal_seconds = 60\n"));
    println!("{answer:#}");
    is_grounded(&answer);
}

#[test]
fn without_the_model_the_answer_is_that_of_the_search_and_says_so() {
    // Time enough that a machine with other work says so too, instead of that it took too long.
    let answer = ask(sharpened("http://127.0.0.1:1/v1", "rank_seconds = 50\ntotal_seconds = 60\n"));
    is_grounded(&answer);
    let notes = answer["_meta"]["forecourt/notes"].as_array().unwrap();
    assert!(
        notes.len() == 3 && notes.iter().all(|note| note.as_str().unwrap().contains("can't be reached")),
        "{notes:?}"
    );
}
