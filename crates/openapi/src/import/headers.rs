//! Header fields and cookies that a service wants and that are not for callers to fill, since they say who calls or
//! can have one value alone. Each has one value for all calls: the one that the document allows, or a variable of
//! the environment.

use super::notes::{Doubt, ImportNotes, Part};
use super::operation::{Operation, Parameter};
use super::security::{Access, variable};
use super::style;

/// Names that OpenAPI itself says are no parameters.
const IGNORED: [&str; 3] = ["accept", "content-type", "authorization"];

/// The cause for review of what the operator fills in.
const SAME_FOR_ALL: &str = "it is the same for every caller";

/// Adds the fields of an operation to those that carry its credentials.
pub(super) fn add(operation: &Operation<'_>, prefix: &str, access: &mut Access, notes: &mut ImportNotes) {
    for parameter in &operation.parameters {
        let name = parameter.name;
        let is_taken = || access.headers.keys().any(|other| other.eq_ignore_ascii_case(name));
        match parameter.place {
            "header" | "cookie" if style::is_of_callers(parameter) => {}
            "header" if name.eq_ignore_ascii_case("accept") && !is_taken() => {
                // `${` would be read as a variable of the environment, whose value a document must not choose.
                let usual = style::only_value(parameter).map(|value| value.replace("${", "$${"));
                access.headers.extend(usual.map(|value| ("Accept".to_owned(), value)));
            }
            "header" if IGNORED.contains(&name.to_ascii_lowercase().as_str()) || is_taken() => {}
            "header" => header(parameter, prefix, access, notes),
            "cookie" if parameter.is_required => {
                let variable = variable(prefix, name);
                let cookie = format!("{name}=${{{variable}}}");
                let all = access.headers.get("Cookie").map(|other| format!("{other}; {cookie}"));
                access.headers.insert("Cookie".to_owned(), all.unwrap_or(cookie));
                notes.review(Part::Handler, Doubt::about(SAME_FOR_ALL, format!("the cookie {name} in {variable}")));
                access.variables.insert(variable, format!("the cookie {name}"));
            }
            "cookie" => notes.loss(format!("the cookie {name}")),
            _ => {}
        }
    }
}

fn header(parameter: &Parameter<'_>, prefix: &str, access: &mut Access, notes: &mut ImportNotes) {
    let name = parameter.name;
    if let Some(value) = style::only_value(parameter) {
        access.headers.insert(name.to_owned(), value.replace("${", "$${"));
        notes.review(Part::Handler, Doubt::about("a header field has the one value that the document gives", name));
    } else if parameter.is_required {
        let variable = variable(prefix, name);
        access.headers.insert(name.to_owned(), format!("${{{variable}}}"));
        notes.review(Part::Handler, Doubt::about(SAME_FOR_ALL, format!("the header field {name} in {variable}")));
        access.variables.insert(variable, format!("the header field {name}"));
    } else {
        notes.loss(format!("the header field {name}: it says who calls"));
    }
}
