//! What values a schema lets through, as far as it tells. It reads schemas that were compiled, so that references
//! lead to somewhere in the same document.

use std::ops::{BitAnd, BitOr};

use forecourt_contract::Schema;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

pub(crate) use crate::limits::FOLLOWED_MAX;

/// Kinds of JSON values. An integer is a number without a fraction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NONE: Kinds = Kinds(0);
    pub(crate) const NULL: Kinds = Kinds(1);
    pub(crate) const BOOLEAN: Kinds = Kinds(2);
    pub(crate) const OBJECT: Kinds = Kinds(4);
    pub(crate) const ARRAY: Kinds = Kinds(8);
    pub(crate) const INTEGER: Kinds = Kinds(16);
    pub(crate) const NUMBER: Kinds = Kinds(16 | 32);
    pub(crate) const STRING: Kinds = Kinds(64);
    pub(crate) const ANY: Kinds = Kinds(127);
    /// What one segment of a path can carry.
    pub(crate) const WORDS: Kinds = Kinds(2 | 16 | 32 | 64);

    /// Whether there is a value of both.
    pub(crate) fn meets(self, other: Kinds) -> bool {
        self & other != Kinds::NONE
    }

    /// The kind of a value.
    pub(crate) fn of(value: &Value) -> Kinds {
        match value {
            Value::Null => Kinds::NULL,
            Value::Bool(_) => Kinds::BOOLEAN,
            // JSON Schema counts 1.0 as an integer (2020-12 validation, 6.1.1).
            Value::Number(number) if number.is_f64() && number.as_f64().is_some_and(|n| n.fract() != 0.0) => {
                Kinds(Kinds::NUMBER.0 & !Kinds::INTEGER.0)
            }
            Value::Number(_) => Kinds::INTEGER,
            Value::String(_) => Kinds::STRING,
            Value::Array(_) => Kinds::ARRAY,
            Value::Object(_) => Kinds::OBJECT,
        }
    }

    fn named(name: &str) -> Kinds {
        match name {
            "null" => Kinds::NULL,
            "boolean" => Kinds::BOOLEAN,
            "object" => Kinds::OBJECT,
            "array" => Kinds::ARRAY,
            "integer" => Kinds::INTEGER,
            "number" => Kinds::NUMBER,
            "string" => Kinds::STRING,
            _ => Kinds::NONE,
        }
    }

    /// What the keyword `type` lets through.
    pub(crate) fn listed(types: &Value) -> Kinds {
        match types {
            Value::String(name) => Kinds::named(name),
            Value::Array(names) => {
                names.iter().filter_map(Value::as_str).map(Kinds::named).fold(Kinds::NONE, Kinds::bitor)
            }
            _ => Kinds::ANY,
        }
    }
}

impl BitOr for Kinds {
    type Output = Kinds;

    fn bitor(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

impl BitAnd for Kinds {
    type Output = Kinds;

    fn bitand(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }
}

/// A schema at a place in its document.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a> {
    root: &'a Value,
    at: &'a Value,
}

/// What is known of a member of objects.
pub(crate) enum Member<'a> {
    /// It is one of these all at once; the bool says whether it is always there.
    Known(Vec<Shape<'a>>, bool),
    /// It may be anything, or be absent.
    Open,
    /// It is never there.
    Never,
}

impl<'a> Shape<'a> {
    /// All of a document.
    pub(crate) fn whole(root: &'a Value) -> Shape<'a> {
        Shape { root, at: root }
    }

    /// All of a schema.
    pub(crate) fn of(schema: &'a Schema) -> Shape<'a> {
        Shape::whole(schema.source())
    }

    /// The schema itself.
    pub(crate) fn source(self) -> &'a Value {
        self.at
    }

    /// Another place of the same document.
    pub(crate) fn within(self, at: &'a Value) -> Shape<'a> {
        Shape { root: self.root, at }
    }

    /// What a keyword of this schema holds.
    pub(crate) fn keyword(self, name: &str) -> Option<&'a Value> {
        self.at.get(name)
    }

    /// What `$ref` leads to.
    pub(crate) fn referred(self) -> Option<Shape<'a>> {
        let pointer = self.keyword("$ref")?.as_str()?.strip_prefix('#')?;
        let pointer = percent_decode_str(pointer).decode_utf8().ok()?;
        let at = if pointer.is_empty() { self.root } else { self.root.pointer(&pointer)? };
        Some(self.within(at))
    }

    /// The schemas that every value of this one keeps: itself, and what its references and `allOf` add.
    pub(crate) fn conjuncts(self) -> Vec<Shape<'a>> {
        let mut found = vec![self];
        let mut next = 0;
        while let Some(shape) = found.get(next).copied().filter(|_| found.len() < FOLLOWED_MAX) {
            found.extend(shape.referred());
            found.extend(shape.list("allOf").map(|at| shape.within(at)));
            next += 1;
        }
        found
    }

