//! The file that defines a server: read as far as commands need it, and written for the person who owns it.

use std::collections::BTreeMap;
use std::path::Path;

use forecourt::registry::server_survey::SurveyTarget;
use forecourt_core::Glob;
use forecourt_settings::{ProcessEnvironment, Section, files};
use serde::Deserialize;
use url::Url;

use super::definition_file;
use crate::commands::toml_text::{key, list, quoted, table};
use crate::output::Failure;

/// A server as its file defines it, as far as it concerns who asks it and what is taken of it. The protocol knows the
/// other keys.
#[derive(Debug, Default, Deserialize)]
pub(in crate::commands) struct ServerDefinition {
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    pub(in crate::commands) prefix: Option<String>,
    #[serde(default)]
    pub(in crate::commands) only: Vec<Glob>,
    #[serde(default)]
    pub(in crate::commands) except: Vec<Glob>,
}

impl ServerDefinition {
    /// Reads a definition, with `${VAR}` from the environment. `None`: there is no such file.
    pub(in crate::commands) fn read(deployment: &Path, name: &str) -> Result<Option<Self>, Failure> {
        Ok(section(deployment, name, &ProcessEnvironment)?.map(|section| section.read()).transpose()?)
    }

    /// The same with `${VAR}` as it is written.
    pub(in crate::commands) fn read_as_written(deployment: &Path, name: &str) -> Result<Option<Self>, Failure> {
        let same = |name: &str| Some(format!("${{{name}}}"));
        Ok(section(deployment, name, &same)?.map(|section| section.read()).transpose()?)
    }

    /// Where the server is.
    pub(in crate::commands) fn target(&self, deployment: &Path) -> Option<SurveyTarget> {
        match &self.url {
            Some(url) => Some(SurveyTarget::Url { url: url.clone(), headers: self.headers.clone() }),
            None if self.command.is_empty() => None,
            None => Some(SurveyTarget::Program {
                command: self.command.clone(),
                variables: self.env.clone(),
                folder: deployment.to_path_buf(),
            }),
        }
    }

    /// A definition of a server at `target`, whose values are as they are to be written.
    pub(in crate::commands) fn of(target: &SurveyTarget) -> Self {
        match target.clone() {
            SurveyTarget::Url { url, headers } => Self { url: Some(url), headers, ..Self::default() },
            SurveyTarget::Program { command, variables, .. } => Self { command, env: variables, ..Self::default() },
        }
    }

    /// Whether it is the same server: a URL of the same origin, or the same program.
    pub(in crate::commands) fn is_at_place_of(&self, other: &Self) -> bool {
        let origin = |one: &Self| one.url.as_deref().and_then(|url| Url::parse(url).ok()).map(|url| url.origin());
        match (origin(self), origin(other)) {
            (None, None) => self.url == other.url && self.command == other.command,
            (own, others) => own == others,
        }
    }

    /// The same with what `known` says of it already. What a server is asked with goes to no other one.
    pub(in crate::commands) fn after(self, known: Self) -> Self {
        let is_same = self.is_at_place_of(&known);
        let or_known = |own: BTreeMap<String, String>, known| if own.is_empty() && is_same { known } else { own };
        Self {
            headers: or_known(self.headers, known.headers),
            env: or_known(self.env, known.env),
            prefix: known.prefix,
            only: known.only,
            except: known.except,
            url: self.url,
            command: self.command,
        }
    }

