//! A documentation asked in other words than its own: the section that was asked for, or the hedge that it may not be.

use forecourt_core::{CollectedReply, Part};

use crate::support::{ask, build, in_folder};

const HANDBOOK: &str = include_str!("../data/handbook.md");
/// What is asked, and the heading of the section that answers it.
const ASKED: [(&str, &str); 9] = [
    ("limit upload bandwidth", "Bandwidth"),
    ("forget my password", "Reset your password"),
    ("I forgot my password", "Reset your password"),
    ("stop syncing for a while", "Pause"),
    ("two people changed the same file", "Conflicts"),
    ("who can read my files", "Encryption"),
    ("take away someone's access", "Revoke access"),
    ("where are the log files", "Logs"),
    ("update my credit card", "Change the payment method"),
];
/// What it does not say, or says in no word of the question's.
const UNSAID: [&str; 4] =
    ["how to bake bread", "do you have an android app", "exclude files from syncing", "get back a deleted file"];
const HEDGES: [&str; 2] = ["it may not answer", "I found no results"];

/// The section that an answer begins with.
fn section(answer: &CollectedReply) -> String {
    let first = answer.parts.iter().find_map(|part| match part {
        Part::Data(data) => data.data["name"].as_str(),
        _ => None,
    });
    first.unwrap_or_default().rsplit(" › ").next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn the_section_that_was_asked_for_is_told_or_the_hedge() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("handbook.md"), HANDBOOK).unwrap();
    let built = build("[backend]\nkind = \"search\"\ncontent = [\"handbook.md\"]\n", &in_folder(folder.path()));
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    let is_hedged = |text: &str| HEDGES.iter().any(|hedge| text.contains(hedge));
    let mut wrong = Vec::new();
    for (question, heading) in ASKED {
        let answer = ask(&built, question).await;
        if section(&answer) != heading && !is_hedged(&answer.text()) {
            wrong.push(format!("{question}: {}", answer.text()));
        }
        // These two are asked of every documentation.
        if heading == "Bandwidth" || heading == "Reset your password" {
            assert_eq!(section(&answer), heading, "{question}: {}", answer.text());
        }
    }
    for question in UNSAID {
        let told = ask(&built, question).await.text();
        if !is_hedged(&told) {
            wrong.push(format!("{question}: {told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
}
