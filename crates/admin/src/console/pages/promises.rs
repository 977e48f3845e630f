//! What is owed: contracts, signed records, deliveries.

use forecourt_pages::escape::query;

use super::more;
use crate::api_error::ApiError;
use crate::console::view::{Act, Body, Cell, Page, Section};
use crate::desk::Ask;
use crate::nouns::{contracts, deliveries, records};

pub(super) async fn contracts_page(ask: Ask) -> Result<Page, ApiError> {
    let (now, asked) = (ask.now(), ask.query.clone());
    let contracts::Contracts { contracts, next, is_offered } = contracts::list(ask).await?;
    let row = |contract: contracts::Contract| {
        let end = Act::new(
            format!("contracts/{}/end", query(&contract.id)),
            "Revoke",
            "No call is served under it any more, on any node.",
        );
        vec![
            Cell::Code(contract.call),
            Cell::Several(contract.explanation.into_iter().map(Cell::text).collect()),
            Cell::state(&contract.state),
            Cell::Several(vec![
                Cell::Code(contract.holder),
                Cell::text(if contract.is_proven { "proven" } else { "claimed" }),
            ]),
            Cell::time(contract.issued_at, now),
            Cell::time(contract.expires_at, now),
            Cell::Act(Box::new(end.dangerous())),
        ]
    };
    let head = vec!["Call", "Plan", "State", "Holder", "Made", "Until", ""];
    let empty = match is_offered {
        true => "None is in force. Agents make them by PROPOSE over AGTP.",
        false => "This deployment makes no contracts.",
    };
    Ok(Page {
        lead: Some("Contracts in force that were made with single callers, on every node.".to_owned()),
        sections: vec![Section::table("In force", head, contracts.into_iter().map(row).collect(), empty)],
        more: more("/console/contracts", &asked, "after", next.map(|next| next.to_string())),
        ..Page::new("/console/contracts", "Contracts")
    })
}

pub(super) async fn records_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let records::Records { are_kept, verified } = records::one(ask).await?;
    let mut page = Page {
        lead: Some(
            "Signed records of what was answered, in this node's data folder or in the store that nodes share."
                .to_owned(),
        ),
        ..Page::new("/console/records", "Signed records")
    };
    if !are_kept {
        let words = "No records are kept yet. They are made of what is answered over AGTP.";
        page.sections.push(Section::new("None", Body::Empty(words.to_owned())));
        return Ok(page);
    }
    let about = "Every record is looked at. Long logs take a while.";
    page.actions.push(Act::new("records/verify".to_owned(), "Verify now", about).without_reason());
    let Some(told) = verified else {
        let words = "Nobody has had them verified since this node began.";
        page.sections.push(Section::new("Not verified", Body::Empty(words.to_owned())));
        return Ok(page);
    };
    let wrong = if told.is_fine { Cell::state("verified") } else { Cell::state("refused") };
    page.facts = vec![
        ("Verified up to", Cell::time(told.up_to, now)),
        ("Outcome", wrong),
        ("Records", Cell::Number(told.records)),
        ("Events", Cell::Number(told.events)),
        ("Unsigned", Cell::Number(told.unsigned)),
        ("Chains", Cell::Number(told.agents)),
    ];
    if !told.findings.is_empty() {
        page.alert = Some("The records are not what was written.".to_owned());
        page.sections.push(Section::new("What is wrong", Body::List(told.findings)));
    }
    if !told.notes.is_empty() {
        page.sections.push(Section::new("Worth knowing", Body::List(told.notes)));
    }
    Ok(page)
}

pub(super) async fn deliveries_page(ask: Ask) -> Result<Page, ApiError> {
    let (now, asked) = (ask.now(), ask.query.clone());
    let deliveries::Deliveries { deliveries, total, next } = deliveries::list(ask).await?;
    let row = |delivery: deliveries::Delivery| {
        let act =
            |verb: &str, label: &str, about: &str| Act::new(format!("deliveries/{}/{verb}", delivery.id), label, about);
        let acts = vec![
            Cell::Act(Box::new(act("retry", "Retry now", "It is tried now, and not when it is due."))),
            Cell::Act(Box::new(act("drop", "Drop", "Nobody is notified any more.").dangerous())),
        ];
        vec![
            Cell::Number(delivery.id),
            Cell::state(&delivery.state),
            Cell::text(&delivery.of),
            Cell::text(&delivery.to),
            delivery.task.as_deref().map_or(Cell::Nothing, Cell::task),
            delivery.agent.as_deref().map_or(Cell::Nothing, Cell::agent),
            Cell::text(format!("{} of {}", delivery.attempts, delivery.attempts_max)),
            Cell::time(delivery.due_at, now),
            Cell::Several(acts),
        ]
    };
    let head = vec!["No.", "State", "Of", "To", "Task", "Agent", "Attempts", "Next", ""];
    let empty = "None waits. Posts to webhooks, callbacks and mail are queued here until they are made.";
    Ok(Page {
        lead: Some(format!("{total} wait on every node. Of an address only its place is shown.")),
        sections: vec![Section::table("Waiting", head, deliveries.into_iter().map(row).collect(), empty)],
        more: more("/console/deliveries", &asked, "after", next.map(|next| next.to_string())),
        is_live: true,
        ..Page::new("/console/deliveries", "Deliveries")
    })
}
