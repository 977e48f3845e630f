//! Joins everything that was found out about one operation into a draft of its endpoint.

use forecourt_contract::deprecation::is_plain;
use forecourt_contract::{Catalog, Scope};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::answers::{self, Failures, Success};
use super::headline::headline;
use super::input::{self, Input};
use super::notes::{Doubt, ImportNotes, Part};
use super::operation::Operation;
use super::path::{Rewritten, Route};
use super::security::{self, Access};
use super::semantic::{self, Semantic};
use super::verb::{self, Choice, Evidence};
use super::words::line;
use super::{AnsweredBy, Base, headers, scopes, server};
use crate::limits::SENTENCE_CHARS_MAX;

/// Names of query parameters that hold words to look for.
const SEARCHING: [&str; 7] = ["q", "query", "search", "term", "keyword", "keywords", "text"];

/// What is the same whichever verb and path the endpoint gets.
pub(super) struct Draft<'a> {
    pub(super) operation: &'a Operation<'a>,
    base: &'a Base,
    pub(super) route: Route,
    pub(super) namespace: Option<String>,
    pub(super) input: Input,
    pub(super) success: Success,
    pub(super) failures: Failures,
    pub(super) access: Access,
    pub(super) url: String,
    pub(super) deprecated_in: Option<String>,
    pub(super) notes: ImportNotes,
}

/// The verb and the path of an endpoint, with what depends on them.
pub(super) struct Pair {
    pub(super) verb: String,
    pub(super) path: String,
    pub(super) description: String,
    pub(super) scopes: Vec<String>,
    pub(super) semantic: Semantic,
    pub(super) notes: ImportNotes,
}

impl<'a> Draft<'a> {
    /// Reads an operation.
    ///
    /// # Errors
    /// What keeps it from being an endpoint, in a sentence.
    pub(super) fn new(operation: &'a Operation<'a>, base: &'a Base) -> Result<Draft<'a>, String> {
        if let AnsweredBy::Tools(tools) = &base.answered {
            tools.check(operation.text("operationId"))?;
        }
        let mut notes = ImportNotes::default();
        let below = format!("{}/", operation.path.trim_end_matches('/'));
        let mut route = Route::new(operation.path);
        route.is_branch = operation.all_paths().any(|path| path.starts_with(&below) && path != below);
        let input = input::input(operation, &route, &mut notes)?;
        let mut success = answers::success(operation, &mut notes)?;
        let is_rehosted = matches!(base.answered, AnsweredBy::Functions(_));
        if is_rehosted {
            success.schema = answers::in_object(success.schema);
        }
        let is_elsewhere = matches!(base.answered, AnsweredBy::Service);
        let failures = answers::failures(operation, is_elsewhere, &mut notes);
        let (url, access) = match base.answered {
            AnsweredBy::Functions(_) | AnsweredBy::Tools(_) => Default::default(),
            AnsweredBy::Service => reached(operation, base, &route, &input, &success, &mut notes)?,
        };
        if matches!(base.answered, AnsweredBy::Tools(_)) {
            for (ours, theirs) in &input.transform {
                let renamed = format!("`{theirs}` is `{ours}` here");
                notes.review(Part::Input, Doubt::about("the tool would not know a field by its name here", renamed));
            }
        }
        if operation.value.get("callbacks").is_some() {
            notes.loss("callbacks: the service can't call back through an endpoint");
        }
        Ok(Draft {
            url,
            namespace: operation.tags().first().map(|tag| base.namespace(tag)).filter(|tag| !tag.is_empty()),
            deprecated_in: deprecated(operation, &mut notes),
            operation,
            base,
            route,
            input,
            success,
            failures,
            access,
            notes,
        })
    }

    /// Pairs under which the endpoint may be registered, the best first.
    pub(super) fn pairs(&self, catalog: &Catalog) -> Vec<Pair> {
        let evidence = self.evidence();
        let choice = self.choice(&evidence, catalog);
        let others = verb::alternatives(&evidence, &choice.verb, catalog);
        let mut pairs: Vec<Pair> = Vec::new();
        for way in self.ways(&choice.verb, catalog) {
            let mut pair = self.pair(&choice.verb, &choice, way, catalog);
            if !self.is_usual(&choice, catalog) {
                said(&choice, self.operation, &others, &mut pair.notes);
            }
            pairs.push(pair);
        }
        for other in &others {
            for way in self.ways(other, catalog) {
                let mut pair = self.pair(other, &choice, way, catalog);
                pair.notes
                    .review(Part::Method, Doubt::about("its own method stands at this path already", &choice.verb));
                pairs.push(pair);
            }
        }
        pairs
    }

    /// Whether formats only tell what texts mean: those of documents are seldom kept to, but for what was exported.
    pub(super) fn formats_annotate(&self) -> bool {
        let has_format = |schema: &Value| schema.to_string().contains("\"format\":");
        let is_meant = !self.operation.document.is_exported() || self.operation.text("x-agtp-format") == "annotate";
        is_meant && (has_format(&self.input.schema) || has_format(&self.success.schema))
    }

    fn evidence(&self) -> Evidence<'_> {
        let operation = self.operation;
        let searches = |name: &str| SEARCHING.contains(&name);
        Evidence {
            http: if operation.reads_only() { "GET" } else { &operation.http },
            id: operation.id,
            summary: headline(operation).unwrap_or_default(),
            tags: operation.tags(),
            literals: self.route.literals(),
            ends_literal: self.route.ends_literal(),
            gives_list: self.success.is_list,
            searches: operation.parameters.iter().any(|p| p.place == "query" && p.is_required && searches(p.name)),
        }
    }

