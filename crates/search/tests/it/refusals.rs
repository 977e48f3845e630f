//! What is refused, and what never is: every judged question of two collections is answered with a list, and questions
//! that have nothing to do with them are not. Needs the shared collections; without them it says so and passes.

use forecourt_agents::BuiltAgent;
use forecourt_core::Part;
use forecourt_testkit::data;
use serde_json::Value;

use crate::support::{ask, build, in_folder};

/// Questions that no collection here answers.
const OFF_TOPIC: [&str; 9] = [
    "tell me a joke",
    "book me a table for two",
    "asdf qwer",
    "thanks",
    "zxcvb plmokn qazwsx",
    "write a poem about spring",
    "will it rain tomorrow?",
    "you are stupid",
    "how old are you?",
];

/// An agent that knows what these lines say.
fn agent(lines: &str) -> (tempfile::TempDir, BuiltAgent) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("items.jsonl"), lines).expect("written");
    let settings =
        "[backend]\nkind = \"search\"\ncontent = [\"items.jsonl\"]\nitem_label = \"documents\"\nresults = 3\n";
    let built = build(settings, &in_folder(folder.path()));
    built.indexing.as_ref().expect("an index").index(&mut |_| {}).expect("indexed");
    (folder, built)
}

fn lines(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a file");
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

async fn is_listed(built: &BuiltAgent, text: &str) -> bool {
    ask(built, text).await.parts.iter().any(|part| matches!(part, Part::Data(_)))
}

#[tokio::test]
async fn questions_that_a_collection_answers_are_hardly_ever_refused() {
    for name in ["cranfield", "cacm"] {
        let Some(folder) = data(&format!("judged/{name}")) else { return };
        let document = |line: Value| {
            let item = serde_json::json!({"@type": "Article", "@id": line["_id"], "name": line["title"], "text": line["text"]});
            item.to_string() + "\n"
        };
        let (_folder, built) =
            agent(&lines(&folder.join("corpus.jsonl")).into_iter().map(document).collect::<String>());
        let questions = lines(&folder.join("queries.jsonl"));
        let mut refused = Vec::new();
        for question in &questions {
            let text = question["text"].as_str().unwrap_or_default();
            if !is_listed(&built, text).await {
                refused.push(text.to_owned());
            }
        }
        println!("{name}: {} of {} refused: {refused:#?}", refused.len(), questions.len());
        // What looks like a limit ("having no wall bending stiffness") may leave nothing.
        assert!(refused.len() * 20 <= questions.len());
        // Poems and tables are words of such collections.
        for text in ["tell me a joke", "asdf qwer", "thanks"] {
            assert!(!is_listed(&built, text).await, "{name}: {text}");
        }
    }
}

#[tokio::test]
async fn names_of_items_are_never_refused() {
    let Some(path) = data("movies/movies.jsonl") else { return };
    let movies = lines(&path);
    let (_folder, built) = agent(&movies.iter().map(|movie| movie.to_string() + "\n").collect::<String>());
    let names: Vec<&str> = movies.iter().step_by(97).filter_map(|movie| movie["name"].as_str()).collect();
    let mut refused = Vec::new();
    for name in &names {
        if !is_listed(&built, name).await {
            refused.push(*name);
        }
    }
    println!("{} of {} names refused: {refused:?}", refused.len(), names.len());
    assert!(refused.len() * 100 <= names.len());
    for text in OFF_TOPIC {
        assert!(!is_listed(&built, text).await, "{text}");
    }
}
