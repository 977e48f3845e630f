//! The nodes of a JSON-LD document, joined where they refer to each other.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::item;
use crate::limits::{ITEM_BYTES_MAX, JOINED_LEVELS_MAX};

/// The member in which a group has its variants.
const VARIANTS: &str = "hasVariant";
/// Bytes that joining may add to one node.
const ROOM: usize = ITEM_BYTES_MAX / 2;

/// The nodes with the ones in them that they refer to by `{"@id": …}`, those first to which nothing else refers.
/// A node without a name that is in another one is a part of that, and no longer by itself. A circle ends where
/// it comes back to a node that it is in. Each comes with its place among the nodes.
pub(super) fn joined(nodes: &[Value]) -> Vec<(usize, Value)> {
    let turned = with_variants(nodes);
    let nodes = turned.as_deref().unwrap_or(nodes);
    let by_id: HashMap<&str, &Value> = nodes.iter().filter_map(|node| Some((id(node)?, node))).collect();
    let mut referred = HashSet::new();
    for node in nodes {
        note_references(node, true, &by_id, &mut referred);
    }
    let is_referred = |node: &Value| id(node).is_some_and(|id| referred.contains(id));
    let (parts, roots): (Vec<_>, Vec<_>) = nodes.iter().enumerate().partition(|(_, node)| is_referred(node));
    let variants: HashSet<&str> = nodes.iter().flat_map(|node| references(node.get(VARIANTS))).collect();
    // A variant has a name and is no item beside its group.
    let is_variant = |node: &Value| id(node).is_some_and(|id| variants.contains(id));
    let parts = parts.into_iter().filter(|(_, node)| item::name(node).is_some() && !is_variant(node));
    roots
        .into_iter()
        .chain(parts)
        .map(|(at, node)| {
            let mut join = Join { by_id: &by_id, path: id(node).into_iter().collect(), room: ROOM };
            (at, join.value(node, true))
        })
        .collect()
}

/// The nodes with each group leading to the variants that name it. `None` when none does so.
fn with_variants(nodes: &[Value]) -> Option<Vec<Value>> {
    let mut of_group: HashMap<&str, Vec<Value>> = HashMap::new();
    for node in nodes {
        let variant = id(node).map(|id| json!({"@id": id}));
        for group in references(node.get("isVariantOf")) {
            of_group.entry(group).or_default().extend(variant.clone());
        }
    }
    if of_group.is_empty() {
        return None;
    }
    let turned = nodes.iter().map(|node| {
        let mut node = node.clone();
        let variants = id(&node).and_then(|id| of_group.remove(id));
        match (node.as_object_mut(), variants) {
            // It may lead to them already.
            (Some(fields), Some(variants)) if !fields.contains_key(VARIANTS) => {
                fields.insert(VARIANTS.to_owned(), variants.into());
            }
            _ => {}
        }
        node
    });
    Some(turned.collect())
}

/// The ids of the nodes that a member leads to.
fn references(member: Option<&Value>) -> impl Iterator<Item = &str> {
    let all = match member {
        Some(Value::Array(all)) => all.as_slice(),
        one => one.map_or(&[][..], std::slice::from_ref),
    };
    all.iter().filter_map(reference)
}

fn id(node: &Value) -> Option<&str> {
    node.get("@id")?.as_str()
}

/// The id in `{"@id": …}`, with nothing else said but what it is.
fn reference(value: &Value) -> Option<&str> {
    let fields = value.as_object()?;
    // With more than its id and type it says something itself, and is no mere reference.
    let is_bare = fields.keys().all(|key| key == "@id" || key == "@type");
    if is_bare { id(value) } else { None }
}

fn note_references<'n>(value: &'n Value, is_top: bool, by_id: &HashMap<&str, &Value>, out: &mut HashSet<&'n str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| note_references(item, false, by_id, out)),
        Value::Object(fields) => match reference(value).filter(|id| !is_top && by_id.contains_key(id)) {
            Some(id) => drop(out.insert(id)),
            None => fields.values().for_each(|value| note_references(value, false, by_id, out)),
        },
        _ => {}
    }
}

/// One node being joined.
struct Join<'n> {
    by_id: &'n HashMap<&'n str, &'n Value>,
    /// The nodes that are open.
    path: Vec<&'n str>,
    room: usize,
}