    /// The schemas in a list under a keyword.
    pub(crate) fn list(self, keyword: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
        self.keyword(keyword).and_then(Value::as_array).into_iter().flatten()
    }

    /// This schema, or where it is `null` or one other, the other.
    pub(crate) fn unless_null(self) -> Shape<'a> {
        let mut shape = self;
        for _ in 0..FOLLOWED_MAX {
            let branches = ["anyOf", "oneOf"].into_iter().flat_map(|keyword| shape.list(keyword));
            let mut branches = branches.map(|at| shape.within(at)).filter(|branch| branch.kinds() != Kinds::NULL);
            match (branches.next(), branches.next(), shape.referred()) {
                (Some(one), None, _) => shape = one,
                (None, _, Some(referred)) if shape.properties().is_none() => shape = referred,
                _ => return shape,
            }
        }
        shape
    }

    /// What the elements of a list are, where all are one.
    pub(crate) fn items(self) -> Vec<Shape<'a>> {
        let whole = self.conjuncts().into_iter().filter(|shape| shape.keyword("prefixItems").is_none());
        whole.filter_map(|shape| Some(shape.within(shape.keyword("items")?))).collect()
    }

    /// The kinds of value that it lets through.
    pub(crate) fn kinds(self) -> Kinds {
        self.kinds_within(FOLLOWED_MAX)
    }

    fn kinds_within(self, left: usize) -> Kinds {
        if self.at == &Value::Bool(false) {
            return Kinds::NONE;
        }
        // Anything, where the bound ends the look: whoever asks then knows less, and never something wrong.
        let Some(left) = left.checked_sub(1) else { return Kinds::ANY };
        let mut kinds = self.keyword("type").map_or(Kinds::ANY, Kinds::listed);
        if let Some(value) = self.keyword("const") {
            kinds = kinds & Kinds::of(value);
        }
        if self.keyword("enum").is_some() {
            kinds = kinds & self.list("enum").map(Kinds::of).fold(Kinds::NONE, Kinds::bitor);
        }
        if let Some(shape) = self.referred() {
            kinds = kinds & shape.kinds_within(left);
        }
        for at in self.list("allOf") {
            kinds = kinds & self.within(at).kinds_within(left / 2);
        }
        for keyword in ["anyOf", "oneOf"].into_iter().filter(|keyword| self.keyword(keyword).is_some()) {
            let branches = self.list(keyword).map(|at| self.within(at).kinds_within(left / 2));
            kinds = kinds & branches.fold(Kinds::NONE, Kinds::bitor);
        }
        kinds
    }

    /// The declared members of objects, by this schema alone.
    pub(crate) fn properties(self) -> Option<&'a Map<String, Value>> {
        self.keyword("properties")?.as_object()
    }

    /// Whether objects always have a member.
    pub(crate) fn requires(self, name: &str) -> bool {
        self.conjuncts().iter().any(|shape| shape.list("required").any(|required| required == name))
    }

    /// The names of the members that objects always have.
    pub(crate) fn required(self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.conjuncts().iter().flat_map(|shape| shape.list("required")).filter_map(Value::as_str) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The names of all declared members.
    pub(crate) fn declared(self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        let conjuncts = self.conjuncts();
        for name in conjuncts.iter().filter_map(|shape| shape.properties()).flat_map(Map::keys) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// What is known of a member.
    pub(crate) fn member(self, name: &str) -> Member<'a> {
        let conjuncts = self.conjuncts();
        let declared: Vec<Shape<'a>> =
            conjuncts.iter().filter_map(|shape| Some(shape.within(shape.properties()?.get(name)?))).collect();
        let is_refused = conjuncts.iter().any(|shape| shape.is_closed() && !shape.declares(name));
        if is_refused || declared.iter().any(|shape| shape.at == &Value::Bool(false)) {
            return Member::Never;
        }
        match declared.is_empty() {
            true if self.requires(name) => Member::Known(Vec::new(), true),
            true => Member::Open,
            false => Member::Known(declared, self.requires(name)),
        }
    }

    /// What is known of a member, a list's places included.
    pub(crate) fn inside(self, member: &str) -> Member<'a> {
        let is_place = member.bytes().all(|byte| byte.is_ascii_digit());
        let items = self.items();
        if is_place && !self.kinds().meets(Kinds::OBJECT) {
            return if items.is_empty() { Member::Open } else { Member::Known(items, false) };
        }
        self.member(member)
    }

    /// Whether objects have no member that this schema alone does not declare.
    pub(crate) fn is_closed(self) -> bool {
        self.keyword("additionalProperties") == Some(&Value::Bool(false))
    }

    /// Whether this schema alone lets a member in besides `additionalProperties`.
    fn declares(self, name: &str) -> bool {
        let is_declared = self.properties().is_some_and(|properties| properties.contains_key(name));
        is_declared || self.keyword("patternProperties").is_some()
    }
}
