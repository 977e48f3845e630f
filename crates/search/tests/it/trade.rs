//! Questions about small trades of which no rule knows anything, as data: a nursery, a car rental, a holiday park and a
//! bakery, with questions and short conversations, each with the items that fit. What is listed first has to fit, and nothing
//! where nothing does.

use forecourt_agents::BuiltAgent;
use forecourt_core::reply::collect;
use forecourt_core::{CollectedReply, Language, Message, Part, Role, Turn};
use serde::Deserialize;

use crate::support::{build, in_folder, message, stream};

/// A trade: what it is, the language of its site, its items and the questions about them.
type Trade = (&'static str, &'static str, &'static str, &'static str);

macro_rules! trade {
    ($name:literal, $language:literal) => {
        (
            $name,
            $language,
            include_str!(concat!("../data/", $name, "/items.jsonl")),
            include_str!(concat!("../data/", $name, "/questions.jsonl")),
        )
    };
}

const TRADES: [Trade; 4] =
    [trade!("nursery", "en"), trade!("car-rental", "de"), trade!("holiday-park", "es"), trade!("bakery", "fr")];
/// The part of the turns that has to be answered rightly: a floor, so that none gets worse unseen.
const RIGHT_MIN: f64 = 0.75;
/// Items at the head of an answer that have to fit.
const JUDGED: usize = 3;

#[derive(Deserialize)]
struct Conversation {
    id: String,
    turns: Vec<JudgedTurn>,
}

/// A question, with the items that fit and those of which a person could argue.
#[derive(Deserialize)]
struct JudgedTurn {
    q: String,
    /// The language of the caller, where it is not that of the site.
    lang: Option<String>,
    fits: Vec<String>,
    maybe: Vec<String>,
    /// The one that has to come first, where one has to.
    first: Option<String>,
}

impl JudgedTurn {
    /// Whether an answer lists what it should.
    fn is_right(&self, listed: &[String]) -> bool {
        let may = |id: &String| self.fits.contains(id) || self.maybe.contains(id);
        if self.fits.is_empty() {
            return listed.iter().all(may);
        }
        let judged = JUDGED.min(listed.len()).min(self.fits.len());
        let head = &listed[..judged];
        let leads = self.first.as_ref().is_none_or(|first| listed.first() == Some(first));
        judged > 0 && head.iter().all(may) && head.iter().any(|id| self.fits.contains(id)) && leads
    }
}

fn ids(answer: &CollectedReply) -> Vec<String> {
    let data = answer.parts.iter().filter_map(|part| match part {
        Part::Data(data) => data.data["@id"].as_str().map(str::to_owned),
        _ => None,
    });
    data.collect()
}

/// The items that each turn of a conversation lists, and what it says.
async fn listed(built: &BuiltAgent, conversation: &Conversation) -> Vec<(Vec<String>, String)> {
    let (mut history, mut told) = (Vec::new(), Vec::new());
    for turn in &conversation.turns {
        let language = turn.lang.as_deref().and_then(Language::parse);
        let asked = Message { history: history.clone().into(), language, ..message(vec![Part::text(turn.q.clone())]) };
        let answer = collect(stream(built, asked).await).await;
        history.push(Turn::text(Role::User, turn.q.clone()));
        history.push(Turn::text(Role::Assistant, answer.text()));
        told.push((ids(&answer), answer.text()));
    }
    told
}

#[tokio::test]
async fn questions_about_a_trade_of_which_nothing_is_known_are_answered() {
    for (trade, language, items, questions) in TRADES {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("items.jsonl"), items).unwrap();
        let settings =
            format!("[backend]\nkind = \"search\"\nlanguage = \"{language}\"\ncontent = [\"items.jsonl\"]\n");
        let built = build(&settings, &in_folder(folder.path()));
        built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
        let (mut count, mut wrong) = (0, Vec::new());
        for line in questions.lines() {
            let conversation: Conversation = serde_json::from_str(line).unwrap();
            for (turn, (listed, text)) in conversation.turns.iter().zip(listed(&built, &conversation).await) {
                count += 1;
                if !turn.is_right(&listed) {
                    let lead = text.lines().next().unwrap_or_default();
                    wrong.push(format!("{} {:?}: {lead}\n  {listed:?}", conversation.id, turn.q));
                }
            }
        }
        let right = 1.0 - wrong.len() as f64 / f64::from(count);
        assert!(right >= RIGHT_MIN, "{trade}: {right:.2} of {count} are right; wrong:\n{}", wrong.join("\n"));
    }
}