impl<'n> Join<'n> {
    fn value(&mut self, value: &'n Value, is_top: bool) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.value(item, false)).collect(),
            Value::Object(fields) => match reference(value).filter(|_| !is_top).and_then(|id| self.found(id)) {
                Some(joined) => joined,
                None => fields.iter().map(|(key, value)| (key.clone(), self.value(value, false))).collect(),
            },
            other => other.clone(),
        }
    }

    /// The node that is referred to, unless it is open already, or there is no room for it.
    fn found(&mut self, id: &'n str) -> Option<Value> {
        let node = self.by_id.get(id).copied()?;
        // Nodes refer to each other in circles, and a few that each refer to many would grow without end: level and
        // room bound both.
        if self.path.contains(&id) || self.path.len() > JOINED_LEVELS_MAX || reference(node).is_some() {
            return None;
        }
        let bytes = bytes_of(node, self.room);
        self.room = self.room.checked_sub(bytes)?;
        self.path.push(id);
        let joined = self.value(node, true);
        self.path.pop();
        Some(joined)
    }
}

/// About how many bytes a value has, counted up to a bound.
fn bytes_of(value: &Value, most: usize) -> usize {
    let mut count = 0_usize;
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        count += match value {
            Value::String(text) => text.len() + 2,
            _ => 8,
        };
        if count > most {
            break;
        }
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => {
                count += fields.keys().map(|key| key.len() + 3).sum::<usize>();
                left.extend(fields.values());
            }
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn variants_are_in_their_group_and_nowhere_else() {
        for (of_group, of_variant) in
            [(json!([{"@id": "v1"}, {"@id": "v2"}]), json!(null)), (json!(null), json!({"@id": "g"}))]
        {
            let nodes = [
                json!({"@id": "v1", "name": "Shirt, red", "color": "red", "isVariantOf": of_variant}),
                json!({"@id": "g", "@type": "ProductGroup", "name": "Shirt", "hasVariant": of_group}),
                json!({"@id": "v2", "name": "Shirt, blue", "color": "blue", "isVariantOf": of_variant}),
                json!({"@id": "o", "name": "Other"}),
            ];
            let nodes: Vec<Value> = nodes.into_iter().map(without_nulls).collect();
            let joined = joined(&nodes);
            let mut named: Vec<_> = joined.iter().map(|(_, node)| (item::name(node), node)).collect();
            named.sort_by_key(|(name, _)| *name);
            assert_eq!(named.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [Some("Other"), Some("Shirt")]);
            assert_eq!(named[1].1["hasVariant"][1]["color"], "blue");
        }
    }

    fn without_nulls(mut node: Value) -> Value {
        node.as_object_mut().unwrap().retain(|_, member| !member.is_null());
        node
    }

    #[test]
    fn circles_end() {
        let nodes = [
            json!({"@id": "a", "name": "A", "knows": {"@id": "b"}}),
            json!({"@id": "b", "name": "B", "knows": [{"@id": "a"}, {"@id": "b"}]}),
        ];
        let joined = joined(&nodes);
        assert_eq!(joined.len(), 2);
        assert_eq!(joined[0].1["knows"], json!({"@id": "b", "name": "B", "knows": [{"@id": "a"}, {"@id": "b"}]}));
    }

    #[test]
    fn levels_and_bytes_are_bounded() {
        let chain: Vec<Value> =
            (0..20).map(|n| json!({"@id": n.to_string(), "name": "x", "next": {"@id": (n + 1).to_string()}})).collect();
        let first = &joined(&chain)[0].1;
        let depth = std::iter::successors(Some(first), |node| node.get("next")).count();
        assert_eq!(depth, JOINED_LEVELS_MAX + 2, "the last one is a reference");
        let half = "x".repeat(ROOM / 2);
        let nodes = [
            json!({"@id": "root", "name": "R", "parts": [{"@id": "a"}, {"@id": "b"}, {"@id": "c"}]}),
            json!({"@id": "a", "text": half}),
            json!({"@id": "b", "text": half}),
            json!({"@id": "c", "text": "short"}),
        ];
        let root = &joined(&nodes)[0].1;
        let has_text = |at: usize| root["parts"][at].get("text").is_some();
        assert_eq!([has_text(0), has_text(1), has_text(2)], [true, false, true]);
    }

    proptest! {
        #[test]
        fn any_graph_is_joined(edges in proptest::collection::vec((0_u8..12, 0_u8..12), 0..60)) {
            let nodes: Vec<Value> = (0..12_u8).map(|n| {
                let to: Vec<Value> = edges.iter().filter(|(from, _)| *from == n).map(|(_, to)| json!({"@id": to.to_string()})).collect();
                json!({"@id": n.to_string(), "name": "x", "to": to})
            }).collect();
            prop_assert_eq!(joined(&nodes).len(), 12);
        }
    }
}
