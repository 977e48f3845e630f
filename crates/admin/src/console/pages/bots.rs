//! Crawlers: who came, what they took, and what they owe.

use forecourt_pages::escape::query;

use crate::api_error::ApiError;
use crate::console::view::{Act, Cell, Page, Section, Tone};
use crate::desk::Ask;
use crate::nouns::bots;

pub(super) async fn bots_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let row = |bot: bots::BotSeen| {
        let (tone, text) = if bot.is_verified { (Tone::Good, "verified") } else { (Tone::Plain, "says so") };
        let bill = match bot.owed.as_str() {
            "0.00" => Cell::Nothing,
            owed => {
                let about = format!("Takes {owed} USD off what it owes. Send the bill first: nothing is sent here.");
                let billed = Act::new(format!("bots/{}/bill", query(&bot.name)), "Billed", &about);
                // What came to it since is not on the bill.
                Cell::Act(Box::new(Act { shown: Some(("amount", owed.to_owned())), ..billed }))
            }
        };
        vec![
            Cell::text(bot.name),
            Cell::Badge { tone, text: text.to_owned() },
            Cell::maybe(bot.purpose),
            Cell::Number(bot.requests),
            Cell::Number(bot.taken),
            Cell::Number(bot.refused),
            Cell::Number(bot.prices_told),
            Cell::Number(bot.paid),
            Cell::text(bot.owed),
            Cell::text(bot.billed),
            bot.last_at.map_or(Cell::Nothing, |at| Cell::time(at, now)),
            bill,
        ]
    };
    let rows = bots::list(ask).await?.bots.into_iter().map(row).collect();
    let head = vec![
        "Crawler",
        "Proof",
        "Purpose",
        "Requests",
        "Taken",
        "Refused",
        "Told a price",
        "Paid",
        "Owed, USD",
        "Billed, USD",
        "Last",
        "",
    ];
    let empty = "No crawler came within 30 days. Rules for them are described in the manual: Crawlers.";
    Ok(Page {
        lead: Some("Programs that read this host for others, within 30 days, on every node.".to_owned()),
        sections: vec![Section::table("Crawlers", head, rows, empty)],
        is_live: true,
        ..Page::new("/console/bots", "Crawlers")
    })
}
