//! Whole conversations with the kitchen, as data: what is kept of earlier turns, by callers that tell both sides and by
//! callers that tell their own questions alone. Needs the shared recipes; without them it says so and passes.

use forecourt_agents::BuiltAgent;
use forecourt_core::reply::collect;
use forecourt_core::{CollectedReply, Ending, Findings, FindingsDetail, Message, Part, Role, SearchOptions, Turn};
use forecourt_testkit::data;
use serde::Deserialize;

use crate::support::{build, in_folder, message, stream};

/// The part of the conversations that has to go as a person expects: a floor, so that none gets worse unseen.
const SHARE_MIN: f64 = 0.75;

#[derive(Deserialize)]
struct Conversations {
    conversation: Vec<Conversation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Conversation {
    turns: Vec<String>,
    #[serde(default)]
    has: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    whole: Option<String>,
    limit: Option<String>,
    item: Option<usize>,
    /// The turn whose answer shows the item; the one before the last if it is not given.
    of: Option<usize>,
    #[serde(default = "yes")]
    list: bool,
    says: Option<String>,
    shown: Option<usize>,
    #[serde(default)]
    nothing_added: bool,
}

fn yes() -> bool {
    true
}

/// The answers to all turns of a conversation.
async fn answers(built: &BuiltAgent, turns: &[String], tells_both: bool) -> Vec<CollectedReply> {
    let (mut history, mut answers) = (Vec::new(), Vec::new());
    for text in turns {
        let search = SearchOptions { findings: FindingsDetail::Summary, ..SearchOptions::default() };
        let asked = Message { history: history.clone().into(), search, ..message(vec![Part::text(text.clone())]) };
        let answer = collect(stream(built, asked).await).await;
        history.push(Turn::text(Role::User, text.clone()));
        if tells_both {
            let question = match &answer.ending {
                Ending::Question(question) => Some(Box::new(question.clone())),
                _ => None,
            };
            history.push(Turn { question, ..Turn::text(Role::Assistant, answer.text()) });
        }
        answers.push(answer);
    }
    answers
}

fn items(answer: &CollectedReply) -> Vec<serde_json::Value> {
    let data = answer.parts.iter().filter_map(|part| match part {
        Part::Data(data) => serde_json::from_str(&data.data.to_string()).ok(),
        _ => None,
    });
    data.collect()
}

fn names(answer: &CollectedReply) -> Vec<String> {
    items(answer).iter().map(|item| item["name"].as_str().unwrap_or_default().to_owned()).collect()
}

impl Conversation {
    /// What is not as a person expects.
    fn misses(&self, answers: &[CollectedReply]) -> Vec<String> {
        let answer = answers.last().expect("a turn");
        let (items, findings) = (items(answer), answer.findings.as_deref().cloned().unwrap_or_default());
        let Findings { applied, decontextualized, summary, .. } = findings;
        let mut misses = Vec::new();
        let best = items.first().map(|item| item.to_string().to_lowercase()).unwrap_or_default();
        misses.extend(
            self.has.iter().filter(|word| !best.contains(*word)).map(|word| format!("the best has no `{word}`")),
        );
        for item in &items {
            let ingredients = item["recipeIngredient"].to_string().to_lowercase();
            let unwanted = self.lacks.iter().filter(|word| ingredients.contains(*word));
            misses.extend(unwanted.map(|word| format!("{} has `{word}`", item["name"])));
        }
        if let Some(limit) = &self.limit
            && !applied.iter().any(|applied| applied.words.contains(limit.as_str()))
        {
            misses.push(format!("`{limit}` is no limit: {applied:?}"));
        }
        if self.whole.is_some() && self.whole != decontextualized {
            misses.push(format!("in words it is {decontextualized:?}"));
        }
        if self.nothing_added && decontextualized.is_some() {
            misses.push(format!("something was added: {decontextualized:?}"));
        }
        if self.list == items.is_empty() {
            misses.push(format!("{} items, {}", items.len(), answer.text().chars().take(80).collect::<String>()));
        }
        let text = format!("{} {summary}", answer.text()).to_lowercase();
        misses.extend(
            self.says.iter().filter(|said| !text.contains(said.as_str())).map(|said| format!("`{said}` is not said")),
        );
        if let Some(shown) = self.shown.filter(|shown| *shown != items.len()) {
            misses.push(format!("{} items and not {shown}", items.len()));
        }
        if let Some(position) = self.item {
            let before = names(&answers[self.of.unwrap_or(answers.len().saturating_sub(2))]);
            let named = names(answer).first().cloned().unwrap_or_default();
            let wanted = before.get(position - 1).cloned().unwrap_or_default();
            if named != wanted && !(wanted.len() > 3 && answer.text().contains(&wanted)) {
                misses.push(format!("it is about `{named}` and not `{wanted}`"));
            }
        }
        misses
    }
}

/// The part of the conversations of a file that go as expected.
async fn share(built: &BuiltAgent, text: &str) -> f64 {
    let all: Conversations = toml::from_str(text).expect("a file of conversations");
    let mut good = 0;
    for conversation in &all.conversation {
        let told = answers(built, &conversation.turns, true).await;
        let mut misses = conversation.misses(&told);
        let untold = answers(built, &conversation.turns, false).await;
        if names(told.last().expect("a turn")) != names(untold.last().expect("a turn")) {
            misses.push(format!("without our turns it is {:?}", names(untold.last().expect("a turn"))));
        }
        if misses.is_empty() {
            good += 1;
        } else {
            println!("{:?}: {}", conversation.turns, misses.join("; "));
        }
    }
    println!("{good} of {}", all.conversation.len());
    good as f64 / all.conversation.len() as f64
}

fn kitchen() -> Option<(tempfile::TempDir, BuiltAgent)> {
    let recipes = data("kitchen/recipes.jsonl")?;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(recipes, folder.path().join("recipes.jsonl")).expect("a copy");
    let settings =
        "[backend]\nkind = \"search\"\ncontent = [\"recipes.jsonl\"]\nitem_label = \"recipes\"\nresults = 5\n";
    let built = build(settings, &in_folder(folder.path()));
    built.indexing.as_ref().expect("an index").index(&mut |_| {}).expect("indexed");
    Some((folder, built))
}

#[tokio::test]
async fn conversations_keep_what_was_said() {
    let Some((_folder, built)) = kitchen() else { return };
    let seen = share(&built, include_str!("../data/conversations_seen.toml")).await;
    assert!(seen >= SHARE_MIN, "{seen}");
}

#[tokio::test]
async fn conversations_that_were_not_seen_before_keep_it_too() {
    let Some((_folder, built)) = kitchen() else { return };
    let unseen = share(&built, include_str!("../data/conversations_unseen.toml")).await;
    assert!(unseen >= SHARE_MIN, "{unseen}");
}
