//! What callers agreed to and paid.

use super::more;
use crate::api_error::ApiError;
use crate::console::view::{Act, Cell, Filter, Page, Section};
use crate::desk::Ask;
use crate::nouns::consents;

fn filters(ask: &Ask) -> Vec<Filter> {
    let agents = ask.house.host.directory().iter().map(|resident| resident.card.handle().to_string()).collect();
    let value = |name: &str| ask.query.get(name).cloned().unwrap_or_default();
    vec![
        Filter { name: "agent", label: "Agent", value: value("agent"), choices: agents },
        Filter { name: "who", label: "Of", value: value("who"), choices: Vec::new() },
        Filter { name: "since", label: "Since", value: value("since"), choices: Vec::new() },
    ]
}

pub(super) async fn consents_page(ask: Ask) -> Result<Page, ApiError> {
    let (now, asked, filters) = (ask.now(), ask.query.clone(), filters(&ask));
    let consents::Consents { consents, next } = consents::list(ask).await?;
    let row = |consent: consents::Consent| {
        let about = "Whoever gave it is asked again by the next message.";
        let act = Act::new(format!("consents/{}/withdraw", consent.id), "Withdraw", about).dangerous();
        let holds = consent.status == "holds";
        vec![
            Cell::time(consent.at, now),
            Cell::agent(&consent.agent),
            Cell::text(consent.who),
            Cell::text(consent.message),
            Cell::text(consent.rule),
            consent.until.map_or(Cell::text("no end"), |until| Cell::time(until, now)),
            Cell::state(&consent.status),
            if holds { Cell::Act(Box::new(act)) } else { Cell::Nothing },
        ]
    };
    let head = vec!["When", "Agent", "Of", "Agreed to", "Rule", "Until", "State", ""];
    let empty = "None. Rules of the kind require_consent ask for one.";
    Ok(Page {
        lead: Some("What callers agreed to for more than one message, on every node.".to_owned()),
        filters,
        sections: vec![Section::table("Consents", head, consents.into_iter().map(row).collect(), empty)],
        more: more("/console/consents", &asked, "before", next.map(|next| next.to_string())),
        ..Page::new("/console/consents", "Consents")
    })
}

pub(super) async fn payments_page(ask: Ask) -> Result<Page, ApiError> {
    let (now, asked, filters) = (ask.now(), ask.query.clone(), filters(&ask));
    let consents::Payments { payments, next } = consents::payments(ask).await?;
    let row = |payment: consents::Payment| {
        vec![
            Cell::time(payment.at, now),
            Cell::agent(&payment.agent),
            Cell::text(payment.who),
            Cell::text(payment.price),
            Cell::text(payment.rule),
            Cell::state(&payment.status),
            payment.transaction.map_or(Cell::Nothing, Cell::Code),
        ]
    };
    let head = vec!["When", "Agent", "Of", "Price", "Rule", "State", "Transaction"];
    let empty = "None. Rules of the kind require_payment ask for one.";
    Ok(Page {
        lead: Some("What callers paid, on every node, for a year.".to_owned()),
        filters,
        sections: vec![Section::table("Payments", head, payments.into_iter().map(row).collect(), empty)],
        more: more("/console/payments", &asked, "before", next.map(|next| next.to_string())),
        ..Page::new("/console/payments", "Payments")
    })
}
