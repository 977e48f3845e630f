//! A table of a settings file that remembers where each of its values stands.

mod both;
mod moved;
mod overrides;
mod read;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use both::schema_of_both;
pub use read::{JsonProblem, from_json, nearest};
use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::de::DeTable;

use crate::environment::Environment;
use crate::error::{Problem, Problems};
use crate::overrides::EnvironmentOverride;
use crate::source::Source;
use crate::tree::{Builder, Entry, Kind, Node, Table};

/// One table of a settings file. Sub-tables are taken out by their owners; what is left is read by
/// the owner of this one, and a key that nobody took is an error there.
#[derive(Clone, Debug)]
pub struct Section {
    pub(crate) source: Arc<Source>,
    pub(crate) path: String,
    pub(crate) span: Option<Range<usize>>,
    pub(crate) table: Table,
    pub(crate) taken: Vec<String>,
    /// The keys that the file has no say in, each with who has.
    pub(crate) overruled: BTreeMap<String, PathBuf>,
    /// The variable of the environment that it is from, where the file has no such table.
    pub(crate) by: Option<Arc<EnvironmentOverride>>,
}

impl Section {
    /// Parses a whole file. `file` is used for messages and for [`Section::folder`], nothing is read.
    ///
    /// # Errors
    /// Every syntax error with its place; when the syntax is fine, every variable that is not set.
    pub fn parse(file: &Path, text: &str, environment: &dyn Environment) -> Result<Section, Problems> {
        let source = Arc::new(Source::new(file, text));
        let mut problems = Problems::new();
        let (root, mut errors) = DeTable::parse_recoverable(text);
        errors.sort_by_key(|error| error.span().map(|span| span.start));
        problems.extend(errors.iter().map(|error| syntax_problem(&source, error)));
        // What could be read of a broken text would bring problems that are none.
        problems.into_result(())?;

        let mut problems = Problems::new();
        let table = Builder { source: &source, environment, problems: &mut problems }.table(root.get_ref());
        problems.into_result(Section { table, ..Section::bare(source, String::new()) })
    }

    /// An empty section, for an owner whose table is not in the file: all of its defaults.
    pub fn empty(file: &Path, path: &str) -> Section {
        Section::bare(Arc::new(Source::new(file, "")), path.to_owned())
    }

    fn bare(source: Arc<Source>, path: String) -> Section {
        Section {
            source,
            path,
            span: None,
            table: Table::new(),
            taken: Vec::new(),
            overruled: BTreeMap::new(),
            by: None,
        }
    }

    /// The sub-table `key`. `None`: not there, or not a table (then [`Section::read`] says so).
    pub fn take(&mut self, key: &str) -> Option<Section> {
        self.note_taken(key);
        let Entry { key_span, value, by } = self.table.remove(key)?;
        match value.kind {
            Kind::Table(table) => Some(Section { by, ..self.child(self.path_of(key), key_span, table) }),
            kind => {
                // Put back, so that `read` finds it and says what it should be.
                self.table.insert(key.to_owned(), Entry { key_span, value: Node { kind, ..value }, by });
                None
            }
        }
    }

    /// The sub-table `key`, or an empty one when it is not there.
    pub fn take_or_empty(&mut self, key: &str) -> Section {
        self.take(key).unwrap_or_else(|| Section { path: self.path_of(key), ..self.without_entries() })
    }

