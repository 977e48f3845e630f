//! This module gathers the names and the words of the members of a JSON schema.

use serde_json::Value;

use crate::limits::{MEMBERS_MAX, SCHEMA_DEPTH_MAX};

/// A member: its name and its words.
pub(crate) struct Member<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

/// The members of a schema, its own before those within them; at most [`MEMBERS_MAX`], from at most
/// [`SCHEMA_DEPTH_MAX`] levels.
pub(crate) fn members(root: &Value) -> Vec<Member<'_>> {
    let mut found = Vec::new();
    let mut level = vec![root];
    for _ in 0..SCHEMA_DEPTH_MAX {
        let mut below = Vec::new();
        for schema in level {
            look(root, schema, &mut found, &mut below);
            if found.len() >= MEMBERS_MAX {
                found.truncate(MEMBERS_MAX);
                return found;
            }
        }
        level = below;
    }
    found
}

fn look<'a>(root: &'a Value, schema: &'a Value, found: &mut Vec<Member<'a>>, below: &mut Vec<&'a Value>) {
    let schema = resolved(root, schema);
    for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let text = member.get("description").or_else(|| member.get("title")).and_then(Value::as_str);
        found.push(Member { name, text: text.unwrap_or_default() });
        below.push(member);
    }
    let alternatives = ["allOf", "anyOf", "oneOf", "prefixItems"].into_iter().filter_map(|word| schema.get(word));
    below.extend(alternatives.filter_map(Value::as_array).flatten());
    below.extend(["items", "additionalProperties"].into_iter().filter_map(|word| schema.get(word)));
}

/// What a reference within the document leads to.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
    reference.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_within_members_and_behind_references_are_found() {
        let schema = json!({
            "properties": {"who": {"$ref": "#/$defs/person"}, "when": {"description": "The day."}},
            "$defs": {"person": {"anyOf": [{"properties": {"email": {"title": "Address"}}}]}},
        });
        let found = members(&schema);
        let mut names: Vec<_> = found.iter().map(|member| (member.name, member.text)).collect();
        names.sort_unstable();
        assert_eq!(names, [("email", "Address"), ("when", "The day."), ("who", "")]);
    }

    #[test]
    fn circles_end_and_members_have_a_bound() {
        let circle = json!({"properties": {"a": {"$ref": "#"}}});
        assert_eq!(members(&circle).len(), SCHEMA_DEPTH_MAX);
        let many = |count: usize| json!({"properties": (0..count).map(|n| (format!("m{n}"), json!({}))).collect::<serde_json::Map<_, _>>()});
        assert_eq!(members(&many(MEMBERS_MAX)).len(), MEMBERS_MAX);
        assert_eq!(members(&many(MEMBERS_MAX + 1)).len(), MEMBERS_MAX);
    }
}