    /// Whether a tool of this name is taken.
    pub(in crate::commands) fn takes(&self, tool: &str) -> bool {
        let named = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(tool));
        (self.only.is_empty() || named(&self.only)) && !named(&self.except)
    }

    /// The file.
    pub(in crate::commands) fn text(&self, name: &str, about: &str) -> String {
        let mut lines = vec![
            format!("# The MCP server {about}, behind this host."),
            format!("# Its tools are at /mcp, under the prefix, and as it has them at /mcp/{name}."),
            String::new(),
        ];
        if let Some(url) = &self.url {
            lines.push(format!("url = {}", quoted(url)));
            lines.extend(table("headers", &self.headers));
        } else {
            lines.push(format!("command = {}", list(&self.command)));
            lines.extend(table("env", &self.env));
        }
        let default = name.replace('-', "_");
        let prefix = self.prefix.as_deref().unwrap_or(&default);
        lines.extend([
            String::new(),
            "# A tool is called PREFIX_TOOL at /mcp; \"\" leaves its own name.".to_owned(),
            format!("prefix = {}", quoted(prefix)),
            String::new(),
            "# The tools that are offered, by the server's own names; `*` stands for any characters.".to_owned(),
            key("only", &self.only, "get_*"),
            key("except", &self.except, "delete_*"),
            String::new(),
            "# Tools that are listed in any case, where there are many.".to_owned(),
            "# pinned = [\"get_*\"]".to_owned(),
            String::new(),
            "# Seconds for one answer.".to_owned(),
            "# total_seconds = 60".to_owned(),
            String::new(),
            "# The revision to speak: FastMCP, for one, asks people in the middle of a tool only in this one."
                .to_owned(),
            "# revision = \"2025-11-25\"".to_owned(),
            String::new(),
            "# Who may call what: rules as elsewhere, for some of its tools or for all.".to_owned(),
            "# [[policy]]".to_owned(),
            "# kind = \"require_identity\"".to_owned(),
            "# tools = [\"delete_*\"]".to_owned(),
        ]);
        lines.join("\n") + "\n"
    }
}

fn section(
    deployment: &Path,
    name: &str,
    environment: &dyn forecourt_settings::Environment,
) -> Result<Option<Section>, Failure> {
    let file = definition_file(deployment, name);
    if !file.exists() {
        return Ok(None);
    }
    let text = files::text_of(&file).map_err(|problem| Failure::yours(problem.to_string()))?;
    Ok(Some(Section::parse(&file, &text, environment)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(text: &str) -> ServerDefinition {
        let same = |name: &str| Some(format!("${{{name}}}"));
        Section::parse(Path::new("a.toml"), text, &same).unwrap().read().unwrap()
    }

    #[test]
    fn what_a_server_is_asked_with_goes_to_no_other_one() {
        let known = |place: &str| {
            definition(&format!(
                "{place}\nheaders = {{ X-Key = \"${{KEY}}\" }}\nenv = {{ KEY = \"${{KEY}}\" }}\nprefix = \"p\"\nonly = [\"get_*\"]\nexcept = [\"get_x\"]"
            ))
        };
        let (url, command) = ("url = \"https://a.example/mcp\"", "command = [\"a\", \"b\"]");
        for (now, before, is_same) in [
            (url, url, true),
            ("url = \"https://a.example/other\"", url, true),
            ("url = \"https://b.example/mcp\"", url, false),
            (command, url, false),
            (command, command, true),
            ("command = [\"a\"]", command, false),
        ] {
            let after = definition(now).after(known(before));
            assert_eq!((after.headers.is_empty(), after.env.is_empty()), (!is_same, !is_same), "{now} {before}");
            assert_eq!((after.prefix.as_deref(), after.takes("get_y"), after.takes("get_x")), (Some("p"), true, false));
        }
    }

    #[test]
    fn a_definition_is_read_back() {
        let headers = BTreeMap::from([("X-Key".to_owned(), "a \"b\" ${KEY}".to_owned())]);
        let own = ServerDefinition {
            url: Some("https://a.example/mcp".to_owned()),
            headers: headers.clone(),
            only: vec!["get_*".parse().unwrap()],
            ..ServerDefinition::default()
        };
        let text = own.text("a-b", "\"A\" 1.0");
        let read = definition(&text);
        assert_eq!((read.url, read.headers, read.prefix.as_deref()), (own.url, headers, Some("a_b")), "{text}");
        assert_eq!((read.only, read.except), (own.only, Vec::new()));
    }

    #[test]
    fn a_program_has_its_arguments_and_variables() {
        let target = SurveyTarget::Program {
            command: vec!["npx".to_owned(), "-y".to_owned(), "C:\\x".to_owned()],
            variables: BTreeMap::from([("TOKEN".to_owned(), "${TOKEN}".to_owned())]),
            folder: "/srv".into(),
        };
        let read = definition(&ServerDefinition::of(&target).text("a", "A"));
        assert_eq!(read.command, ["npx", "-y", "C:\\x"]);
        assert_eq!(read.env["TOKEN"], "${TOKEN}");
    }

    #[test]
    fn what_is_excepted_is_not_taken() {
        let read = definition("url = \"x\"\nonly = [\"get_*\"]\nexcept = [\"get_all\"]");
        assert_eq!(["get_one", "get_all", "set"].map(|name| read.takes(name)), [true, false, false]);
    }
}
