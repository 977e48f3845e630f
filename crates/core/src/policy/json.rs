//! The JSON form of a refusal. PolicyPart 3, 3.7.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::fields::{take, text};
use super::kind::RefusalKind;
use super::malformed::PolicyPartError;
use super::part::{PolicyPart, Translation};
use super::sanitize::{is_prefixed, sanitize_map};

impl PolicyPart {
    /// Reads a refusal, sanitized; fails when the kind lacks what it must have. An unknown kind is
    /// kept as [`RefusalKind::Other`]. Unprefixed keys of `data` are dropped. URLs are left to
    /// [`PolicyPart::validate`]. PolicyPart 3.2, 3.6.
    pub fn from_json(mut fields: Map<String, Value>) -> Result<Self, PolicyPartError> {
        let name = text(&mut fields, "kind")?.ok_or(PolicyPartError::Missing("kind"))?;
        let kind = RefusalKind::read(name, &mut fields)?;
        let message = match (text(&mut fields, "message")?, &kind) {
            (Some(message), _) => message,
            // PolicyPart 3.6: an unknown kind is passed on and is never success, so that it must not fail for a missing
            // field.
            (None, RefusalKind::Other(_)) => "This agent declined for a reason that is not known here.".to_owned(),
            (None, _) => return Err(PolicyPartError::Missing("message")),
        };
        let mut part = Self {
            kind,
            code: text(&mut fields, "code")?,
            title: text(&mut fields, "title")?,
            message,
            message_translations: read_translations(&mut fields)?,
            url: text(&mut fields, "url")?,
            action_label: text(&mut fields, "action_label")?,
            data: read_data(&mut fields)?,
            more: fields,
        };
        sanitize_map(&mut part.more);
        part.check_shape()?;
        Ok(part)
    }

    /// Reads a refusal as an agent behind this host gives it: a `consent_required` may leave `state` and `return_to`
    /// to the host, and is [bare](Self::is_bare) then.
    pub fn from_agent(mut fields: Map<String, Value>) -> Result<Self, PolicyPartError> {
        let is_absent = |key: &str| fields.get(key).is_none_or(Value::is_null);
        let is_bare = is_absent("state") && fields.get("kind").is_some_and(|kind| kind == "consent_required");
        if is_bare {
            // `from_json` demands both fields, and neither empty. The placeholders are cleared below, and an empty state
            // is what makes a part bare.
            fields.insert("state".to_owned(), "of the host".into());
            fields.insert("return_to".to_owned(), "of the host".into());
        }
        let mut part = Self::from_json(fields)?;
        if let RefusalKind::ConsentRequired { state, return_to } = &mut part.kind
            && is_bare
        {
            state.clear();
            return_to.clear();
        }
        Ok(part)
    }

    /// Writes the refusal; absent fields are left out. PolicyPart 3.7.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut fields = self.more.clone();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(key.to_owned(), value);
            }
        };
        set("kind", Some(self.kind().into()));
        set("code", self.code.as_deref().map(Value::from));
        set("title", self.title.as_deref().map(Value::from));
        set("message", Some(self.message.as_str().into()));
        set("message_translations", (!self.message_translations.is_empty()).then(|| json!(self.message_translations)));
        set("url", self.url.as_deref().map(Value::from));
        set("action_label", self.action_label.as_deref().map(Value::from));
        set("data", (!self.data.is_empty()).then(|| Value::Object(self.data.clone())));
        match &self.kind {
            RefusalKind::ConsentRequired { state, return_to } => {
                set("state", Some(state.as_str().into()));
                set("return_to", Some(return_to.as_str().into()));
            }
            RefusalKind::Unauthorized { auth_challenges } => set("auth_challenges", Some(json!(auth_challenges))),
            RefusalKind::PaymentRequired { accepted_payments } => {
                set("accepted_payments", Some(json!(accepted_payments)))
            }
            RefusalKind::TooManyRequests { retry_after_seconds }
            | RefusalKind::ServiceUnavailable { retry_after_seconds } => {
                set("retry_after_seconds", retry_after_seconds.map(Value::from));
            }
            RefusalKind::Forbidden | RefusalKind::UnavailableForLegalReasons | RefusalKind::Other(_) => {}
        }
        fields
    }
}

fn read_translations(fields: &mut Map<String, Value>) -> Result<BTreeMap<String, Translation>, PolicyPartError> {
    const KEY: &str = "message_translations";
    match take(fields, KEY) {
        None => Ok(BTreeMap::new()),
        Some(value) => {
            serde_json::from_value(value).map_err(|_| PolicyPartError::Wrong(KEY, "messages by language tag"))
        }
    }
}

fn read_data(fields: &mut Map<String, Value>) -> Result<Map<String, Value>, PolicyPartError> {
    match take(fields, "data") {
        None => Ok(Map::new()),
        Some(Value::Object(mut data)) => {
            sanitize_map(&mut data);
            // PolicyPart 3.2: unprefixed keys are reserved and ignored, which is no reason to refuse the part (3.6).
            data.retain(|key, _| is_prefixed(key));
            Ok(data)
        }
        Some(_) => Err(PolicyPartError::Wrong("data", "an object")),
    }
}

impl Serialize for PolicyPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PolicyPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(Map::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_agent(part: &Value) -> Result<PolicyPart, PolicyPartError> {
        PolicyPart::from_agent(part.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn an_agent_that_asks_for_a_consent_may_leave_state_and_page_to_the_host() {
        for part in [
            json!({"kind": "consent_required", "message": "Agree"}),
            json!({"kind": "consent_required", "message": "Agree", "state": null, "return_to": ""}),
        ] {
            let read = of_agent(&part).unwrap();
            assert!(read.is_bare(), "{part}");
            let RefusalKind::ConsentRequired { state, return_to } = &read.kind else { panic!("{read:?}") };
            assert_eq!((state.as_str(), return_to.as_str()), ("", ""));
            assert_eq!(read.validate_of_agent("demo.localhost"), Ok(()));
        }
        let own = json!({"kind": "consent_required", "message": "Agree", "state": "mine"});
        assert_eq!(of_agent(&own), Err(PolicyPartError::Missing("return_to")));
    }
}
