//! This module rewrites a refusal of a remote agent or server so that an agent of this host may give it.

use forecourt_core::policy::{RELAYED, RefusalKind};
use forecourt_core::{Handle, PolicyPart};
use serde_json::json;

/// The refusal as the agent `handle` of `host` may give it. Its links are bound to the other host, and
/// ours must be bound to `host` (PolicyPart 3.2), so they become words that a person can follow, and
/// data for programs. Where a consent page is to lead back to is required (PolicyPart 3.3.4): it is
/// our agent's page, and the remote one's is in the data.
pub fn relayed(mut part: PolicyPart, host: &str, handle: &Handle) -> PolicyPart {
    let label = part.action_label.take().unwrap_or_else(|| part.kind.action_label().to_owned());
    let url = part.url.take();
    let mut return_to = None;
    if let RefusalKind::ConsentRequired { return_to: own, .. } = &mut part.kind {
        return_to = Some(std::mem::replace(own, format!("https://{host}/~{handle}")));
    }
    if let Some(url) = &url {
        part.message = with_link(&part.message, &label, url);
        for translation in part.message_translations.values_mut() {
            translation.message = with_link(&translation.message, &label, url);
        }
    }
    let is_payment = matches!(part.kind, RefusalKind::PaymentRequired { .. });
    if url.is_some() || return_to.is_some() || is_payment {
        let mut links = serde_json::Map::new();
        links.extend(url.map(|url| ("url".to_owned(), json!(url))));
        links.extend(return_to.map(|url| ("return_to".to_owned(), json!(url))));
        part.data.insert(RELAYED.to_owned(), links.into());
    }
    part
}

fn with_link(message: &str, label: &str, url: &str) -> String {
    format!("{message}\n\n{label}: {url}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: serde_json::Value) -> PolicyPart {
        let serde_json::Value::Object(fields) = value else { panic!("an object") };
        PolicyPart::from_json(fields).unwrap()
    }

    #[test]
    fn s3_2_links_of_the_other_side_become_words_and_data() {
        let handle = Handle::parse("front").unwrap();
        let part = read(json!({
            "kind": "consent_required", "message": "Agree first.", "state": "s", "action_label": "Agree",
            "url": "https://far.example/consent", "return_to": "https://far.example/back",
            "message_translations": {"de": {"message": "Erst zustimmen."}},
        }));
        assert!(part.validate("near.example").is_err());
        let part = relayed(part, "near.example", &handle);
        part.validate("near.example").unwrap();
        assert_eq!(part.message, "Agree first.\n\nAgree: https://far.example/consent");
        assert!(part.message_translations["de"].message.ends_with("https://far.example/consent"));
        let links = json!({"url": "https://far.example/consent", "return_to": "https://far.example/back"});
        assert_eq!(part.data[RELAYED], links);
    }

    #[test]
    fn s5_2_a_payment_that_is_another_hosts_says_so_and_keeps_its_state() {
        let part = read(json!({"kind": "payment_required", "message": "Pay.", "data": {"mentionable.state": "s"},
            "accepted_payments": [{"scheme": "x402.exact", "payload": {"accepts": []}}]}));
        let part = relayed(part, "near.example", &Handle::parse("front").unwrap());
        assert_eq!((&part.data[RELAYED], &part.data["mentionable.state"]), (&json!({}), &json!("s")));
    }

    #[test]
    fn what_has_no_link_is_passed_on_as_it_is() {
        let part = read(json!({"kind": "forbidden", "message": "No.", "data": {"x.y": 1}}));
        assert_eq!(relayed(part.clone(), "near.example", &Handle::parse("front").unwrap()), part);
    }
}
