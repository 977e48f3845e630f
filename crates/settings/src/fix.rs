//! This module writes the text of a settings file with its keys under their new names. Comments, order and
//! layout stay; a value that moves to another section takes the comments above it along.

use toml_edit::{DocumentMut, InlineTable, Item, Key, Table, Value};

use crate::moved::KeyMove;

/// The text with every key of `moves` where it is now.
///
/// # Errors
/// A sentence: the text is not TOML, or a key of `moves` is not there.
pub fn rewrite(text: &str, moves: &[KeyMove]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|_| "is not TOML".to_owned())?;
    for moved in moves {
        apply(document.as_table_mut(), &moved.old, &moved.new).ok_or_else(|| format!("has no `{}`", moved.old))?;
    }
    Ok(document.to_string())
}

fn apply(root: &mut Table, old: &str, new: &str) -> Option<()> {
    let (from, to) = (segments(old), segments(new));
    let ((old_name, old_parents), (new_name, new_parents)) = (from.split_last()?, to.split_last()?);
    // In its place, since moving it would take it to the end of the table.
    if old_parents == new_parents {
        return rename(Parent::of(root, old_parents)?, old_name.key, new_name.key);
    }
    let (key, item) = Parent::of(root, old_parents)?.take(old_name.key)?;
    Parent::made(root, new_parents)?.put(&renamed(&key, new_name.key), item);
    Some(())
}

/// One step of a path: a key, and which of a list of tables is meant behind it.
#[derive(PartialEq)]
struct Segment<'a> {
    key: &'a str,
    index: Option<usize>,
}

fn segments(path: &str) -> Vec<Segment<'_>> {
    let segment = |text: &'_ str| -> (usize, Option<usize>) {
        let index = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
        match index.and_then(|(key, index)| Some((key.len(), index.parse().ok()?))) {
            Some((length, index)) => (length, Some(index)),
            None => (text.len(), None),
        }
    };
    let split = |text| {
        let (length, index) = segment(text);
        Segment { key: &text[..length], index }
    };
    path.split('.').map(split).collect()
}

/// A table that has entries, however it is written.
enum Parent<'a> {
    Table(&'a mut Table),
    Inline(&'a mut InlineTable),
}

impl<'a> Parent<'a> {
    /// The table at `path`. `None`: it is not there.
    fn of(root: &'a mut Table, path: &[Segment<'_>]) -> Option<Self> {
        path.iter().try_fold(Self::Table(root), |parent, segment| {
            let item = match parent {
                Self::Table(table) => table.get_mut(segment.key)?,
                Self::Inline(table) => return inline(table.get_mut(segment.key)?, segment.index),
            };
            match (item, segment.index) {
                (Item::Table(table), None) => Some(Self::Table(table)),
                (Item::ArrayOfTables(tables), Some(index)) => tables.get_mut(index).map(Self::Table),
                (Item::Value(value), index) => inline(value, index),
                _ => None,
            }
        })
    }

    /// The same, made where it is missing.
    fn made(root: &'a mut Table, path: &[Segment<'_>]) -> Option<Self> {
        let mut table = &mut *root;
        for segment in path {
            let missing = || {
                let mut table = Table::new();
                // Without a key of its own it needs no head.
                table.set_implicit(true);
                table.decor_mut().set_prefix("\n");
                Item::Table(table)
            };
            match table.entry(segment.key).or_insert_with(missing) {
                Item::Table(next) => table = next,
                Item::Value(Value::InlineTable(next)) => return Some(Self::Inline(next)),
                _ => return None,
            }
        }
        Some(Self::Table(table))
    }

    fn take(self, name: &str) -> Option<(Key, Item)> {
        match self {
            Self::Table(table) => table.remove_entry(name),
            // What stands between braces has no layout to take along.
            Self::Inline(table) => table.remove_entry(name).map(|(_, value)| (Key::new(name), Item::Value(value))),
        }
    }

    fn put(self, key: &Key, item: Item) {
        match (self, item) {
            (Self::Table(table), item) => drop(table.insert_formatted(key, item)),
            (Self::Inline(table), item) => {
                if let Ok(value) = item.into_value() {
                    table.insert(key.get(), value);
                }
            }
        }
    }
}

fn inline(value: &mut Value, index: Option<usize>) -> Option<Parent<'_>> {
    match (value, index) {
        (Value::InlineTable(table), None) => Some(Parent::Inline(table)),
        (Value::Array(items), Some(index)) => items.get_mut(index)?.as_inline_table_mut().map(Parent::Inline),
        _ => None,
    }
}

/// Takes all entries out and puts them back in their order: a table has no way to rename one in its place.
fn rename(parent: Parent<'_>, old: &str, new: &str) -> Option<()> {
    let new_key = |key: &Key| if key.get() == old { renamed(key, new) } else { key.clone() };
    match parent {
        Parent::Table(table) => {
            table.get(old)?;
            let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
            let all: Vec<_> = keys.iter().filter_map(|key| table.remove_entry(key)).collect();
            all.into_iter().for_each(|(key, item)| drop(table.insert_formatted(&new_key(&key), item)));
        }
        Parent::Inline(table) => {
            table.get(old)?;
            let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
            let all: Vec<_> = keys.iter().filter_map(|key| table.remove_entry(key)).collect();
            all.into_iter().for_each(|(key, value)| drop(table.insert_formatted(&new_key(&key), value)));
        }
    }
    Some(())
}

/// The key under another name, with what is written around it.
fn renamed(key: &Key, name: &str) -> Key {
    Key::new(name).with_leaf_decor(key.leaf_decor().clone()).with_dotted_decor(key.dotted_decor().clone())
}
