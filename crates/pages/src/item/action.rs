//! What can be done with an item: `potentialAction` of schema.org, where it leads to a page.

use forecourt_sentences::SpokenLanguage;
use serde_json::{Map, Value};

use super::{Action, names};
use crate::clean;
use crate::limits::ACTIONS_MAX;

/// The actions that a person can follow, at most [`ACTIONS_MAX`].
pub(super) fn of(fields: &Map<String, Value>, language: SpokenLanguage) -> Vec<Action> {
    let one = std::slice::from_ref;
    let given = fields.get("potentialAction");
    let actions = given.map(|value| value.as_array().map_or(one(value), Vec::as_slice)).unwrap_or_default();
    actions.iter().filter_map(|given| action(given, language)).take(ACTIONS_MAX).collect()
}

fn action(value: &Value, language: SpokenLanguage) -> Option<Action> {
    let target = match value.get("target").or(value.get("url"))? {
        Value::Array(targets) => targets.first()?,
        target => target,
    };
    let url = target.as_str().or_else(|| target.get("urlTemplate").or(target.get("url"))?.as_str())?;
    // A template wants values that nobody here has.
    let url = clean::href(url).filter(|url| url.starts_with("http") && !url.contains('{'))?;
    let kind = || {
        let name = value.get("@type")?.as_str()?;
        let known = names::value(name, language).map(str::to_owned);
        known.or_else(|| name.strip_suffix("Action").map(super::words))
    };
    let name = value.get("name").and_then(Value::as_str).map(clean::line).filter(|name| !name.is_empty());
    Some(Action { name: name.or_else(kind).filter(|name| !name.is_empty())?, url })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn actions(given: Value) -> Vec<(String, String)> {
        let found = of(json!({ "potentialAction": given }).as_object().unwrap(), SpokenLanguage::English);
        found.into_iter().map(|action| (action.name, action.url)).collect()
    }

    fn pair(name: &str, url: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), url.to_owned())]
    }

    #[test]
    fn an_action_is_a_link_with_a_name() {
        let url = "https://a.example/buy";
        assert_eq!(actions(json!({"@type": "BuyAction", "target": url})), pair("Buy", url));
        assert_eq!(actions(json!([{"name": "Buy it", "target": {"urlTemplate": url}}])), pair("Buy it", url));
        assert_eq!(actions(json!({"@type": "OrderAction", "target": [{"url": url}]})), pair("Order", url));
    }

    #[test]
    fn what_can_not_be_followed_is_no_action() {
        for given in [
            json!(null),
            json!("https://a.example/"),
            json!({"@type": "BuyAction"}),
            json!({"@type": "BuyAction", "target": "javascript:alert(1)"}),
            json!({"@type": "BuyAction", "target": "mailto:a@b.example"}),
            json!({"@type": "BuyAction", "target": "https://a.example/?q={q}"}),
            json!({"@type": "Action", "target": "https://a.example/"}),
            json!({"target": "https://a.example/"}),
        ] {
            assert_eq!(actions(given.clone()), [], "{given}");
        }
        let many = json!(vec![json!({"name": "Buy", "target": "https://a.example/"}); ACTIONS_MAX + 1]);
        assert_eq!(actions(many).len(), ACTIONS_MAX);
    }
}