    fn choice(&self, evidence: &Evidence<'_>, catalog: &Catalog) -> Choice {
        // Written by an export of endpoints, so it is no guess.
        let stated = self.operation.text("x-agtp-method");
        match catalog.verb(stated) {
            Some(_) => Choice { verb: stated.to_owned(), seen: None, is_literal: true },
            None => verb::choose(evidence, catalog),
        }
    }

    /// Whether the verb is no guess: the document has the word, or the catalog says that it is what the
    /// HTTP method means. A POST may mean anything.
    fn is_usual(&self, choice: &Choice, catalog: &Catalog) -> bool {
        let http = self.operation.http.as_str();
        let is_open = http == "POST";
        // What a GET reads is told by its answer.
        if http == "GET" && choice.seen.is_none() {
            return true;
        }
        let preferred = catalog.legacy(http).map(|legacy| &legacy.preferred);
        choice.is_literal || (!is_open && preferred == Some(&choice.verb))
    }

    fn ways(&self, verb: &str, catalog: &Catalog) -> Vec<Rewritten> {
        let stated = self.operation.text("x-agtp-path");
        let stated = (!stated.is_empty()).then(|| Rewritten { path: stated.to_owned(), change: None });
        stated.into_iter().chain(self.route.rewritten(verb, &self.base.shapes, catalog)).collect()
    }

    fn pair(&self, verb: &str, choice: &Choice, way: Rewritten, catalog: &Catalog) -> Pair {
        let mut notes = ImportNotes::default();
        // Nobody knows the paths that tools were given here.
        let is_of_tool = matches!(self.base.answered, AnsweredBy::Tools(_));
        if let Some(change) = way.change.as_ref().filter(|_| !is_of_tool) {
            notes.remark(Part::Path, change);
        }
        let semantic = semantic::semantic(self.operation, verb, choice, &self.success.description, catalog);
        semantic.doubts.iter().for_each(|doubt| notes.review(Part::Semantic, Doubt::new(doubt)));
        let reads = semantic.impact == "informational";
        let scopes = self.scopes(&way.path, reads, &mut notes);
        // What was made of endpoints is meant to the letter.
        let own = line(self.operation.text("description"), SENTENCE_CHARS_MAX);
        let description = match self.operation.document.is_exported() && !own.is_empty() {
            true => own,
            false => semantic::description(self.operation, verb),
        };
        Pair { verb: verb.to_owned(), path: way.path, description, scopes, semantic, notes }
    }

