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
/// Where the schemas of a deployment lie.
const FOLDER: &str = ".schemas";
/// What stands above the rules of editors.
const EDITORS: &str = "# Which schema is for which file, for editors that check TOML with Taplo.\n";

/// A kind of file that has a schema.
struct Kind {
    what: SchemaOf,
    /// Where such files are, from the deployment's folder.
    files: &'static str,
    /// The schema's own file.
    schema: &'static str,
}

/// All of them, in the order in which they are written.
const KINDS: [Kind; 8] = [
    Kind { what: SchemaOf::Deployment, files: "forecourt.toml", schema: "deployment.schema.json" },
    Kind { what: SchemaOf::Agent, files: "agents/*.toml", schema: "agent.schema.json" },
    Kind { what: SchemaOf::Server, files: "servers/*.toml", schema: "server.schema.json" },
    Kind { what: SchemaOf::Hub, files: "hubs/*.toml", schema: "hub.schema.json" },
    Kind { what: SchemaOf::Endpoint, files: "endpoints/*.toml", schema: "endpoint.schema.json" },
    Kind { what: SchemaOf::Recipes, files: "recipes.toml", schema: "recipes.schema.json" },
    Kind { what: SchemaOf::Meanings, files: "meanings.toml", schema: "meanings.schema.json" },
    Kind { what: SchemaOf::Test, files: "tests/*.toml", schema: "test.schema.json" },
];

impl Kind {
    /// Whether the file at this path from the deployment's folder is of this kind.
    fn has(&self, file: &str) -> bool {
        match (self.files.split_once('*'), file.rsplit_once('/')) {
            (Some((folder, end)), Some((before, name))) => {
                folder.trim_end_matches('/') == before && name.ends_with(end)
            }
            (None, None) => self.files == file,
            _ => false,
        }
    }

    /// What tells Taplo of it.
    fn rule(&self) -> String {
        let (files, schema) = (self.files, self.schema);
        format!("\n[[rule]]\ninclude = [\"{files}\"]\nschema = {{ path = \"./{FOLDER}/{schema}\" }}\n")
    }
}

/// Prints one schema, or writes all of them.
pub(crate) fn run(arguments: &SchemaArguments) -> Outcome {
    let Some(deployment) = &arguments.out else { return print_json(&schema(arguments.what)) };
    write_all(deployment)?;
    stderrln!("wrote .taplo.toml and {} schemas in {FOLDER}/ into {}", KINDS.len(), deployment.display());
    Ok(())
}

/// Writes the schema of each kind of file into [`FOLDER`] of a deployment, and what tells editors which is for which.
pub(super) fn write_all(deployment: &Path) -> Outcome {
    let folder = deployment.join(FOLDER);
    std::fs::create_dir_all(&folder).map_err(|error| wrong(&folder, &error))?;
    for kind in &KINDS {
        write(&folder.join(kind.schema), &format!("{:#}\n", schema(kind.what)))?;
    }
    let rules: String = KINDS.iter().map(Kind::rule).collect();
    write(&deployment.join(".taplo.toml"), &format!("{EDITORS}{rules}"))
}

/// The line by which a file names its schema itself, for editors that were opened on another folder than the
/// deployment's. `None` for a file that has none. `file` is its path from there.
pub(super) fn directive(file: &str) -> Option<String> {
    let kind = KINDS.iter().find(|kind| kind.has(file))?;
    let up = "../".repeat(file.matches('/').count());
    Some(format!("#:schema {up}{FOLDER}/{}\n", kind.schema))
}

fn write(file: &Path, text: &str) -> Outcome {
    std::fs::write(file, text).map_err(|error| wrong(file, &error))
}

fn wrong(path: &Path, error: &std::io::Error) -> Failure {
    Failure::yours(format!("{}: {error}", path.display()))
}

