//! Which contracts are for a pair of method and path: by hash, for templates by their shape. Sections 5.4 and
//! 10.1.1.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use forecourt_contract::path::Segment;
use forecourt_contract::{Method, RequestPath, Template};

use super::record::ContractRecord;

/// The names of contracts by whose they are and by pair.
///
/// A template is found by its *shape*: its path with `{}` for each parameter. Which segments are parameters is
/// remembered for each owner, method and count of segments, so that a path is looked up once for each pattern of
/// parameters that is in use, those with the fewest first, and not once for each template.
#[derive(Default)]
pub(super) struct PairTable {
    /// In the order of their numbers, so that the oldest, which mostly go first, go from an end.
    by_pair: HashMap<PairKey, VecDeque<(u64, Arc<str>)>>,
    masks: HashMap<MaskKey, Vec<(u32, usize)>>,
}

/// Whose contracts: a number for each holder.
pub(super) type OwnerNumber = u64;

#[derive(PartialEq, Eq, Hash)]
struct PairKey {
    owner: OwnerNumber,
    method: Method,
    shape: Box<str>,
}

#[derive(PartialEq, Eq, Hash)]
struct MaskKey {
    owner: OwnerNumber,
    method: Method,
    segments: usize,
}

impl PairTable {
    /// Adds a contract.
    pub(super) fn insert(&mut self, owner: OwnerNumber, record: &ContractRecord) {
        let ContractRecord { method, path, number, synthesis_id, .. } = record;
        let (mask, shape) = shape(path);
        let names = self.by_pair.entry(PairKey { owner, method: method.clone(), shape }).or_default();
        // Mostly the end, but not always: a contract that is settled anew is entered again under its old number.
        let at = names.partition_point(|(known, _)| known < number);
        names.insert(at, (*number, Arc::clone(synthesis_id)));
        let masks = self.masks.entry(mask_key(owner, method, path)).or_default();
        match masks.iter_mut().find(|(known, _)| *known == mask) {
            Some((_, count)) => *count += 1,
            None => {
                masks.push((mask, 1));
                // Section 5.4: the path with the fewest parameters is the more specific one, and goes first.
                masks.sort_by_key(|(mask, _)| mask.count_ones());
            }
        }
    }

    /// Removes a contract that was added.
    pub(super) fn remove(&mut self, owner: OwnerNumber, record: &ContractRecord) {
        let ContractRecord { method, path, number, .. } = record;
        let (mask, shape) = shape(path);
        let key = PairKey { owner, method: method.clone(), shape };
        if let Some(names) = self.by_pair.get_mut(&key) {
            if let Ok(at) = names.binary_search_by_key(number, |(known, _)| *known) {
                names.remove(at);
            }
            if names.is_empty() {
                self.by_pair.remove(&key);
            }
        }
        let key = mask_key(owner, method, path);
        if let Some(masks) = self.masks.get_mut(&key) {
            masks.iter_mut().filter(|(known, _)| *known == mask).for_each(|(_, count)| *count -= 1);
            masks.retain(|(_, count)| *count > 0);
            if masks.is_empty() {
                self.masks.remove(&key);
            }
        }
    }

    /// The contracts of an owner whose path has the shape of this one, the newest first.
    pub(super) fn find_template<'a>(
        &'a self,
        owner: OwnerNumber,
        method: &Method,
        path: &Template,
    ) -> impl Iterator<Item = &'a Arc<str>> + use<'a> {
        let names = self.by_pair.get(&PairKey { owner, method: method.clone(), shape: shape(path).1 });
        names.into_iter().flat_map(|names| names.iter().rev().map(|(_, name)| name))
    }

    /// The contracts of an owner for a pair: those with the fewest parameters first, of those of one shape the
    /// newest first.
    pub(super) fn find<'a>(
        &'a self,
        owner: OwnerNumber,
        method: &'a Method,
        path: &'a RequestPath,
    ) -> impl Iterator<Item = &'a Arc<str>> + use<'a> {
        let segments = path.segments().count();
        let masks = self.masks.get(&MaskKey { owner, method: method.clone(), segments });
        let names = move |(mask, _): &(u32, usize)| {
            // Most contracts have literal paths, for which no text need be put together.
            let shape = if *mask == 0 { path.as_str().into() } else { shape_of_path(path, *mask)?.into() };
            self.by_pair.get(&PairKey { owner, method: method.clone(), shape })
        };
        masks.into_iter().flatten().filter_map(names).flat_map(|names| names.iter().rev().map(|(_, name)| name))
    }
}

fn mask_key(owner: OwnerNumber, method: &Method, path: &Template) -> MaskKey {
    MaskKey { owner, method: method.clone(), segments: path.segments().len() }
}

