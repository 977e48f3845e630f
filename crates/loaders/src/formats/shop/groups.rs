//! Rows that are one product, put together whatever lies between them.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use super::product::ProductDraft;
use crate::formats::{At, Reason, Sink, Stop, linked};
use crate::limits::{GROUPED_BYTES_MAX, ITEM_BYTES_MAX, VARIANTS_MAX};

/// Properties by which variants differ, as `variesBy` has them.
const VARY: &[&str] = &["color", "size", "material", "pattern", "width", "audience"];

/// What a row is.
pub(super) enum RowPlace {
    /// A product by itself.
    Product(ProductDraft),
    /// Something of a group.
    OfGroup(GroupRow),
    /// A product that a group may claim as its variant until the end: its own key, and whether it is one by itself too.
    Claimable(String, ProductDraft, bool),
}

/// What a row says of a group.
#[derive(Default)]
pub(super) struct GroupRow {
    /// The key of the group.
    pub(super) key: String,
    /// What all variants have in common.
    pub(super) parent: Option<ProductDraft>,
    pub(super) variant: Option<ProductDraft>,
    /// A further picture.
    pub(super) picture: Option<String>,
    /// The keys of rows that are variants of it.
    pub(super) claimed: Vec<String>,
    /// Another key by which rows may name it.
    pub(super) other_key: Option<String>,
}

impl RowPlace {
    /// Adds what every product has, as the operator says.
    pub(super) fn add_constants(&mut self, constants: &BTreeMap<String, String>) {
        match self {
            Self::Product(product) | Self::Claimable(_, product, _) => product.add_constants(constants),
            Self::OfGroup(GroupRow { parent, variant, .. }) => {
                parent.iter_mut().chain(variant).for_each(|product| product.add_constants(constants));
            }
        }
    }
}

/// One group, as far as it has been read.
#[derive(Default)]
struct Group {
    at: Option<At>,
    parent: Option<ProductDraft>,
    variants: Vec<Map<String, Value>>,
    claimed: Vec<String>,
    pictures: Vec<String>,
}

/// Groups that wait for more of their rows.
#[derive(Default)]
pub(super) struct Groups {
    /// In the order of their first rows.
    order: Vec<String>,
    groups: HashMap<String, Group>,
    /// Other keys of groups, and what each stands for.
    aliases: HashMap<String, String>,
    /// Products that may be variants, in their order, and whether they are products by themselves too.
    claimable: Vec<(String, At, Map<String, Value>, bool)>,
    bytes: usize,
    /// How many items were made of a group that was handed on before its end.
    parts: HashMap<String, usize>,
    /// Variants whose parent is not in the file: how many, and the line of the first.
    orphans: Option<(u64, u64)>,
    /// Whether parents have rows of their own, so that one that is missing is told.
    has_parents: bool,
}

impl Groups {
    /// `has_parents` says that parents have rows of their own, so that one that is missing is told.
    pub(super) fn new(has_parents: bool) -> Self {
        Self { has_parents, ..Self::default() }
    }

    pub(super) fn take(&mut self, placed: RowPlace, at: At, bytes: usize, sink: &mut dyn Sink) -> Result<(), Stop> {
        match placed {
            RowPlace::Product(product) => return offer(whole(product.into_fields()), at, sink),
            RowPlace::OfGroup(row) => self.add(row, at),
            RowPlace::Claimable(key, product, is_own) => self.claimable.push((key, at, product.into_fields(), is_own)),
        }
        self.bytes += bytes;
        match self.bytes > GROUPED_BYTES_MAX {
            // Told, since rows of one group that lie further apart become several items.
            true => sink.skip(at, Reason::GroupsCut).and_then(|()| self.flush(sink)),
            false => Ok(()),
        }
    }

    fn add(&mut self, row: GroupRow, at: At) {
        self.aliases.extend(row.other_key.map(|other| (other, row.key.clone())));
        if !self.groups.contains_key(&row.key) {
            self.order.push(row.key.clone());
        }
        let group = self.groups.entry(row.key).or_default();
        group.at.get_or_insert(at);
        group.parent = group.parent.take().or(row.parent);
        group.variants.extend(row.variant.map(ProductDraft::into_fields));
        group.claimed.extend(row.claimed);
        group.pictures.extend(row.picture);
    }

