//! This module finds the schemas inside a schema, and which of them are checked against the same value or against
//! something inside it. It refuses references that leave the document or lead in circles.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::{SchemaError, escaped};
use crate::limits::{PATTERN_BYTES_MAX, PATTERNS_MAX, SCHEMA_CHAIN_MAX, SCHEMA_DEPTH_MAX, SUBSCHEMAS_MAX};

/// Where the schemas under a keyword apply.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Applies {
    /// To the same value.
    InPlace,
    /// To something inside the value, and no two of the keyword to the same thing.
    ToOne,
    /// To something inside the value.
    Inside,
    /// Nowhere by itself: it is there to be referred to.
    ByReference,
}

/// What stands under a keyword.
#[derive(Clone, Copy)]
enum Shape {
    One,
    List,
    Named,
}

/// The keywords of Draft 2020-12 that hold schemas.
const KEYWORDS: [(&str, Shape, Applies); 22] = [
    ("allOf", Shape::List, Applies::InPlace),
    ("anyOf", Shape::List, Applies::InPlace),
    ("oneOf", Shape::List, Applies::InPlace),
    ("not", Shape::One, Applies::InPlace),
    ("if", Shape::One, Applies::InPlace),
    ("then", Shape::One, Applies::InPlace),
    ("else", Shape::One, Applies::InPlace),
    ("dependentSchemas", Shape::Named, Applies::InPlace),
    ("properties", Shape::Named, Applies::ToOne),
    ("prefixItems", Shape::List, Applies::ToOne),
    ("patternProperties", Shape::Named, Applies::Inside),
    ("additionalProperties", Shape::One, Applies::Inside),
    ("unevaluatedProperties", Shape::One, Applies::Inside),
    ("propertyNames", Shape::One, Applies::Inside),
    ("items", Shape::One, Applies::Inside),
    ("unevaluatedItems", Shape::One, Applies::Inside),
    ("contains", Shape::One, Applies::Inside),
    ("contentSchema", Shape::One, Applies::ByReference),
    ("$defs", Shape::Named, Applies::ByReference),
    ("definitions", Shape::Named, Applies::ByReference),
    // Not of this draft, but implementations know them.
    ("dependencies", Shape::Named, Applies::InPlace),
    ("additionalItems", Shape::One, Applies::Inside),
];

/// The index of a schema in its [`Graph`].
pub(super) type Index = usize;

/// One schema: which others are checked when it is.
#[derive(Default)]
pub(super) struct Node {
    /// Against the same value.
    pub(super) in_place: Vec<Index>,
    /// Against one thing inside the value each.
    pub(super) one_each: Vec<Index>,
    /// Against anything inside the value.
    pub(super) inside: Vec<Index>,
    /// Whether it must know what the others have looked at, which takes a second look.
    pub(super) looks_twice: bool,
}

/// All schemas of a document; the first is the outermost one.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// The same nodes, each after those that are checked in place of it.
    pub(super) order: Vec<Index>,
}

impl Graph {
    pub(super) fn of(schema: &Value) -> Result<Graph, SchemaError> {
        let mut walk = Walk::default();
        walk.schema(schema, String::new(), 0)?;
        walk.resolve()?;
        let order = inner_first(&walk.nodes).map_err(|at| SchemaError::Circular(walk.pointer_of(at)))?;
        refuse_long_chains(&walk.nodes, &order)?;
        Ok(Graph { nodes: walk.nodes, order })
    }
}

#[derive(Default)]
struct Walk {
    nodes: Vec<Node>,
    places: BTreeMap<String, Index>,
    anchors: BTreeMap<String, Vec<Index>>,
    references: Vec<(Index, String)>,
    /// Schemas that are more than a truth value.
    objects: usize,
    patterns: usize,
}

impl Walk {
    fn schema(&mut self, schema: &Value, pointer: String, depth: usize) -> Result<Index, SchemaError> {
        if depth > SCHEMA_DEPTH_MAX {
            return Err(SchemaError::TooDeep);
        }
        self.objects += usize::from(schema.is_object());
        // `true` and `false` are not counted: closing adds one to each object, and a schema at the bound must stay
        // within it.
        if self.objects > SUBSCHEMAS_MAX {
            return Err(SchemaError::TooMany);
        }
        let index = self.nodes.len();
        self.nodes.push(Node::default());
        match schema {
            Value::Bool(_) => {}
            Value::Object(keywords) => self.keywords(keywords, index, &pointer, depth)?,
            _ => return Err(SchemaError::NotASchema(pointer)),
        }
        self.places.insert(pointer, index);
        Ok(index)
    }

    fn keywords(
        &mut self,
        keywords: &Map<String, Value>,
        index: Index,
        pointer: &str,
        depth: usize,
    ) -> Result<(), SchemaError> {
        self.identity(keywords, index, pointer)?;
        self.patterns(keywords)?;
        for (keyword, shape, applies) in KEYWORDS {
            let Some(value) = keywords.get(keyword) else { continue };
            for (step, schema) in held(value, shape) {
                let place = format!("{pointer}/{keyword}{step}");
                let inner = self.schema(schema, place, depth + 1)?;
                self.nodes[index].add(applies, inner);
            }
        }
        self.nodes[index].looks_twice =
            ["unevaluatedProperties", "unevaluatedItems"].iter().any(|k| keywords.contains_key(*k));
        Ok(())
    }

