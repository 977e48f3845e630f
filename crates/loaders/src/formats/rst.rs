//! reStructuredText within a section: blocks and inline markup to words and to markdown.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Directives whose content is code.
const CODE: &[&str] = &["code-block", "code", "sourcecode", "highlight", "parsed-literal", "prompt", "testcode"];
/// Directives whose content is shown as a note with their name in front.
const NOTES: &[&str] = &[
    "note",
    "warning",
    "tip",
    "hint",
    "important",
    "caution",
    "danger",
    "attention",
    "error",
    "seealso",
    "deprecated",
    "versionadded",
    "versionchanged",
    "admonition",
    "todo",
];
/// Directives that say nothing here.
const SILENT: &[&str] = &[
    "toctree",
    "contents",
    "index",
    "include",
    "literalinclude",
    "meta",
    "highlight-lang",
    "raw",
    "default-role",
    "role",
    "sectnum",
    "tabularcolumns",
    "only",
    "autosummary",
    "currentmodule",
    "module",
    "program",
];

/// One block.
pub(super) struct Block {
    /// Lines before it.
    pub(super) line: usize,
    kind: Kind,
    lines: Vec<String>,
}

enum Kind {
    Text,
    Code(String),
    /// As it stands: tables.
    Verbatim,
    Note(String),
    Image(String, String),
}

static ROLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r":[A-Za-z][\w:+.-]*:`([^`]*)`").ok());
static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"`([^`<]*?)\s*<([^`>]*)>`_{1,2}").ok());
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"`([^`]+)`_{1,2}").ok());

/// The blocks of a section.
pub(super) fn blocks(lines: &[&str]) -> Vec<Block> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if line.trim().is_empty() {
            at += 1;
        } else if let Some(rest) = line.trim_start().strip_prefix(".. ").or_else(|| (line.trim() == "..").then_some(""))
        {
            let (length, block) = explicit(lines, at, rest);
            out.extend(block);
            at += length;
        } else {
            let length = lines[at..].iter().position(|line| line.trim().is_empty()).unwrap_or(lines.len() - at);
            let paragraph = &lines[at..at + length];
            let is_table = paragraph[0].starts_with("+-") || paragraph[0].starts_with("==");
            let is_literal = !is_table && paragraph.last().is_some_and(|last| last.trim_end().ends_with("::"));
            let kind = if is_table { Kind::Verbatim } else { Kind::Text };
            let mut own: Vec<String> = paragraph.iter().map(|line| (*line).to_owned()).collect();
            if let Some(last) = own.last_mut().filter(|_| is_literal) {
                literal_mark(last);
            }
            own.retain(|line| !line.is_empty());
            if !own.is_empty() {
                out.push(Block { line: at, kind, lines: own });
            }
            let indent = indent_of(paragraph[0]);
            at += length;
            if is_literal {
                let (length, code) = indented(lines, at, indent);
                if !code.is_empty() {
                    out.push(Block { line: at, kind: Kind::Code(String::new()), lines: code });
                }
                at += length;
            }
        }
    }
    out
}

/// `text::` says `text:`, `::` alone nothing.
fn literal_mark(line: &mut String) {
    let text = line.trim_end().trim_end_matches(':').to_owned();
    *line = match text.trim().is_empty() || text.ends_with(' ') {
        true => text.trim_end().to_owned(),
        false => format!("{text}:"),
    };
}

/// A directive, a target or a comment: how many lines it has, and what it says.
fn explicit(lines: &[&str], at: usize, head: &str) -> (usize, Option<Block>) {
    let (length, content) = indented(lines, at + 1, indent_of(lines[at]));
    let whole = length + 1;
    let Some((name, argument)) = head.split_once("::").filter(|(name, _)| is_directive(name)) else {
        return (whole, None);
    };
    let (name, argument) = (name.trim().to_ascii_lowercase(), argument.trim().to_owned());
    let short = name.rsplit(':').next().unwrap_or(&name).to_owned();
    let body: Vec<String> = content.iter().skip_while(|line| is_option(line)).cloned().collect();
    let block = |kind: Kind, lines: Vec<String>| Some(Block { line: at, kind, lines });
    let said = if CODE.contains(&short.as_str()) {
        if body.is_empty() { None } else { block(Kind::Code(argument), trimmed(body)) }
    } else if SILENT.contains(&short.as_str()) {
        None
    } else if matches!(short.as_str(), "image" | "figure") {
        let alt = content.iter().find_map(|line| line.trim().strip_prefix(":alt:")).unwrap_or_default();
        block(Kind::Image(argument, alt.trim().to_owned()), trimmed(body))
    } else if NOTES.contains(&short.as_str()) {
        let first = (!argument.is_empty()).then_some(argument);
        block(Kind::Note(short), trimmed(first.into_iter().chain(body).collect()))
    } else if short.ends_with("table") {
        block(Kind::Verbatim, trimmed(body))
    } else {
        let first = (!argument.is_empty()).then_some(argument);
        block(Kind::Text, trimmed(first.into_iter().chain(body).collect()))
    };
    (whole, said)
}