    /// The tables of the list `key`, in file order. Empty: not there, or not a list of tables (then
    /// [`Section::read`] says so).
    pub fn take_list(&mut self, key: &str) -> Vec<Section> {
        self.note_taken(key);
        match self.table.remove(key) {
            // All of them or none: an item that is no table would otherwise be lost without a word.
            Some(Entry { value: Node { kind: Kind::List(items), .. }, .. }) if items.iter().all(Node::is_table) => {
                items.into_iter().enumerate().filter_map(|(index, item)| self.list_item(key, index, item)).collect()
            }
            Some(entry) => {
                self.table.insert(key.to_owned(), entry);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// The keys that are left, in file order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(_, entry)| entry.key_span.start);
        entries.into_iter().map(|(key, _)| key.as_str())
    }

    /// Puts a text, a number or a truth value under `key` whatever the file says there: for what goes before the file,
    /// such as the flag `by`. Problems with the key name that in place of a line.
    pub fn overrule(&mut self, key: &str, value: impl Into<Value>, by: &str) {
        let kind = match value.into() {
            Value::String(value) => Kind::Text { value, from_environment: false },
            value => Kind::Plain(value),
        };
        let entry = Entry { key_span: 0..0, value: Node { span: 0..0, kind }, by: None };
        self.table.insert(key.to_owned(), entry);
        self.overruled.insert(key.to_owned(), PathBuf::from(by));
    }

    /// Whether `key` is here and not taken yet.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The string under `key`, which stays here: for choosing a type by `kind`.
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.table.get(key)?.value.kind {
            Kind::Text { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The strings of the list under `key`, which stays here. `None`: no list of strings.
    pub fn texts(&self, key: &str) -> Option<Vec<&str>> {
        let Kind::List(items) = &self.table.get(key)?.value.kind else { return None };
        items
            .iter()
            .map(|item| if let Kind::Text { value, .. } = &item.kind { Some(value.as_str()) } else { None })
            .collect()
    }

    /// What is left, as the owner's type, which should refuse unknown fields.
    ///
    /// # Errors
    /// Every unknown key (with the nearest known one), missing key and value of a wrong type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Problems> {
        read::read(self)
    }

    /// A problem with the value of `key`, or with the section as a whole.
    pub fn problem(&self, key: Option<&str>, message: impl Into<String>) -> Problem {
        if let Some(by) = key.and_then(|key| self.overruled.get(key)) {
            return Problem::of_file(by, message);
        }
        let entry = key.and_then(|key| self.table.get(key));
        if let Some(by) = entry.and_then(|entry| entry.by.as_ref()).or(self.by.as_ref()) {
            return by.problem(message);
        }
        match entry.map(|entry| &entry.key_span).or(self.span.as_ref()) {
            Some(span) => Problem::at(&self.source.file, self.source.place(span), message),
            None => Problem::of_file(&self.source.file, message),
        }
    }

    /// A problem with one item of the list under `key`, counted from 0; with the key where there is none.
    pub fn item_problem(&self, key: &str, item: usize, message: impl Into<String>) -> Problem {
        // A value from the environment has no line in the file.
        let items = self.table.get(key).filter(|entry| entry.by.is_none()).map(|entry| &entry.value.kind);
        match items {
            Some(Kind::List(items)) if item < items.len() && !self.overruled.contains_key(key) => {
                Problem::at(&self.source.file, self.source.place(&items[item].span), message)
            }
            _ => self.problem(Some(key), message),
        }
    }

    /// A section of the same file with no values: to ask what was noted about the file once all of it was read.
    #[must_use]
    pub fn without_values(&self) -> Section {
        self.without_entries()
    }

    /// What there is to say about where the secrets of this file were found, in a sentence each.
    pub fn secret_notices(&self) -> Vec<String> {
        self.source.notices()
    }

    /// The folder of the file: relative paths in the settings start there.
    pub fn folder(&self) -> &Path {
        match self.source.file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// A path from the settings, taken from [`Section::folder`] when it is relative.
    pub fn resolve_path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder().join(path)
    }

    /// The file this section is in.
    pub fn file(&self) -> &Path {
        &self.source.file
    }

    /// File and table for people, such as `agents/gate.toml [backend]`.
    pub fn name(&self) -> String {
        let file = self.source.file.display();
        if self.path.is_empty() { file.to_string() } else { format!("{file} [{}]", self.path) }
    }

    /// The table for people, such as `policy.rules[0]`; empty for a whole file.
    pub fn table_name(&self) -> &str {
        &self.path
    }

    fn note_taken(&mut self, key: &str) {
        if !self.taken.iter().any(|taken| taken == key) {
            self.taken.push(key.to_owned());
        }
    }

    fn list_item(&self, key: &str, index: usize, item: Node) -> Option<Section> {
        match item.kind {
            Kind::Table(table) => Some(self.child(format!("{}[{index}]", self.path_of(key)), item.span, table)),
            _ => None,
        }
    }

    fn child(&self, path: String, span: Range<usize>, table: Table) -> Section {
        Section { path, span: Some(span), table, ..self.without_entries() }
    }

    fn without_entries(&self) -> Section {
        Section::bare(Arc::clone(&self.source), String::new())
    }

    pub(crate) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

impl Node {
    fn is_table(&self) -> bool {
        matches!(self.kind, Kind::Table(_))
    }
}

fn syntax_problem(source: &Source, error: &toml::de::Error) -> Problem {
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    match error.span() {
        Some(span) => Problem::at(&source.file, source.place(&span), message),
        None => Problem::of_file(&source.file, message),
    }
}