    /// What a caller must hold: what the document states, else the service's own scopes, else a guess,
    /// so that nothing is open by oversight.
    fn scopes(&self, path: &str, reads: bool, notes: &mut ImportNotes) -> Vec<String> {
        if let Some(stated) = self.operation.value["x-agtp-required-scopes"].as_array() {
            let scope = |stated: &Value| Some(Scope::parse_required(stated.as_str()?).ok()?.as_str().to_owned());
            match stated.iter().map(scope).collect() {
                Some(scopes) => return scopes,
                None => notes.review(Part::Scopes, Doubt::new("what the document states are no scopes")),
            }
        }
        if !self.access.scopes.is_empty() {
            notes.remark(Part::Scopes, "the service's own scopes");
            return self.access.scopes.clone();
        }
        let scope = scopes::made_up(path, self.namespace.as_deref(), reads);
        notes.remark(Part::Scopes, "made up from the path: say what agents must hold");
        notes.made_up_scope = Some(scope.clone());
        vec![scope]
    }
}

/// Where the service is and what goes with every request.
fn reached(
    operation: &Operation<'_>,
    base: &Base,
    route: &Route,
    input: &Input,
    success: &Success,
    notes: &mut ImportNotes,
) -> Result<(String, Access), String> {
    let start = base.url.clone().map_or_else(|| server::base(operation, base.address.as_ref()), Ok)?;
    if server::is_plain(&start) {
        notes.review(
            Part::Handler,
            Doubt::new("plain HTTP: a host takes it only where [egress] opens the network it is in"),
        );
    }
    let mut access = security::access(operation, &base.prefix, notes);
    headers::add(operation, &base.prefix, &mut access, notes);
    if let Some(media) = &success.media {
        access.headers.entry("Accept".to_owned()).or_insert_with(|| media.clone());
    }
    Ok((url(&start, route, input), access))
}

/// Says why the verb was chosen.
fn said(choice: &Choice, operation: &Operation<'_>, others: &[String], notes: &mut ImportNotes) {
    let instead = others.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    match &choice.seen {
        Some(seen) => {
            let near = format!("near to {seen}; or {instead}");
            notes.review(Part::Method, Doubt::about("the document's word is not a method of the catalog", near));
        }
        None => {
            let only = format!("{}; or {instead}", operation.http);
            notes.review(Part::Method, Doubt::about("only the HTTP method tells what it does", only));
        }
    }
}

/// The service's URL; each `{name}` is a field of the input.
fn url(start: &str, route: &Route, input: &Input) -> String {
    let pair =
        |(theirs, ours): &(String, String)| format!("{}={{{ours}}}", utf8_percent_encode(theirs, NON_ALPHANUMERIC));
    let pairs: Vec<String> = input.in_url.iter().map(pair).collect();
    let path = route.upstream();
    let mark = if path.contains('?') { '&' } else { '?' };
    if pairs.is_empty() { format!("{start}{path}") } else { format!("{start}{path}{mark}{}", pairs.join("&")) }
}

/// Since when it is deprecated; the document says only that it is.
fn deprecated(operation: &Operation<'_>, notes: &mut ImportNotes) -> Option<String> {
    let stated = operation.value["x-agtp-deprecated"]["deprecated_in"].as_str().filter(|version| is_plain(version));
    if let Some(version) = stated {
        return Some(version.to_owned());
    }
    (operation.value["deprecated"] == json!(true)).then(|| {
        notes.review(
            Part::Deprecated,
            Doubt::new("the document does not say since when it is deprecated, and what to use instead"),
        );
        let version = operation.document.info("version");
        if is_plain(&version) { version } else { "unknown".to_owned() }
    })
}
