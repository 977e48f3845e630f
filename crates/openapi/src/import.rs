//! From an OpenAPI document to endpoint files, one for each operation. Draft section 14.1, appendix A.3.
//!
//! ```text
//! document ─► operations ─► draft (input, answers, access) ─► pairs (verb, path) ─► file ─► trial ─► written
//!                              └─ what no endpoint can be: failed, with a reason
//! ```
//!
//! The document is not trusted to be right, nor the guesses about it: what is written was read back
//! and registered first. Guesses are marked for review, and what can't be carried over is named.

mod answers;
mod body;
mod choices;
mod dialect;
mod draft;
mod effect;
mod fields;
mod headers;
mod headline;
mod input;
mod lexicon;
mod media;
mod names;
mod notes;
mod operation;
mod path;
mod prose;
pub mod reimport;
mod request;
mod rules;
mod scopes;
mod security;
mod semantic;
mod server;
mod stubs;
mod style;
mod toml;
mod tools;
mod verb;
mod verify;
mod words;
mod work;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::Catalog;
use serde_json::Value;
use url::Url;

pub use choices::ImportChoices;
pub use notes::{ImportNotes, Part, Review, ReviewCause};
pub use tools::{ToolDescription, ToolServer, import_tools};

use crate::document::{OpenApiDocument, OpenApiDocumentError};
use crate::limits::SENTENCE_CHARS_MAX;
use choices::ChosenOperations;
use notes::ReviewCauses;
use operation::Operation;
use reimport::ImportRecord;
use tools::ToolHandler;
use work::{OperationDraft, Work};

/// A text of strangers on one line of bounded length, without control characters.
pub(crate) fn one_line(text: &str) -> String {
    words::line(text, SENTENCE_CHARS_MAX)
}

/// The schema that takes any value.
static ANYTHING: Value = Value::Bool(true);

/// What an import needs to know that the document does not say.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the document was fetched from: servers that it names by a path alone are there.
    pub address: Option<Url>,
    /// Whether the endpoints are answered by functions to be written here, and no longer by the service.
    /// Appendix B.2.
    pub is_rehosted: bool,
    /// What of the document is taken. A kind of choice that is not made here is as it was made before.
    pub choices: ImportChoices,
    /// Whether choices of earlier imports count no more.
    pub forgets_choices: bool,
    /// What was imported into the folder before, so that files keep their names.
    pub record: ImportRecord,
}

/// Why nothing of a document is imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The document can't be read.
    #[error(transparent)]
    Document(#[from] OpenApiDocumentError),
    /// The base that was given is none, or none was given and the document has none.
    #[error("{0}")]
    Base(String),
    /// The document has no operation.
    #[error("the document has no operation under `paths`")]
    Empty,
    /// A choice means nothing, or nothing is left by what was chosen.
    #[error("{0}")]
    Choice(String),
}

/// What a document became.
#[derive(Clone, Debug)]
pub struct Import {
    /// The title and version of the document.
    pub title: String,
    /// The title alone, by which the document is known when it comes again.
    pub name: String,
    /// The version alone; empty when there is none.
    pub version: String,
    /// Each operation, by path and then by method.
    pub operations: Vec<ImportedOperation>,
    /// What was taken of the document, to be remembered.
    pub choices: ImportChoices,
    /// Why somebody has to look, each once, with how often it holds.
    pub causes: Vec<ReviewCause>,
    /// Variables of the environment that the files need, and what each is for.
    pub variables: BTreeMap<String, String>,
    /// What of the document as a whole is not carried over.
    pub losses: Vec<String>,
    /// A Python file of functions to be filled in, when the service is rehosted.
    pub stubs: Option<File>,
}

/// One operation and what became of it.
#[derive(Clone, Debug)]
pub struct ImportedOperation {
    /// Its HTTP method.
    pub http: String,
    /// Its path, as the document has it.
    pub path: String,
    /// Its `operationId`; empty when it has none of its own.
    pub id: String,
    /// What became of it.
    pub fate: ImportFate,
}

/// What an operation became.
#[derive(Clone, Debug)]
pub enum ImportFate {
    /// The operation became an endpoint.
    Written(EndpointFiles),
    /// Nothing, since it was not chosen.
    NotChosen,
    /// Nothing, and nothing is missing: why.
    Skipped(String),
    /// Nothing, though it should be something: why.
    Failed(String),
}

impl ImportFate {
    /// The endpoint, if it became one.
    pub fn written(&self) -> Option<&EndpointFiles> {
        match self {
            ImportFate::Written(written) => Some(written),
            ImportFate::NotChosen | ImportFate::Skipped(_) | ImportFate::Failed(_) => None,
        }
    }
}

/// An endpoint in its files.
#[derive(Clone, Debug)]
pub struct EndpointFiles {
    /// The verb.
    pub method: String,
    /// The path.
    pub path: String,
    /// The endpoint's own file first, then the schemas beside it.
    pub files: Vec<File>,
    /// What to review and what is lost.
    pub notes: ImportNotes,
}

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, without a folder.
    pub name: String,
    /// What stands in it.
    pub text: String,
}

