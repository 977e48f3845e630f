//! How the service knows this host: header fields with `${VAR}` for what is secret, and what of the
//! service's own scopes a caller of ours must hold.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::Scope;
use serde_json::{Map, Value};

use super::notes::{Doubt, ImportNotes, Part};
use super::operation::Operation;
use super::words::snake;

/// Characters of a variable's name that come from the title of the document.
const TITLE_CHARS_MAX: usize = 24;

/// What goes with every request, and what was found out on the way.
#[derive(Debug, Default)]
pub(super) struct Access {
    /// Header fields; values hold `${VAR}`.
    pub(super) headers: BTreeMap<String, String>,
    /// The variables in them and what each is for.
    pub(super) variables: BTreeMap<String, String>,
    /// Scopes that the document names and a caller can be asked for.
    pub(super) scopes: Vec<String>,
}

/// The credentials of an operation: of several ways the first that header fields can carry.
pub(super) fn access(operation: &Operation<'_>, prefix: &str, notes: &mut ImportNotes) -> Access {
    // An empty list counts as said: the operation is open although the document is not (OpenAPI 3.1, 4.8.10).
    let declared = operation.value.get("security").or_else(|| operation.document.root().get("security"));
    let ways: Vec<&Map<String, Value>> =
        declared.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object).collect();
    let mut refused = BTreeSet::new();
    for way in &ways {
        match carried(operation, prefix, way) {
            Ok((access, hints)) => {
                hints.into_iter().for_each(|hint| notes.review(Part::Handler, hint));
                return access;
            }
            Err(reason) => drop(refused.insert(reason)),
        }
    }
    refused.iter().for_each(|reason| notes.loss(format!("the credentials: {reason}")));
    Access::default()
}

/// One way with all that it asks for.
fn carried(operation: &Operation<'_>, prefix: &str, way: &Map<String, Value>) -> Result<(Access, Vec<Doubt>), String> {
    let (mut access, mut hints) = (Access::default(), Vec::new());
    let schemes = &operation.document.root()["components"]["securitySchemes"];
    for (name, scopes) in way {
        let scheme = schemes.get(name).ok_or_else(|| format!("the document does not say what {name} is"))?;
        let scheme = operation.document.resolve(scheme)?;
        let variable = variable(prefix, name);
        let (header, value, about) = field(scheme, &variable)?;
        let value = match access.headers.get(&header) {
            Some(other) if header == "Cookie" => format!("{other}; {value}"),
            Some(_) => return Err(format!("two of them want the header field {header}")),
            None => value,
        };
        if matches!(scheme["type"].as_str(), Some("oauth2" | "openIdConnect")) {
            hints.push(Doubt::about("you get and renew an access token outside of Forecourt", &variable));
        }
        access.headers.insert(header, value);
        access.variables.insert(variable, about);
        let named = scopes.as_array().into_iter().flatten().filter_map(Value::as_str);
        access.scopes.extend(named.filter(|scope| Scope::parse_required(scope).is_ok()).map(str::to_owned));
    }
    Ok((access, hints))
}

/// The header field of a scheme, its value, and what its variable holds.
fn field(scheme: &Value, variable: &str) -> Result<(String, String, String), String> {
    let text = |key: &str| scheme[key].as_str().unwrap_or_default();
    let authorization = |scheme: &str, about: &str| {
        Ok(("Authorization".to_owned(), format!("{scheme} ${{{variable}}}"), about.to_owned()))
    };
    match (text("type"), text("scheme").to_ascii_lowercase().as_str(), text("in")) {
        ("http", "bearer", _) => authorization("Bearer", "a bearer token"),
        ("http", "basic", _) => authorization("Basic", "user:password in base64"),
        ("oauth2" | "openIdConnect", _, _) => authorization("Bearer", "an access token"),
        ("apiKey", _, "header") if !text("name").is_empty() => {
            Ok((text("name").to_owned(), format!("${{{variable}}}"), "an API key".to_owned()))
        }
        ("apiKey", _, "cookie") if !text("name").is_empty() => {
            let value = format!("{}=${{{variable}}}", text("name"));
            Ok(("Cookie".to_owned(), value, "the value of a cookie".to_owned()))
        }
        ("apiKey", _, "query") => Err(format!(
            "{} goes into the query, where secrets end up in logs; ask the service for a header field",
            text("name")
        )),
        ("mutualTLS", _, _) => Err("a certificate of a client is not presented to services".to_owned()),
        (kind, scheme, _) => Err(format!("{kind} {scheme} is not known here")),
    }
}

/// What every variable's name begins with, so that no document can ask for one that is there for something
/// else, such as the keys of another service.
const UPSTREAM: &str = "UPSTREAM";

/// The start of every variable's name, with the title in it: `UPSTREAM_ACME_CRM`.
pub(super) fn prefix(title: &str) -> String {
    let name = snake(title).to_ascii_uppercase();
    let short: String = name.chars().take(TITLE_CHARS_MAX).collect();
    let short = short.trim_end_matches('_');
    if short.is_empty() { UPSTREAM.to_owned() } else { format!("{UPSTREAM}_{short}") }
}

/// The name of a variable.
pub(super) fn variable(prefix: &str, name: &str) -> String {
    format!("{prefix}_{}", snake(name).to_ascii_uppercase())
}
