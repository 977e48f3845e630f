//! Why an item of an agent's content is found for a question, or is not, on this node.

use std::sync::Arc;

use forecourt_agents::{
    DiagnosedItem, FoundItem, IndexedContent, ItemDiagnosis, LimitCheck, QuestionWay, RankExplanation,
};
use forecourt_core::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::limits::WHY_CHARS_MAX;

/// Why an item is found for a question, or is not.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhyFound {
    /// The agent.
    pub agent: String,
    /// The question.
    pub question: String,
    /// What the item was called.
    pub named: String,
    /// What it comes to, in a sentence.
    pub verdict: String,
    /// When the sources of the index were read last, or found to be as they were read.
    #[schemars(with = "Option<String>")]
    pub read_at: Option<Timestamp>,
    /// How each word of the question was read, a sentence each.
    pub words: Vec<String>,
    /// The text that was looked for, beside the limits.
    pub text: String,
    /// The item; none where none goes by that name.
    pub item: Option<WhyItem>,
    /// Items that are called almost so, where none goes by that name.
    pub nearest: Vec<NearestItem>,
    /// What was left out of the index and says something of that name, a sentence each.
    pub left_out: Vec<String>,
    /// What is found first.
    pub first: Vec<RankedItem>,
}

/// An item, and what the question comes to for it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhyItem {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its link.
    pub url: Option<String>,
    /// The file that it is from; none for what was pushed, and where the file is gone.
    pub source: Option<String>,
    /// When that file was written last.
    #[schemars(with = "Option<String>")]
    pub written_at: Option<Timestamp>,
    /// Each limit of the question, and whether the item passes.
    pub limits: Vec<WhyLimit>,
    /// Words of the question that it has, and what each adds to its score.
    pub matched: Vec<MatchedWord>,
    /// Words of the question that it does not have.
    pub lacks: Vec<String>,
    /// Its place, from 1; none where it is not found, or behind the first thousand.
    pub rank: Option<u64>,
    /// The score of its place.
    pub score: Option<f32>,
    /// Other ways to ask, and its place for each.
    pub ways: Vec<OtherWay>,
}

/// A limit of a question.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhyLimit {
    /// The limit, in words.
    pub limit: String,
    /// The properties that it asks about.
    pub properties: Vec<String>,
    /// What the item states of them.
    pub values: Vec<String>,
    /// Whether the item passes.
    pub passes: bool,
}

/// A word of a question that an item has.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MatchedWord {
    /// Where it has it.
    pub field: String,
    /// The word, as the index has it.
    pub word: String,
    /// What that adds to its score.
    pub adds: f32,
}

/// Another way to ask.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OtherWay {
    /// What is different, in words.
    pub asks: String,
    /// The place of the item; none where it is not found.
    pub rank: Option<u64>,
}

/// An item by a name almost like one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NearestItem {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// An item that is found first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RankedItem {
    /// Its place, from 1.
    pub rank: u64,
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its score.
    pub score: f32,
}

pub(crate) const QUERY: &[(&str, &str)] = &[
    ("question", "The question, at most 1000 characters"),
    ("item", "The item: its id, its link or its name, at most 1000 characters"),
];

/// The agents that have content.
pub(crate) fn agents(ask: &Ask) -> Vec<String> {
    ask.house.contents.iter().map(|(agent, _)| agent.to_string()).collect()
}

pub(crate) async fn one(ask: Ask) -> Result<WhyFound, ApiError> {
    let agent = ask.named("agent").trim_start_matches('@').to_owned();
    let (question, named) = (text(&ask, "question")?, text(&ask, "item")?);
    let found = ask.house.contents.iter().find(|(known, _)| known.as_str() == agent);
    let content: Arc<dyn IndexedContent> = found.map(|(_, content)| content.clone()).ok_or_else(|| {
        ApiError::not_found("there is no such agent with content")
            .hint("`forecourt admin content` lists those there are")
    })?;
    // It takes a place of the playground: it is several searches in one.
    let _place = ask.desk.place()?;
    let asked = (question.clone(), named.clone());
    // An index is read on threads that may wait for disks.
    let found = tokio::task::spawn_blocking(move || (content.diagnose(&asked.0, &asked.1), content.read_at())).await;
    let (found, read_at) = found.map_err(|_| ApiError::internal("the content can't be looked at"))?;
    let found = found.map_err(|error| ApiError::unavailable(error.to_string()))?;
    let verdict = verdict(&found);
    let ItemDiagnosis { words, text, item, nearest, left_out, first } = found;
    Ok(WhyFound {
        agent,
        question,
        named,
        verdict,
        read_at,
        words: words.into_iter().map(|RankExplanation { text, .. }| text).collect(),
        text,
        item: item.map(seen),
        nearest: nearest.into_iter().map(|(id, name)| NearestItem { id, name }).collect(),
        left_out,
        first: first
            .into_iter()
            .zip(1..)
            .map(|(FoundItem { id, name, score }, rank)| RankedItem { rank, id, name, score })
            .collect(),
    })
}

/// A parameter that is needed.
fn text(ask: &Ask, name: &str) -> Result<String, ApiError> {
    match ask.query(name).map(str::trim) {
        None | Some("") => Err(ApiError::invalid(format!("`{name}` is needed"))),
        Some(text) if text.chars().count() > WHY_CHARS_MAX => {
            Err(ApiError::invalid(format!("`{name}` has at most {WHY_CHARS_MAX} characters")))
        }
        Some(text) => Ok(text.to_owned()),
    }
}

fn verdict(found: &ItemDiagnosis) -> String {
    let Some(item) = &found.item else {
        return match found.left_out.is_empty() {
            true => "No item of the index goes by this id, link or name.".to_owned(),
            false => {
                "No item of the index goes by this id, link or name; something of that name was left out.".to_owned()
            }
        };
    };
    let broken: Vec<&str> =
        item.limits.iter().filter(|limit| !limit.passes).map(|limit| limit.limit.as_str()).collect();
    match (item.rank, broken.is_empty()) {
        (Some(1), _) => "It is found, and comes first.".to_owned(),
        (Some(rank), _) => format!("It is found, at place {rank}."),
        (None, false) => format!("It is in the index, and breaks a limit of the question: {}.", broken.join(", ")),
        (None, true) if item.matched.is_empty() => {
            "It is in the index, keeps the limits, and has none of the words that are looked for.".to_owned()
        }
        (None, true) => "It is in the index and keeps the limits, and others fit better.".to_owned(),
    }
}

fn seen(item: DiagnosedItem) -> WhyItem {
    let limit = |LimitCheck { limit, properties, values, passes }| WhyLimit { limit, properties, values, passes };
    let place = |rank: Option<usize>| rank.map(|rank| rank as u64);
    let way = |QuestionWay { asks, rank }| OtherWay { asks, rank: place(rank) };
    WhyItem {
        id: item.id,
        name: item.name,
        url: item.url,
        source: item.source,
        written_at: item.written_at,
        limits: item.limits.into_iter().map(limit).collect(),
        matched: item.matched.into_iter().map(|(field, word, adds)| MatchedWord { field, word, adds }).collect(),
        lacks: item.lacks,
        rank: place(item.rank),
        score: item.score,
        ways: item.ways.into_iter().map(way).collect(),
    }
}