/// What all operations of a document share.
struct Base {
    /// The start of all URLs, when it was given.
    url: Option<String>,
    /// Where the document is.
    address: Option<Url>,
    /// What answers the endpoints.
    answered: AnsweredBy,
    /// The start of the names of variables.
    prefix: String,
    /// Title and version.
    title: String,
    /// The shapes of all paths.
    shapes: BTreeSet<String>,
    /// The words that all tags begin with, which say nothing of any.
    shared: Vec<String>,
}

/// What answers the endpoints of an import.
enum AnsweredBy {
    /// The service that the document describes.
    Service,
    /// Functions that are to be written, in this module: the service is rehosted.
    Functions(String),
    /// Tools of a server elsewhere.
    Tools(ToolHandler),
}

impl Base {
    /// A tag as the name of a group.
    fn namespace(&self, tag: &str) -> String {
        names::namespace(tag, &self.shared)
    }
}

/// Imports a document. Nothing is read or written but the text that is given.
///
/// # Errors
/// The document is none, or has no operation. What is wrong with one operation is that one's [`ImportFate`].
pub fn import(text: &[u8], options: &Options) -> Result<Import, ImportError> {
    let document = OpenApiDocument::read(text)?;
    let answered = match options.is_rehosted {
        true => AnsweredBy::Functions(stubs::module(&titled(&document))),
        false => AnsweredBy::Service,
    };
    imported(&document, options, answered)
}

/// The title of a document, on one line.
fn titled(document: &OpenApiDocument) -> String {
    let name = words::line(&document.info("title"), SENTENCE_CHARS_MAX);
    if name.is_empty() { "a document without a title".to_owned() } else { name }
}

/// Imports a document that was read.
fn imported(document: &OpenApiDocument, options: &Options, answered: AnsweredBy) -> Result<Import, ImportError> {
    let name = titled(document);
    let title = words::line(&format!("{name} {}", document.info("version")), SENTENCE_CHARS_MAX);
    let mut operations = Operation::all(document);
    let before = if options.forgets_choices { ImportChoices::default() } else { options.record.choices(&name) };
    let choices = options.choices.over(&before);
    let chosen = choices.read().map_err(ImportError::Choice)?;
    let url = choices.base_url.as_deref().map(server::given).transpose().map_err(ImportError::Base)?;
    for operation in &mut operations {
        operation.ruled_impact = chosen.impact(operation);
    }
    let shapes = operations.iter().map(|operation| path::shape(operation.path)).collect();
    let shared = names::shared(operations.iter().flat_map(Operation::tags));
    let address = options.address.clone();
    let base = Base { url, address, answered, prefix: security::prefix(&name), title, shapes, shared };
    checked(&operations, &base, &chosen)?;
    // The shipped catalog: an import knows no deployment and no catalog of its operator.
    let catalog = Catalog::shipped();
    let mut work = Work::new(&catalog, &base, &options.record, &chosen, &name);
    let drafted: Vec<OperationDraft<'_>> = operations.iter().map(|operation| work.drafted(operation, &base)).collect();
    let mut causes = ReviewCauses::default();
    drafted.iter().for_each(|drafted| drafted.count(&mut causes));
    let unused =
        chosen.unused(&operations).into_iter().map(|text| format!("the choice `{text}`: nothing is called so"));
    let losses = losses(document).into_iter().chain(unused).collect();
    let operations = drafted.into_iter().map(|drafted| drafted.written(&base, &causes)).collect();
    let (variables, stubs) = work.finished(&base);
    Ok(Import {
        operations,
        causes: causes.into_all(),
        choices,
        variables,
        losses,
        stubs,
        title: base.title.clone(),
        version: words::line(&document.info("version"), SENTENCE_CHARS_MAX),
        name,
    })
}

/// Whether there is something to import.
fn checked(operations: &[Operation<'_>], base: &Base, chosen: &ChosenOperations) -> Result<(), ImportError> {
    if operations.is_empty() {
        return Err(ImportError::Empty);
    }
    if !operations.iter().any(|operation| chosen.takes(operation)) {
        let nothing = "nothing of the document was chosen: see --tag, --only and --except";
        return Err(ImportError::Choice(nothing.to_owned()));
    }
    if url_of_none(operations, base) {
        return Err(ImportError::Base(server::base(&operations[0], base.address.as_ref()).err().unwrap_or_default()));
    }
    Ok(())
}

/// Whether nothing says where the service is, which is one fault and not one of each operation.
fn url_of_none(operations: &[Operation<'_>], base: &Base) -> bool {
    matches!(base.answered, AnsweredBy::Service)
        && base.url.is_none()
        && operations.iter().all(|operation| server::base(operation, base.address.as_ref()).is_err())
}

/// What belongs to the document and not to an operation.
fn losses(document: &OpenApiDocument) -> Vec<String> {
    let webhooks = document.root()["webhooks"].as_object().filter(|webhooks| !webhooks.is_empty());
    webhooks
        .map(|webhooks| format!("{} webhooks: a host is not called by the services behind it", webhooks.len()))
        .into_iter()
        .collect()
}
