//! `forecourt schema`: the JSON Schema of the settings, out of the types that read them.

use std::path::Path;

use forecourt_settings::DocumentedSection;
use serde_json::{Map, Value, json};

use super::reference;
use crate::args::{SchemaArguments, SchemaOf};
use crate::output::{Failure, Outcome, print_json, stderrln};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Where the second name of a key stands in its schema.
const ALIAS: &str = "x-alias";
/// What tells editors with Taplo which schema is for which file.
const EDITORS: &str = "# Which schema is for which file, for editors that check TOML with Taplo.
[[rule]]
include = [\"forecourt.toml\"]
schema = { path = \"./deployment.schema.json\" }

[[rule]]
include = [\"agents/*.toml\"]
schema = { path = \"./agent.schema.json\" }

[[rule]]
include = [\"tests/*.toml\"]
schema = { path = \"./test.schema.json\" }
";

/// Prints one schema, or writes all of them.
pub(crate) fn run(arguments: &SchemaArguments) -> Outcome {
    let Some(folder) = &arguments.out else { return print_json(&schema(arguments.what)) };
    let write = |name: &str, text: String| write(&folder.join(name), &text);
    std::fs::create_dir_all(folder).map_err(|error| wrong(folder, &error))?;
    write("deployment.schema.json", pretty(SchemaOf::Deployment))?;
    write("agent.schema.json", pretty(SchemaOf::Agent))?;
    write("test.schema.json", pretty(SchemaOf::Test))?;
    write(".taplo.toml", EDITORS.to_owned())?;
    stderrln!(
        "wrote deployment.schema.json, agent.schema.json, test.schema.json and .taplo.toml into {}",
        folder.display()
    );
    Ok(())
}

fn write(file: &Path, text: &str) -> Outcome {
    std::fs::write(file, text).map_err(|error| wrong(file, &error))
}

fn wrong(path: &Path, error: &std::io::Error) -> Failure {
    Failure::yours(format!("{}: {error}", path.display()))
}

fn pretty(what: SchemaOf) -> String {
    format!("{:#}\n", schema(what))
}

/// The schema of one kind of file: its top, with each section where it stands.
fn schema(what: SchemaOf) -> Value {
    let (file, title) = match what {
        SchemaOf::Deployment => ("forecourt.toml", "forecourt.toml"),
        SchemaOf::Agent => ("agents/*.toml", "a file in agents/"),
        SchemaOf::Test => ("tests/*.toml", "a file in tests/"),
    };
    let mut whole = Whole::default();
    for section in reference::sections() {
        match section.section.strip_prefix(file) {
            Some("") => whole.top(&section),
            Some(place) => whole.section(place.trim(), &section),
            None => {}
        }
    }
    whole.finish(title)
}

/// A schema that is put together.
#[derive(Default)]
struct Whole {
    root: Map<String, Value>,
    properties: Map<String, Value>,
    definitions: Map<String, Value>,
    /// Those of a section that has one of several forms, by the section.
    forms: Map<String, Value>,
}

impl Whole {
    fn top(&mut self, section: &DocumentedSection) {
        let mut schema = self.of(section);
        if let Some(Value::Object(own)) = schema.as_object_mut().and_then(|schema| schema.remove("properties")) {
            self.properties.extend(own);
        }
        self.root.extend(schema.as_object().cloned().unwrap_or_default());
    }

    /// A section at `[name]`, `[[name]]` or `[name] kind = "x"`.
    fn section(&mut self, place: &str, section: &DocumentedSection) {
        let schema = self.of(section);
        let name = place.trim_start_matches('[').split(']').next().unwrap_or_default().to_owned();
        if place.contains("kind =") {
            let kind = place.split('"').nth(1).unwrap_or_default();
            let form = narrowed(schema, kind);
            let forms = self.forms.entry(name).or_insert_with(|| json!([]));
            forms.as_array_mut().into_iter().for_each(|forms| forms.push(form.clone()));
            return;
        }
        let schema = if place.starts_with("[[") { json!({"type": "array", "items": schema}) } else { schema };
        // `domain` is the one of a deployment, or a list of those of a daemon.
        let schema = match self.properties.remove(&name) {
            Some(other) => json!({"anyOf": [other, schema]}),
            None => schema,
        };
        self.properties.insert(name, schema);
    }

    /// The schema of a section, with its definitions under names of its own.
    fn of(&mut self, section: &DocumentedSection) -> Value {
        let mut schema = (section.schema)().to_value();
        let prefix: String = section.section.chars().filter(char::is_ascii_alphanumeric).collect();
        // Two sections may have definitions of one name, and the whole has one list of them.
        rename(&mut schema, &prefix);
        let Some(own) = schema.as_object_mut() else { return schema };
        ["$schema", "title"].iter().for_each(|key| drop(own.remove(*key)));
        if let Some(Value::Object(definitions)) = own.remove("$defs") {
            self.definitions.extend(definitions.into_iter().map(|(name, schema)| (format!("{prefix}{name}"), schema)));
        }
        schema
    }

    fn finish(mut self, title: &str) -> Value {
        for (name, forms) in std::mem::take(&mut self.forms) {
            self.properties.insert(name, json!({"type": "object", "required": ["kind"], "oneOf": forms}));
        }
        self.root.insert("$schema".to_owned(), DRAFT.into());
        self.root.insert("title".to_owned(), title.into());
        self.root.insert("properties".to_owned(), self.properties.into());
        self.root.insert("$defs".to_owned(), self.definitions.into());
        self.root.into()
    }
}

/// The same form for one value of `kind` alone, so that an editor knows which is meant.
fn narrowed(mut schema: Value, kind: &str) -> Value {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("kind".to_owned(), json!({"const": kind}));
    }
    schema
}

/// References to definitions, to their names within the whole; and keys that have a second name, under both.
fn rename(schema: &mut Value, prefix: &str) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                let second = |schema: &Value| schema.get(ALIAS).and_then(Value::as_str).map(str::to_owned);
                let named = properties.values().filter_map(|schema| Some((second(schema)?, schema.clone())));
                let named: Vec<(String, Value)> = named.collect();
                properties.extend(named);
            }
            if let (Some(second), Some(value)) = (fields.remove(ALIAS), fields.get("const").cloned()) {
                fields.remove("const");
                fields.insert("enum".to_owned(), json!([value, second]));
            }
            for (key, value) in fields {
                match value {
                    Value::String(reference) if key == "$ref" => {
                        *reference = reference.replace("#/$defs/", &format!("#/$defs/{prefix}"));
                    }
                    other => rename(other, prefix),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, prefix)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use jsonschema::Validator;

    use super::*;

    fn validator(what: SchemaOf) -> Validator {
        jsonschema::validator_for(&schema(what)).unwrap()
    }

    fn toml(text: &str) -> Value {
        serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
    }

    #[test]
    fn every_example_is_right() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let (deployment, agent) = (validator(SchemaOf::Deployment), validator(SchemaOf::Agent));
        let mut seen = 0;
        for file in walkdir::WalkDir::new(examples).into_iter().map(Result::unwrap) {
            let path = file.path();
            let is_agent = path.parent().is_some_and(|folder| folder.ends_with("agents"));
            let schema = match path.extension().is_some_and(|extension| extension == "toml") {
                true if is_agent => &agent,
                true if path.ends_with("forecourt.toml") => &deployment,
                _ => continue,
            };
            let text = std::fs::read_to_string(path).unwrap();
            let wrong: Vec<String> = schema.iter_errors(&toml(&text)).map(|error| error.to_string()).collect();
            assert_eq!(wrong, Vec::<String>::new(), "{}", path.display());
            seen += 1;
        }
        assert!(seen > 8, "{seen} files");
    }

    #[test]
    fn what_is_right_is_right_and_what_is_misspelled_is_not() {
        let deployment = validator(SchemaOf::Deployment);
        let several = "[[domain]]\npath = \"sites/a\"\n[listen]\nhttp = \"127.0.0.1:0\"\n";
        assert!(deployment.is_valid(&toml(several)));
        assert!(!deployment.is_valid(&toml("[[domain]]\npaht = \"sites/a\"\n")));
        let right = "domain = \"demo.localhost\"\n[listen]\nhttp = \"127.0.0.1:0\"\n[agtp]\n";
        let wrong: Vec<String> = deployment.iter_errors(&toml(right)).map(|error| error.to_string()).collect();
        assert_eq!(wrong, Vec::<String>::new());
        for wrong in
            ["", "domain = \"a\"\nnmae = \"x\"", "domain = \"a\"\n[listne]", "domain = \"a\"\n[listen]\nhtp = \"\""]
        {
            assert!(!deployment.is_valid(&toml(wrong)), "{wrong}");
        }
        let test = validator(SchemaOf::Test);
        let of_one = |more: &str| toml(&format!("[[test]]\nname = \"a\"\nsay = \"b\"\n{more}"));
        for right in [
            "",
            "over = \"a2a\"",
            "over = [\"rest\", \"mcp\"]",
            "[test.expect]\ncontains = \"c\"\nlimits = [\"price < 3\"]",
        ] {
            let wrong: Vec<String> = test.iter_errors(&of_one(right)).map(|error| error.to_string()).collect();
            assert_eq!(wrong, Vec::<String>::new(), "{right}");
        }
        for wrong in ["over = \"smtp\"", "[test.expect]\ncontians = \"c\"", "as = { subjct = \"a\" }"] {
            assert!(!test.is_valid(&of_one(wrong)), "{wrong}");
        }
        assert!(!test.is_valid(&toml("[[tset]]\nname = \"a\"")));
        let agent = validator(SchemaOf::Agent);
        assert!(agent.is_valid(&toml("handle = \"a\"\nname = \"A\"\n[backend]\nkind = \"echo\"")));
        for wrong in ["kind = \"ecco\"", "kind = \"echo\"\nx = 1", ""] {
            assert!(!agent.is_valid(&toml(&format!("handle = \"a\"\nname = \"A\"\n[backend]\n{wrong}"))), "{wrong}");
        }
    }
}
