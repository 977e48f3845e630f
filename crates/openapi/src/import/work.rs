//! The operations of a document, one after the other: which become endpoints, under which names.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::Catalog;

use super::choices::ChosenOperations;
use super::draft::{Draft, Pair};
use super::notes::{ImportNotes, ReviewCauses};
use super::operation::Operation;
use super::reimport::ImportRecord;
use super::stubs::{self, Stubs};
use super::verify::Trial;
use super::write::{self, Stage};
use super::{AnsweredBy, Base, EndpointFiles, File, ImportFate, ImportedOperation, dialect, names};

/// An import under way: the operations so far, and the names that they took.
pub(super) struct Work<'a> {
    catalog: &'a Catalog,
    base: &'a Base,
    trial: Trial,
    /// The names of files, without their endings.
    names: BTreeSet<String>,
    /// The names that files have from before.
    taken: BTreeSet<String>,
    /// What was imported before.
    record: &'a ImportRecord,
    chosen: &'a ChosenOperations,
    /// The title of the document.
    name: &'a str,
    variables: BTreeMap<String, String>,
    stubs: Stubs,
}

/// An operation that was drafted, and whether an endpoint comes of it.
pub(super) struct OperationDraft<'a> {
    operation: &'a Operation<'a>,
    fate: Result<EndpointDraft<'a>, ImportFate>,
}

/// An endpoint that a host would take, not yet written: how often what is to be reviewed holds is known at the end.
struct EndpointDraft<'a> {
    name: String,
    draft: Draft<'a>,
    pair: Pair,
    notes: ImportNotes,
}

impl OperationDraft<'_> {
    /// Counts what is to be reviewed.
    pub(super) fn count(&self, causes: &mut ReviewCauses) {
        if let Ok(endpoint) = &self.fate {
            causes.count(&format!("{}.toml", endpoint.name), &endpoint.notes);
        }
    }

    /// The operation with its files, now that it is known how often each cause for review holds.
    pub(super) fn written(self, base: &Base, causes: &ReviewCauses) -> ImportedOperation {
        let operation = self.operation;
        let fate = self.fate.map_or_else(std::convert::identity, |endpoint| {
            let EndpointDraft { name, draft, pair, notes } = endpoint;
            let files = write::files(&name, &draft, &pair, &notes, base, Stage::Final(causes));
            ImportFate::Written(EndpointFiles { files, method: pair.verb, path: pair.path, notes })
        });
        ImportedOperation {
            http: operation.http.clone(),
            path: operation.path.to_owned(),
            id: operation.id.to_owned(),
            fate,
        }
    }
}

impl<'w> Work<'w> {
    /// An import of the document that is called `name`, before its first operation.
    pub(super) fn new(
        catalog: &'w Catalog,
        base: &'w Base,
        record: &'w ImportRecord,
        chosen: &'w ChosenOperations,
        name: &'w str,
    ) -> Work<'w> {
        Work {
            catalog,
            base,
            trial: Trial::default(),
            names: BTreeSet::new(),
            taken: record.taken(),
            record,
            chosen,
            name,
            variables: BTreeMap::new(),
            stubs: Stubs::default(),
        }
    }

    /// The variables that the files need, and the file of functions.
    pub(super) fn finished(self, base: &Base) -> (BTreeMap<String, String>, Option<File>) {
        (self.variables, self.stubs.file(base))
    }

    /// The endpoint of an operation, or why there is none.
    pub(super) fn drafted<'a>(&mut self, operation: &'a Operation<'a>, base: &'a Base) -> OperationDraft<'a> {
        let fate = match operation.http.as_str() {
            _ if !self.chosen.takes(operation) => Err(ImportFate::NotChosen),
            "HEAD" | "OPTIONS" | "TRACE" => {
                Err(ImportFate::Skipped(format!("{} answers with nothing to read", operation.http)))
            }
            _ => self.endpoint(operation, base).map_err(ImportFate::Failed),
        };
        OperationDraft { operation, fate }
    }

    /// The endpoint with the first pair under which the operation can be one.
    fn endpoint<'a>(&mut self, operation: &'a Operation<'a>, base: &'a Base) -> Result<EndpointDraft<'a>, String> {
        let draft = Draft::new(operation, base)?;
        let mut refused = None;
        for pair in draft.pairs(self.catalog) {
            let name = self.name(operation, &pair);
            let mut notes = draft.notes.clone();
            notes.extend(&pair.notes);
            let on_trial = write::files(&name, &draft, &pair, &notes, base, Stage::Trial);
            match self.trial.register(&on_trial, &draft.access.variables, self.catalog) {
                Ok(()) => {
                    self.stubs.add(&name, &draft, &pair);
                    self.names.insert(name.clone());
                    self.variables.extend(draft.access.variables.clone());
                    return Ok(EndpointDraft { name, draft, pair, notes });
                }
                // What is said of the best pair helps most.
                Err(fault) => drop(refused.get_or_insert(fault)),
            }
        }
        Err(refused.unwrap_or_else(|| "no verb of the catalog fits".to_owned()))
    }

    /// Names out of verb and path, and out of the id where these are long or taken.
    fn made(&self, operation: &Operation<'_>, pair: &Pair) -> Vec<String> {
        let mut made = names::file(&pair.verb, &pair.path);
        let at = usize::from(!made.first().is_some_and(|short| names::is_long(short)));
        if let Some(name) = names::of_id(operation.id) {
            made.insert(at, name);
        }
        made
    }

    /// A name for the file that no other has, on any system, and that a function may have: the one that was chosen,
    /// else the one that it had, else one out of verb and path.
    fn name(&self, operation: &Operation<'_>, pair: &Pair) -> String {
        let is_free = |name: &str| !self.names.contains(name) && !stubs::KEYWORDS.contains(&name);
        let recorded = self.record.file_of(self.name, &operation.http, operation.path, operation.id);
        if let Some(name) = self.chosen.name(operation).into_iter().chain(recorded).find(|name| is_free(name)) {
            return name.to_owned();
        }
        // Names of files of an earlier import stay theirs, even if their operation is gone: people may have edited
        // them.
        let is_new = |name: &str| is_free(name) && !self.taken.contains(name);
        let mut made = match &self.base.answered {
            AnsweredBy::Tools(handler) => vec![handler.file(operation.id)],
            AnsweredBy::Service | AnsweredBy::Functions(_) => self.made(operation, pair),
        }
        .into_iter();
        let short = made.next().unwrap_or_default();
        let free = std::iter::once(short.clone()).chain(made).find(|name| is_new(name));
        free.unwrap_or_else(|| dialect::free(&short, is_new))
    }
}
