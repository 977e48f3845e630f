//! Activities as others write them, into checked values. ActivityStreams 2.0, as far as it is used here; unknown members
//! and types are passed over.
//!
//! Every member may be one value or a list of them, and every object its name or itself.

use forecourt_core::json;
use serde_json::Value;

use crate::iri::Iri;
use crate::limits::ENTRIES_READ_MAX;

/// An activity. Nothing of it has been proven.
#[derive(Debug, Clone)]
pub(crate) struct Activity {
    pub(crate) id: Iri,
    pub(crate) kind: ActivityKind,
    pub(crate) actor: Iri,
    /// The object, or its name; `null` when there is none.
    pub(crate) object: Value,
}

/// The types of activities that mean something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ActivityKind {
    Create,
    Follow,
    Block,
    Undo,
    Delete,
    Update,
    /// Any other: likes, announcements, moves, answers to what was never asked.
    Other,
}

/// Why bytes are no activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    /// They are no JSON object.
    #[error("the body must be an activity: one JSON object")]
    Json,
    /// A member that every activity has is not there, or not of its form.
    #[error("the activity needs `{0}`, as a URL")]
    Name(&'static str),
    /// It has no type.
    #[error("the activity needs a `type`")]
    Type,
    /// It speaks of what is another server's.
    #[error("`{0}` is on another server than the actor")]
    Foreign(&'static str),
    /// A note says nothing.
    #[error("the note says nothing")]
    Empty,
}

impl Activity {
    /// Reads an activity, whose name must be on the server of its actor.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let value = json::parse(bytes).ok().filter(Value::is_object).ok_or(DecodeError::Json)?;
        Self::of(&value)
    }

    /// The same of JSON that was read.
    pub(crate) fn of(value: &Value) -> Result<Self, DecodeError> {
        let id = value.get("id").and_then(Value::as_str).and_then(Iri::parse).ok_or(DecodeError::Name("id"))?;
        let actor = value.get("actor").and_then(name).and_then(Iri::parse).ok_or(DecodeError::Name("actor"))?;
        if !id.is_beside(&actor) {
            return Err(DecodeError::Foreign("id"));
        }
        let kind = texts(value.get("type")).next().map(ActivityKind::of).ok_or(DecodeError::Type)?;
        let object = value.get("object").cloned().unwrap_or_default();
        let object = match object {
            Value::Array(mut list) if list.len() == 1 => list.pop().unwrap_or_default(),
            object => object,
        };
        Ok(Self { id, kind, actor, object })
    }

    /// The name of its object.
    pub(crate) fn object_name(&self) -> Option<&str> {
        name(&self.object)
    }

    /// The activity that it undoes, if it holds it whole and it is its actor's own.
    pub(crate) fn undone(&self) -> Option<Self> {
        Self::of(&self.object).ok().filter(|undone| self.kind == ActivityKind::Undo && undone.actor == self.actor)
    }

    /// Whether it says that its own actor is gone.
    pub(crate) fn deletes_actor(&self) -> bool {
        self.kind == ActivityKind::Delete && self.object_name() == Some(self.actor.as_str())
    }
}

impl ActivityKind {
    /// Whether it may change what is kept here of its actor.
    pub(crate) fn changes_something(self) -> bool {
        !matches!(self, Self::Create | Self::Other)
    }

    fn of(name: &str) -> Self {
        match name {
            "Create" => Self::Create,
            "Follow" => Self::Follow,
            "Block" => Self::Block,
            "Undo" => Self::Undo,
            "Delete" => Self::Delete,
            "Update" => Self::Update,
            _ => Self::Other,
        }
    }
}

/// The name of an object: itself, or its `id`.
pub(crate) fn name(value: &Value) -> Option<&str> {
    match value {
        Value::String(name) => Some(name),
        Value::Object(object) => object.get("id").and_then(Value::as_str),
        Value::Array(list) if list.len() == 1 => list.first().and_then(name),
        _ => None,
    }
}

/// The entries of a member that may be a list, at most [`ENTRIES_READ_MAX`].
pub(crate) fn entries(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    let list: &[Value] = match value {
        Some(Value::Array(list)) => list,
        Some(Value::Null) | None => &[],
        Some(one) => std::slice::from_ref(one),
    };
    list.iter().take(ENTRIES_READ_MAX)
}

/// The names among the entries of a member.
pub(crate) fn names(value: Option<&Value>) -> impl Iterator<Item = &str> {
    entries(value).filter_map(name)
}

/// The texts among the entries of a member.
pub(crate) fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    entries(value).filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn activity() -> Value {
        json!({"id": "https://a.example/1", "type": "Follow", "actor": "https://a.example/ann", "object": "https://b.example/chef"})
    }

    #[test]
    fn an_activity_needs_a_name_an_actor_and_a_type_of_one_server() {
        let with = |key: &str, value: Value| {
            let mut activity = activity();
            activity[key] = value;
            Activity::of(&activity).map(|activity| activity.kind)
        };
        assert_eq!(with("type", json!(["Follow", "Thing"])), Ok(ActivityKind::Follow));
        assert_eq!(with("type", json!("Like")), Ok(ActivityKind::Other));
        assert_eq!(with("actor", json!({"id": "https://a.example/ann", "type": "Person"})), Ok(ActivityKind::Follow));
        assert_eq!(with("id", Value::Null), Err(DecodeError::Name("id")));
        assert_eq!(with("id", json!("https://c.example/1")), Err(DecodeError::Foreign("id")));
        assert_eq!(with("actor", json!(7)), Err(DecodeError::Name("actor")));
        assert_eq!(with("type", json!(7)), Err(DecodeError::Type));
        assert!(matches!(Activity::read(b"[]"), Err(DecodeError::Json)) && Activity::read(b"{").is_err());
    }

    #[test]
    fn nobody_undoes_what_others_did() {
        let undo = |actor: &str| {
            let undo = json!({"id": "https://a.example/2", "type": "Undo", "actor": actor, "object": activity()});
            Activity::of(&undo).unwrap().undone().map(|undone| undone.kind)
        };
        assert_eq!(undo("https://a.example/ann"), Some(ActivityKind::Follow));
        assert_eq!(undo("https://a.example/bob"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(text in "(\\{|\\}|\\[|\\]|\"id\"|\"type\"|\"actor\"|\"object\"|:|,|\"https://a.example/x\"|\"Undo\"|7){0,40}") {
            if let Ok(activity) = Activity::read(text.as_bytes()) {
                let _ = (activity.undone(), activity.deletes_actor());
            }
        }
    }
}