fn is_directive(name: &str) -> bool {
    let name = name.trim();
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+'))
}

fn is_option(line: &str) -> bool {
    line.starts_with(':') && line[1..].contains(':')
}

fn trimmed(mut lines: Vec<String>) -> Vec<String> {
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    lines.drain(..lines.iter().take_while(|line| line.trim().is_empty()).count());
    lines
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lines from `at` on that are indented more than `indent`, without what they have in common; and how many
/// lines that are with the empty ones between them.
fn indented(lines: &[&str], at: usize, indent: usize) -> (usize, Vec<String>) {
    let rest = lines.get(at..).unwrap_or_default();
    let length = rest.iter().take_while(|line| line.trim().is_empty() || indent_of(line) > indent).count();
    let own = &rest[..length];
    let common = own.iter().filter(|line| !line.trim().is_empty()).map(|line| indent_of(line)).min().unwrap_or(0);
    let lines = own.iter().map(|line| line.get(common..).unwrap_or_default().to_owned()).collect();
    (length, trimmed(lines))
}

/// The words of a block, and how it is written in markdown. `link` makes a link whole.
pub(super) fn written(block: &Block, link: &dyn Fn(&str) -> Option<String>) -> (String, String) {
    let lines = block.lines.join("\n");
    match &block.kind {
        Kind::Text => (plain(&lines), inline(&lines, link)),
        Kind::Code(language) => (lines.clone(), fenced(language, &lines)),
        Kind::Verbatim => (lines.clone(), fenced("", &lines)),
        Kind::Note(name) => {
            let said = inline(&lines, link);
            let quoted: Vec<String> = said.lines().map(|line| format!("> {line}")).collect();
            (plain(&lines), format!("> **{}**\n{}", capitalized(name), quoted.join("\n")))
        }
        Kind::Image(source, alt) => {
            let whole = link(source).unwrap_or_else(|| source.clone());
            let said = inline(&lines, link);
            (
                format!("{alt} {}", plain(&lines)).trim().to_owned(),
                format!("![{alt}]({whole})\n\n{said}").trim().to_owned(),
            )
        }
    }
}

/// Code between fences that it does not have itself.
pub(super) fn fenced(language: &str, code: &str) -> String {
    let longest = code.lines().map(|line| line.trim_start().bytes().take_while(|byte| *byte == b'`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}{}\n{code}\n{fence}", language.split_whitespace().next().unwrap_or_default())
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The words of a text without its markup.
pub(super) fn plain(text: &str) -> String {
    let text = replaced(&ROLE, text, |found| label(&found[1]).to_owned());
    let text = replaced(&LINK, &text, |found| if found[1].is_empty() { &found[2] } else { &found[1] }.to_owned());
    let text = replaced(&NAMED, &text, |found| found[1].to_owned());
    text.replace("``", "").replace("**", "")
}

/// The text with markdown's markup.
fn inline(text: &str, link: &dyn Fn(&str) -> Option<String>) -> String {
    let text = replaced(&ROLE, text, |found| label(&found[1]).to_owned());
    let text = replaced(&LINK, &text, |found| {
        let target = link(&found[2]).unwrap_or_else(|| found[2].to_owned());
        let name = if found[1].is_empty() { target.clone() } else { found[1].to_owned() };
        format!("[{name}]({target})")
    });
    let text = replaced(&NAMED, &text, |found| found[1].to_owned());
    text.replace("``", "`")
}

/// `text <target>` says `text`; `~a.b.c` says `c`.
fn label(role: &str) -> &str {
    let label = role.rfind('<').filter(|at| *at > 0).map_or(role, |at| role[..at].trim());
    match label.strip_prefix('~') {
        Some(path) => path.rsplit('.').next().unwrap_or(path),
        None => label.trim_start_matches('!'),
    }
}

fn replaced(pattern: &LazyLock<Option<Regex>>, text: &str, with: impl Fn(&Captures<'_>) -> String) -> String {
    match pattern.as_ref() {
        Some(pattern) => pattern.replace_all(text, |found: &Captures<'_>| with(found)).into_owned(),
        None => text.to_owned(),
    }
}
