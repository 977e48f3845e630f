//! How well the endpoints of published documents are found by what people say: questions in `tests/questions`, each with
//! the operations that are right. `github.tsv` was looked at while the ranking was made, and so was the first half of
//! `twilio.tsv`. GitHub's document is that of the npm package `@octokit/openapi`.

use forecourt_openapi::import;
use forecourt_ranking::{Description, Ranking};
use forecourt_settings::Section;
use serde_json::Value;

use crate::support::at;

/// How many of the best are looked at.
const FIRST: usize = 3;

/// An endpoint in the words by which it is found, as a tool.
struct FoundAs {
    operation: String,
    name: String,
    title: String,
    text: String,
    input: Value,
    reads_only: bool,
}

fn endpoints(document: &str) -> Option<Vec<FoundAs>> {
    let text = std::fs::read(forecourt_testkit::data(&format!("openapi/{document}"))?).unwrap();
    let options = at("https://a.example");
    let imported = import(&text, &options).unwrap();
    let written = imported.operations.iter().filter_map(|found| Some((found, found.fate.written()?)));
    let of = |(found, files): (&forecourt_openapi::ImportedOperation, &forecourt_openapi::EndpointFiles)| {
        let file = &files.files[0];
        let any = |_: &str| Some("value".to_owned());
        let section = Section::parse(std::path::Path::new(&file.name), &file.text, &any).unwrap();
        let endpoint = section.read::<Value>().unwrap()["endpoint"].clone();
        let say = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let description = say(&endpoint["description"]);
        let semantic = &endpoint["semantic"];
        let beside =
            endpoint["input_schema"].as_str().and_then(|name| files.files.iter().find(|file| file.name == name));
        FoundAs {
            operation: format!("{} {}", found.http, found.path),
            name: format!("{} {}", files.method, files.path),
            title: description.split_inclusive(". ").next().unwrap_or_default().chars().take(80).collect(),
            text: format!("{description} {} {}", say(&semantic["intent"]), say(&semantic["outcome"])),
            input: beside
                .map_or_else(|| endpoint["input_schema"].clone(), |file| serde_json::from_str(&file.text).unwrap()),
            reads_only: semantic["impact"] == "informational",
        }
    };
    Some(written.map(of).collect())
}

/// How many questions there are, and of how many the right one is among the first.
fn found(documents: &[&str], questions: &str) -> Option<(usize, usize)> {
    let all: Vec<FoundAs> = documents
        .iter()
        .map(|document| endpoints(document))
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect();
    let ranking = Ranking::new(all.iter().map(|one| Description {
        name: &one.name,
        title: &one.title,
        text: &one.text,
        input: Some(&one.input),
        reads_only: one.reads_only,
    }));
    let mut right = 0;
    for line in questions.lines() {
        let (question, expected) = line.split_once('\t').unwrap();
        let found = ranking.search(question, FIRST);
        let is_right = found.iter().any(|found| expected.split('\t').any(|one| all[found.at].operation == one));
        if !is_right {
            println!("{question}: {:?}", found.iter().map(|found| &all[found.at].operation).collect::<Vec<_>>());
        }
        right += usize::from(is_right);
    }
    println!("{right} of {} among {} endpoints", questions.lines().count(), all.len());
    Some((questions.lines().count(), right))
}

#[test]
fn endpoints_of_twilio_are_found_by_what_people_say() {
    let documents = ["twilio_api_v2010.json", "twilio_verify_v2.json"];
    let Some((all, right)) = found(&documents, include_str!("../questions/twilio.tsv")) else { return };
    assert!(right * 10 >= all * 8, "{right} of {all}");
}

#[test]
fn endpoints_of_github_are_found_by_what_people_say() {
    let Some((all, right)) = found(&["api.github.com.json"], include_str!("../questions/github.tsv")) else { return };
    assert!(right * 100 >= all * 85, "{right} of {all}");
}
