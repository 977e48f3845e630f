//! Chats, the Fediverse and mail.

use forecourt_core::Timestamp;

use crate::api_error::ApiError;
use crate::console::view::{Act, Cell, Page, Section, Tone};
use crate::desk::Ask;
use crate::nouns::chats::{self, Chat, ChatPlatform};
use crate::nouns::tasks::TaskLine;

pub(super) async fn chats_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let chats::Chats { chats, platforms, threads, key } = chats::list(ask).await?;
    let sections = vec![connectors(chats, now), under_way(platforms), newest(threads, now)];
    Ok(Page {
        lead: Some(
            "Where people mention agents or write to them, and are answered later. Never what they say.".to_owned(),
        ),
        sections,
        actions: key.map(|_| replace_key()).into_iter().collect(),
        is_live: true,
        ..Page::new("/console/chats", "Chats")
    })
}

fn replace_key() -> Act {
    let about = "Agents sign with another key in two minutes. Other servers fetch it when they meet it.";
    Act::new("chats/rotate-key".to_owned(), "Replace the key of the actors", about)
}

fn connectors(chats: Vec<Chat>, now: Timestamp) -> Section {
    let row = |chat: Chat| {
        let last = match (chat.last_event_at, chat.refused) {
            (Some(at), _) => Cell::time(at, now),
            (None, 0) => Cell::Badge { tone: Tone::Plain, text: "none yet".to_owned() },
            (None, _) => Cell::Badge { tone: Tone::Bad, text: "none that was proven".to_owned() },
        };
        let refusal = match (chat.last_refusal, chat.last_refusal_at) {
            (Some(why), Some(at)) => Cell::Several(vec![Cell::text(why.replace('_', " ")), Cell::time(at, now)]),
            _ => Cell::Nothing,
        };
        let agents = match chat.agents.is_empty() {
            true => Cell::text("all"),
            false => Cell::Several(chat.agents.iter().map(|agent| Cell::agent(agent)).collect()),
        };
        vec![
            Cell::text(chat.platform),
            Cell::maybe(chat.name),
            agents,
            last,
            Cell::Number(chat.taken),
            Cell::Number(chat.refused),
            refusal,
        ]
    };
    let head = vec!["Platform", "Connector", "Agents", "Last event", "Taken", "Refused", "Last refusal"];
    let empty = "No connector. `forecourt connect slack` shows the steps for one; the manual has the others.";
    let rows = chats.into_iter().map(row).collect();
    Section::table("Connectors", head, rows, empty).lead("Events on this node, since it began.")
}

fn under_way(platforms: Vec<ChatPlatform>) -> Section {
    let row = |platform: ChatPlatform| {
        vec![
            Cell::text(platform.platform),
            Cell::Number(platform.under_way),
            Cell::Number(platform.waiting),
            Cell::Number(platform.failing),
            Cell::Number(platform.given_up),
        ]
    };
    let head = vec!["Platform", "Under way", "Answers waiting", "Failing", "Given up"];
    let rows = platforms.into_iter().map(row).collect();
    Section::table("Under way", head, rows, "Nothing.")
        .lead("On every node; what was given up on this node since it began. The page Deliveries has each of them.")
}

fn newest(threads: Vec<TaskLine>, now: Timestamp) -> Section {
    let row = |task: TaskLine| {
        vec![
            Cell::task(&task.task),
            Cell::agent(&task.agent),
            Cell::text(task.via),
            Cell::state(&task.state),
            Cell::time(task.updated_at, now),
            Cell::time(task.created_at, now),
        ]
    };
    let head = vec!["Task", "Agent", "Platform", "State", "Changed", "Asked"];
    Section::table("Asked last", head, threads.into_iter().map(row).collect(), "Nobody has asked lately.")
}
