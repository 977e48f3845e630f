//! How well tools are found by what people say: questions in `tests/questions`, each with the tools that are right, over
//! lists that `dev/tool-lists` makes of descriptions in published packages. The questions avoid the words of the names.
//! All were looked at by now. What each had found when it was asked first: `google.tsv` 27 of 50, `slack-stripe.tsv` 26
//! of 50, `digitalocean.tsv` 34 of 50.

use forecourt_ranking::{Description, Ranking};
use serde_json::Value;

/// How many of the best are looked at.
const FIRST: usize = 3;

/// Of how many questions a right tool is among the first. `None`: the list is not there.
fn found(list: &str, questions: &str) -> Option<usize> {
    let text = std::fs::read_to_string(forecourt_testkit::data(&format!("tools/{list}.jsonl"))?).unwrap();
    let tools: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ranking = Ranking::new(tools.iter().map(|tool| Description {
        name: tool["name"].as_str().unwrap(),
        text: tool["description"].as_str().unwrap(),
        input: Some(&tool["inputSchema"]),
        ..Description::default()
    }));
    let mut right = 0;
    for line in questions.lines() {
        let (question, expected) = line.split_once('\t').unwrap();
        let best = ranking.search(question, FIRST);
        let best: Vec<&str> = best.iter().filter_map(|found| tools[found.at]["name"].as_str()).collect();
        match expected.split('\t').any(|one| best.contains(&one)) {
            true => right += 1,
            false => println!("{question}: {best:?}"),
        }
    }
    println!("{list}: {right} of {} among {} tools", questions.lines().count(), tools.len());
    Some(right)
}

#[test]
fn tools_of_a_cloud_are_found() {
    let Some(right) = found("aws", include_str!("../questions/aws.tsv")) else { return };
    assert!(right >= 32, "{right} of 50");
}

#[test]
fn tools_of_an_office_are_found() {
    let Some(right) = found("google", include_str!("../questions/google.tsv")) else { return };
    assert!(right >= 27, "{right} of 50");
}

#[test]
fn tools_of_talk_and_payments_are_found() {
    let Some(right) = found("slack-stripe", include_str!("../questions/slack-stripe.tsv")) else { return };
    assert!(right >= 30, "{right} of 50");
}

#[test]
fn tools_of_a_hoster_are_found() {
    let Some(right) = found("digitalocean", include_str!("../questions/digitalocean.tsv")) else { return };
    assert!(right >= 35, "{right} of 50");
}