    /// Hands on all groups. Where parents have rows of their own, variants without one are told.
    pub(super) fn finish(mut self, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.flush(sink)?;
        match self.orphans {
            Some((variants, line)) => sink.skip(At { line, bytes: 0 }, Reason::NoParent(variants)),
            None => Ok(()),
        }
    }

    fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.bytes = 0;
        let mut claimable: HashMap<String, (At, Map<String, Value>, bool)> = HashMap::new();
        let mut order = Vec::new();
        for (key, at, fields, is_own) in self.claimable.drain(..) {
            order.push(key.clone());
            // The same key again: the first stays a product by itself, and whoever indexes it tells that it comes twice.
            if let Some((at, fields, _)) = claimable.insert(key, (at, fields, is_own)) {
                offer(whole(fields), at, sink)?;
            }
        }
        let mut groups = std::mem::take(&mut self.groups);
        for (other, key) in self.aliases.drain().filter(|(other, key)| other != key) {
            if let Some(same) = groups.remove(&other) {
                groups.entry(key).or_default().variants.extend(same.variants);
            }
        }
        for key in self.order.drain(..) {
            let Some(mut group) = groups.remove(&key) else { continue };
            let claimed = group.claimed.iter().filter_map(|key| Some(claimable.remove(key)?.1));
            group.variants.extend(claimed);
            let at = group.at.unwrap_or(At { line: 0, bytes: 0 });
            if group.parent.is_none() && self.has_parents {
                self.orphans.get_or_insert((0, at.line)).0 += group.variants.len() as u64;
            }
            let pictures = std::mem::take(&mut group.pictures);
            pictures.into_iter().for_each(|one| group.parent.get_or_insert_default().put("image", Some(one)));
            let part = self.parts.entry(key.clone()).or_default();
            for item in items(&key, group.parent.map(ProductDraft::into_fields), group.variants, part) {
                offer(item, at, sink)?;
            }
        }
        for key in order {
            match claimable.remove(&key) {
                Some((at, fields, true)) => offer(whole(fields), at, sink)?,
                Some((at, fields, false)) => {
                    self.orphans.get_or_insert((0, at.line)).0 += 1;
                    offer(whole(fields), at, sink)?;
                }
                None => {}
            }
        }
        Ok(())
    }
}

fn offer(fields: Map<String, Value>, at: At, sink: &mut dyn Sink) -> Result<(), Stop> {
    linked::offer(&Value::Object(fields), at, None, sink)
}

fn whole(mut fields: Map<String, Value>) -> Map<String, Value> {
    fields.insert("@type".to_owned(), "Product".into());
    fields
}

/// The items of one group: one, unless its variants are too many for one.
pub(super) fn items(
    key: &str,
    parent: Option<Map<String, Value>>,
    mut variants: Vec<Map<String, Value>>,
    part: &mut usize,
) -> Vec<Map<String, Value>> {
    if variants.len() <= 1 && parent.is_some() || parent.is_none() && variants.len() == 1 {
        // Something without a choice is a product like any other.
        let mut fields = parent.unwrap_or_default();
        for (property, value) in variants.pop().unwrap_or_default() {
            let is_parents = matches!(property.as_str(), "name" | "url" | "image") && fields.contains_key(&property);
            if !is_parents {
                fields.insert(property, value);
            }
        }
        return vec![whole(fields)];
    }
    let mut group = parent.unwrap_or_else(|| common(&variants));
    group.remove("offers");
    group.insert("@type".to_owned(), "ProductGroup".into());
    group.insert("productGroupID".to_owned(), key.into());
    if !group.contains_key("url") && !group.contains_key("@id") {
        group.insert("identifier".to_owned(), key.into());
    }
    let varies: Vec<&str> = VARY.iter().filter(|property| differ(&variants, property)).copied().collect();
    if !varies.is_empty() {
        group.insert("variesBy".to_owned(), varies.into());
    }
    let own: usize = bytes(&group);
    let variants = variants.into_iter().map(|variant| distinct(variant, &group)).collect();
    split(variants, own)
        .into_iter()
        .map(|variants| {
            *part += 1;
            numbered(&group, *part, variants)
        })
        .collect()
}