    /// Names, references and the dialect.
    fn identity(&mut self, keywords: &Map<String, Value>, index: Index, pointer: &str) -> Result<(), SchemaError> {
        let text = |keyword: &str| keywords.get(keyword).and_then(Value::as_str);
        let dialect = text("$schema").map(|uri| uri.trim_end_matches('#'));
        if keywords.contains_key("$schema") && dialect != Some("https://json-schema.org/draft/2020-12/schema") {
            return Err(SchemaError::Dialect);
        }
        if keywords.contains_key("$id") && !pointer.is_empty() {
            return Err(SchemaError::NestedId);
        }
        for name in [text("$anchor"), text("$dynamicAnchor")].into_iter().flatten() {
            self.anchors.entry(name.to_owned()).or_default().push(index);
        }
        let references = [text("$ref"), text("$dynamicRef")].into_iter().flatten();
        // Resolved after the walk, as a reference may lead to a place that comes later.
        self.references.extend(references.map(|target| (index, target.to_owned())));
        Ok(())
    }

    fn patterns(&mut self, keywords: &Map<String, Value>) -> Result<(), SchemaError> {
        let named = keywords.get("patternProperties").and_then(Value::as_object);
        let patterns = named.into_iter().flat_map(Map::keys).map(String::as_str);
        for pattern in patterns.chain(keywords.get("pattern").and_then(Value::as_str)) {
            self.patterns += 1;
            if self.patterns > PATTERNS_MAX || pattern.len() > PATTERN_BYTES_MAX {
                return Err(SchemaError::Patterns);
            }
        }
        Ok(())
    }

    /// Adds what references lead to. One by an anchor may lead to any schema of that name, since a
    /// dynamic one chooses while checking.
    fn resolve(&mut self) -> Result<(), SchemaError> {
        for (from, reference) in std::mem::take(&mut self.references) {
            let targets = self.targets(&reference).ok_or(SchemaError::Reference(reference))?;
            self.nodes[from].in_place.extend(targets);
        }
        Ok(())
    }

    fn targets(&self, reference: &str) -> Option<Vec<Index>> {
        let fragment = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.places.get(fragment.as_ref()).map(|index| vec![*index]);
        }
        self.anchors.get(fragment.as_ref()).cloned()
    }

    fn pointer_of(&self, index: Index) -> String {
        let found = self.places.iter().find(|(_, place)| **place == index);
        found.map(|(pointer, _)| format!("#{pointer}")).unwrap_or_default()
    }
}

impl Node {
    fn add(&mut self, applies: Applies, inner: Index) {
        match applies {
            Applies::InPlace => self.in_place.push(inner),
            Applies::ToOne => self.one_each.push(inner),
            Applies::Inside => self.inside.push(inner),
            Applies::ByReference => {}
        }
    }
}

/// The schemas under a keyword, each with its further steps of the JSON Pointer.
fn held(value: &Value, shape: Shape) -> Vec<(String, &Value)> {
    match (shape, value) {
        (Shape::List, Value::Array(items)) => {
            items.iter().enumerate().map(|(at, item)| (format!("/{at}"), item)).collect()
        }
        // A dependency may also be a list of names, which is no schema.
        (Shape::Named, Value::Object(named)) => {
            let schemas = named.iter().filter(|(_, value)| !value.is_array());
            schemas.map(|(name, schema)| (format!("/{}", escaped(name)), schema)).collect()
        }
        (Shape::One, schema) => vec![(String::new(), schema)],
        // Not of the right shape: the compiler will say so.
        _ => Vec::new(),
    }
}

/// Refuses schemas that are checked in place of each other in a row longer than a stack has room for.
fn refuse_long_chains(nodes: &[Node], order: &[Index]) -> Result<(), SchemaError> {
    let mut lengths = vec![0_usize; nodes.len()];
    for &at in order {
        lengths[at] = nodes[at].in_place.iter().map(|&next| lengths[next] + 1).max().unwrap_or(0);
    }
    if lengths.iter().all(|length| *length <= SCHEMA_CHAIN_MAX) { Ok(()) } else { Err(SchemaError::TooChained) }
}

/// The nodes, each after those that it is checked together with. Fails with a node of a circle.
fn inner_first(nodes: &[Node]) -> Result<Vec<Index>, Index> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    for start in 0..nodes.len() {
        // Which node, and how many of its neighbours were looked at.
        // By hand instead of recursion: a circle is found before it can use up the stack.
        let mut path = vec![(start, 0)];
        while let Some((at, seen)) = path.pop() {
            if seen == 0 && marks[at] == Mark::Done {
                continue;
            }
            marks[at] = Mark::Open;
            match nodes[at].in_place.get(seen) {
                Some(&next) => {
                    path.push((at, seen + 1));
                    match marks[next] {
                        Mark::Open => return Err(next),
                        Mark::New => path.push((next, 0)),
                        Mark::Done => {}
                    }
                }
                None => {
                    marks[at] = Mark::Done;
                    order.push(at);
                }
            }
        }
    }
    Ok(order)
}