/// Which segments are parameters, and the path with `{}` for each of them. A template has no more segments than
/// the mask has bits: [`forecourt_contract::limits::TEMPLATE_SEGMENTS_MAX`].
fn shape(path: &Template) -> (u32, Box<str>) {
    if path.is_literal() {
        return (0, path.as_str().into());
    }
    let (mut mask, mut shape) = (0, String::with_capacity(path.as_str().len()));
    for (at, segment) in path.segments().iter().enumerate() {
        shape.push('/');
        match segment {
            Segment::Literal(text) => shape.push_str(text),
            Segment::Parameter(_) => {
                mask |= 1 << at;
                shape.push_str("{}");
            }
        }
    }
    (mask, shape.into())
}

/// A path as if the segments of `mask` were parameters. `None`: one of them is none that a parameter takes.
fn shape_of_path(path: &RequestPath, mask: u32) -> Option<String> {
    let mut shape = String::with_capacity(path.as_str().len());
    for (at, segment) in path.segments().enumerate() {
        shape.push('/');
        match u32::try_from(at).ok().and_then(|at| mask.checked_shr(at)).is_some_and(|rest| rest & 1 == 1) {
            false => shape.push_str(segment),
            true => {
                // Not every text of a segment is a value of a parameter, such as one that is empty.
                path.value(at)?;
                shape.push_str("{}");
            }
        }
    }
    Some(shape)
}

/// What the parameters of a template take from a path. `None`: it does not match.
pub(crate) fn values(template: &Template, path: &RequestPath) -> Option<Vec<(String, String)>> {
    if template.segments().len() != path.segments().count() {
        return None;
    }
    let mut values = Vec::new();
    for (at, (segment, sent)) in template.segments().iter().zip(path.segments()).enumerate() {
        match segment {
            Segment::Literal(text) if text == sent => {}
            Segment::Literal(_) => return None,
            Segment::Parameter(name) => values.push((name.clone(), path.value(at)?.to_owned())),
        }
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use forecourt_contract::Catalog;

    use super::*;

    fn query() -> Method {
        Method::parse("QUERY").unwrap()
    }

    fn template(text: &str) -> Template {
        Template::parse(text, &Catalog::shipped()).unwrap()
    }

    fn path(text: &str) -> RequestPath {
        RequestPath::parse(text, &Catalog::shipped()).unwrap()
    }

    /// A contract of that number at that path, called by its path.
    fn record(number: u64, text: &str) -> ContractRecord {
        ContractRecord { number, method: query(), path: template(text), ..ContractRecord::sample(text) }
    }

    fn table(paths: &[&str]) -> PairTable {
        let mut table = PairTable::default();
        for (number, text) in (1..).zip(paths) {
            table.insert(1, &record(number, text));
        }
        table
    }

    fn found(table: &PairTable, owner: OwnerNumber, text: &str) -> Vec<String> {
        table.find(owner, &query(), &path(text)).map(ToString::to_string).collect()
    }

    #[test]
    fn s5_4_the_fewest_parameters_come_first() {
        let table = table(&["/{a}/{b}", "/rooms/{id}", "/rooms/7", "/", "/rooms"]);
        assert_eq!(found(&table, 1, "/rooms/7"), ["/rooms/7", "/rooms/{id}", "/{a}/{b}"]);
        assert_eq!(found(&table, 1, "/halls/7"), ["/{a}/{b}"]);
        assert_eq!(found(&table, 1, "/"), ["/"]);
        assert_eq!(found(&table, 1, "/rooms/7/beds"), [""; 0]);
        assert_eq!(found(&table, 2, "/rooms/7"), [""; 0], "another owner has none");
    }

    #[test]
    fn what_is_removed_leaves_nothing_behind() {
        let mut table = table(&["/{a}/{b}", "/rooms/{id}", "/rooms/7"]);
        for (number, text) in [(2, "/rooms/{id}"), (1, "/{a}/{b}"), (3, "/rooms/7")] {
            table.remove(1, &record(number, text));
        }
        assert_eq!((table.by_pair.len(), table.masks.len()), (0, 0));
    }

    #[test]
    fn s5_3_values_are_decoded_and_dots_are_none() {
        let template = template("/rooms/{id}");
        assert_eq!(values(&template, &path("/rooms/a%20b")).unwrap(), [("id".to_owned(), "a b".to_owned())]);
        assert_eq!(values(&template, &path("/rooms/..")), None);
        assert_eq!(values(&template, &path("/halls/7")), None);
        assert_eq!(found(&table(&["/rooms/{id}"]), 1, "/rooms/.."), [""; 0]);
    }
}