/// The variants in pieces that each fit into one item.
fn split(variants: Vec<Map<String, Value>>, own: usize) -> Vec<Vec<Value>> {
    let room = (ITEM_BYTES_MAX / 4 * 3).saturating_sub(own);
    let (mut pieces, mut piece, mut taken) = (Vec::new(), Vec::new(), 0);
    for variant in variants {
        let needed = bytes(&variant) + 1;
        if !piece.is_empty() && (taken + needed > room || piece.len() >= VARIANTS_MAX) {
            pieces.push(std::mem::take(&mut piece));
            taken = 0;
        }
        taken += needed;
        piece.push(Value::Object(variant));
    }
    pieces.push(piece);
    pieces
}

/// The group with some of its variants. Further ones of it are items of their own, which need ids of their own.
fn numbered(group: &Map<String, Value>, part: usize, variants: Vec<Value>) -> Map<String, Value> {
    let mut item = group.clone();
    item.insert("hasVariant".to_owned(), variants.into());
    if part > 1 {
        let id = ["@id", "url", "identifier"].iter().find_map(|key| group.get(*key)?.as_str()).unwrap_or_default();
        item.insert("@id".to_owned(), format!("{id}#variants-{part}").into());
    }
    item
}

fn bytes(fields: &Map<String, Value>) -> usize {
    serde_json::to_vec(fields).map_or(0, |bytes| bytes.len())
}

fn differ(variants: &[Map<String, Value>], property: &str) -> bool {
    let first = variants.first().and_then(|variant| variant.get(property));
    variants.iter().any(|variant| variant.get(property) != first)
}

/// A variant without what its group says already.
fn distinct(mut variant: Map<String, Value>, group: &Map<String, Value>) -> Map<String, Value> {
    variant.retain(|property, value| group.get(property) != Some(value));
    variant.insert("@type".to_owned(), "Product".into());
    variant
}

/// What all variants have in common, and a name for them together.
fn common(variants: &[Map<String, Value>]) -> Map<String, Value> {
    let Some((first, others)) = variants.split_first() else { return Map::new() };
    let is_common = |property: &str, value: &Value| others.iter().all(|other| other.get(property) == Some(value));
    let mut group: Map<String, Value> = first
        .iter()
        .filter(|(property, value)| is_common(property, value))
        .map(|(p, v)| (p.clone(), v.clone()))
        .collect();
    // The first picture, address and text stand for the group.
    for property in ["image", "url", "description"] {
        if let Some(value) = first.get(property).filter(|_| !group.contains_key(property)) {
            group.insert(property.to_owned(), value.clone());
        }
    }
    if !group.contains_key("name") {
        let names: Vec<&str> = variants.iter().filter_map(|variant| variant.get("name")?.as_str()).collect();
        group.extend(shared_name(&names).map(|name| ("name".to_owned(), json!(name))));
    }
    group
}

/// The words with which all names begin, or the first name.
fn shared_name(names: &[&str]) -> Option<String> {
    let first = names.first()?;
    let words: Vec<&str> = first.split_whitespace().collect();
    let begins =
        |words: &[&str]| names.iter().all(|name| name.split_whitespace().take(words.len()).eq(words.iter().copied()));
    let shared = (1..=words.len()).rev().find(|count| begins(&words[..*count])).unwrap_or_default();
    let shared = words[..shared].join(" ");
    let shared = shared.trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')').to_owned();
    Some(if shared.is_empty() { (*first).to_owned() } else { shared })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::Heap;

    #[test]
    fn groups_are_handed_on_above_the_bound_and_it_is_told() {
        let row = || {
            RowPlace::OfGroup(GroupRow {
                key: "a".to_owned(),
                variant: Some(ProductDraft::default()),
                ..GroupRow::default()
            })
        };
        let cut = |bytes: usize| {
            let (mut groups, mut heap) = (Groups::default(), Heap::default());
            groups.take(row(), At { line: 2, bytes: 0 }, bytes, &mut heap).unwrap();
            let told = heap.skipped.len();
            groups.take(row(), At { line: 3, bytes: 0 }, 0, &mut heap).unwrap();
            groups.finish(&mut heap).unwrap();
            told
        };
        assert_eq!((cut(GROUPED_BYTES_MAX), cut(GROUPED_BYTES_MAX + 1)), (0, 1));
    }
}