/// The schema of one kind of file: its top, with each section where it stands.
fn schema(what: SchemaOf) -> Value {
    let files = KINDS.iter().find(|kind| kind.what == what).map_or("", |kind| kind.files);
    let mut whole = Whole::default();
    for section in reference::sections() {
        match section.section.strip_prefix(files) {
            Some("") => whole.top(&section),
            Some(place) => whole.section(place.trim(), &section),
            None => {}
        }
    }
    whole.finish(&match files.split_once('*') {
        Some((folder, _)) => format!("a file in {folder}"),
        None => files.to_owned(),
    })
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
        // A file of nothing but sections has no type that says it.
        if self.root.is_empty() {
            self.root.insert("type".to_owned(), "object".into());
            self.root.insert("additionalProperties".to_owned(), false.into());
        }
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
        let validators: Vec<Validator> = KINDS.iter().map(|kind| validator(kind.what)).collect();
        let mut seen = vec![0; KINDS.len()];
        for file in walkdir::WalkDir::new(examples).min_depth(1).into_iter().map(Result::unwrap) {
            let path = file.path();
            let (folder, name) = (path.parent().unwrap().file_name().unwrap(), path.file_name().unwrap());
            let names = [name.to_str().unwrap().to_owned(), format!("{}/{}", folder.display(), name.display())];
            let kind = KINDS.iter().position(|kind| names.iter().any(|name| kind.has(name)));
            let Some(kind) = kind else { continue };
            let text = std::fs::read_to_string(path).unwrap();
            let wrong: Vec<String> =
                validators[kind].iter_errors(&toml(&text)).map(|error| error.to_string()).collect();
            assert_eq!(wrong, Vec::<String>::new(), "{}", path.display());
            seen[kind] += 1;
        }
        let of = |what: SchemaOf| seen[KINDS.iter().position(|kind| kind.what == what).unwrap()];
        for what in [SchemaOf::Deployment, SchemaOf::Agent, SchemaOf::Server, SchemaOf::Endpoint, SchemaOf::Recipes] {
            assert!(of(what) > 0, "no example of {what:?}");
        }
    }

    #[test]
    fn a_file_names_the_schema_of_its_kind_from_where_it_lies() {
        assert_eq!(directive("forecourt.toml").as_deref(), Some("#:schema .schemas/deployment.schema.json\n"));
        assert_eq!(directive("agents/chef.toml").as_deref(), Some("#:schema ../.schemas/agent.schema.json\n"));
        for other in
            ["agents/chef.py", "chef.toml", "agents/old/chef.toml", "sites/forecourt.toml", "vocabulary/a.toml"]
        {
            assert_eq!(directive(other), None, "{other}");
        }
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
        for (what, right, wrong) in [
            (SchemaOf::Endpoint, "[endpoint]\nmethod = \"FETCH\"", "[endpoint]\nmehtod = \"FETCH\""),
            (SchemaOf::Endpoint, "[endpoint.semantic]\nintent = \"a\"", "[endpoint.semantic]\nintnet = \"a\""),
            (SchemaOf::Meanings, "[nouns]\npurchase = \"order\"", "[nuons]\npurchase = \"order\""),
            (SchemaOf::Recipes, "[[recipe]]\nname = \"a\"\nsteps = []", "[[recpie]]\nname = \"a\"\nsteps = []"),
        ] {
            assert!(validator(what).is_valid(&toml(right)) && !validator(what).is_valid(&toml(wrong)), "{wrong}");
        }
        let agent = validator(SchemaOf::Agent);
        assert!(agent.is_valid(&toml("handle = \"a\"\nname = \"A\"\n[backend]\nkind = \"echo\"")));
        for wrong in ["kind = \"ecco\"", "kind = \"echo\"\nx = 1", ""] {
            assert!(!agent.is_valid(&toml(&format!("handle = \"a\"\nname = \"A\"\n[backend]\n{wrong}"))), "{wrong}");
        }
    }
}
