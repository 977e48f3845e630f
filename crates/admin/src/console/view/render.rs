//! Pages as HTML: one template each. Whatever is text is escaped by the template.

use askama::Template;
use forecourt_pages::clean;
use http::Uri;

use super::super::{assets, nav};
use super::{Act, Body, Cell, DiffMark, FiringLine, Page, Tone};
use crate::desk::Desk;
use crate::limits::ALERTS_NAMED_MAX;
use crate::nouns::alerts::{self, NodeAlert};
use crate::role::{Actor, Role};

impl Page {
    /// The same, which says whose desk it is of, and what is firing there.
    pub(crate) async fn of(self, desk: &Desk) -> Self {
        let firing = match desk.house() {
            Ok(house) => firing_line(&alerts::heard(&house).await),
            Err(_) => None,
        };
        Self { domain: desk.domain(), firing, ..self }
    }

    /// The whole page, as `visitor` sees it. `done`: what came of the form that led here.
    pub(crate) fn render(&self, visitor: &Actor, uri: &Uri, done: Option<&str>) -> String {
        let back = uri.path_and_query().map_or("/console", |path| path.as_str());
        let shell = Shell {
            page: self,
            nav: nav::NAV,
            style: assets::versioned("console.css"),
            script: assets::versioned("console.js"),
            who: &visitor.name,
            role: visitor.role.name(),
            may_act: visitor.role == Role::Operator,
            csrf: visitor.csrf().unwrap_or_default(),
            back: without_done(back),
            told: done.and_then(notice),
        };
        shell.render().unwrap_or_default()
    }
}

/// What is firing, on a line; none where nothing is.
fn firing_line(firing: &[NodeAlert]) -> Option<FiringLine> {
    let is_critical = firing.iter().any(|one| one.alert.is_critical());
    let count = match firing.len() {
        0 => return None,
        1 => "An alert is firing".to_owned(),
        count => format!("{count} alerts are firing"),
    };
    let mut named: Vec<String> = firing.iter().map(|one| clean::line(&one.alert.summary)).collect();
    // Several nodes may say the same.
    named.dedup();
    named.truncate(ALERTS_NAMED_MAX);
    Some(FiringLine { tone: if is_critical { Tone::Bad } else { Tone::Warn }, count, named })
}

/// Where a form leads back to: this page, without what came of the form before.
fn without_done(path: &str) -> String {
    let Some((path, query)) = path.split_once('?') else { return path.to_owned() };
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("done=")).collect();
    if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
}

/// What is said of a form that was sent. Nothing of the address is shown.
fn notice(done: &str) -> Option<(&'static str, &'static str)> {
    match done {
        "done" => Some(("good", "Done.")),
        "already" => Some(("warn", "There was nothing to do: it is so already.")),
        "refused" => Some(("bad", "It was refused, and nothing has changed. The page says why.")),
        _ => None,
    }
}

pub(crate) fn sentence(text: &str) -> String {
    let text = clean::text(text).trim().to_owned();
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return text };
    let stop = if text.ends_with(['.', '!', '?', '`']) { "" } else { "." };
    format!("{}{}{stop}", first.to_uppercase(), chars.as_str())
}

#[derive(Template)]
#[template(path = "page.html")]
struct Shell<'a> {
    page: &'a Page,
    nav: &'a [(&'static str, &'static [(&'static str, &'static str)])],
    style: String,
    script: String,
    who: &'a str,
    role: &'static str,
    may_act: bool,
    csrf: &'a str,
    back: String,
    told: Option<(&'static str, &'static str)>,
}

#[derive(Template)]
#[template(path = "cell.html")]
struct CellView<'a> {
    cell: &'a Cell,
    may_act: bool,
    csrf: &'a str,
    back: &'a str,
}

impl Shell<'_> {
    /// A value as HTML.
    fn cell(&self, cell: &Cell) -> String {
        match cell {
            // One box: narrow screens put each child of a cell on a line of its own.
            Cell::Several(cells) => {
                format!("<span>{}</span>", cells.iter().map(|cell| self.cell(cell)).collect::<Vec<_>>().join(" "))
            }
            cell => {
                CellView { cell, may_act: self.may_act, csrf: self.csrf, back: &self.back }.render().unwrap_or_default()
            }
        }
    }

    fn act(&self, act: &Act) -> String {
        ActView { act, csrf: self.csrf, back: &self.back }.render().unwrap_or_default()
    }
}

impl CellView<'_> {
    fn act(&self, act: &Act) -> String {
        ActView { act, csrf: self.csrf, back: self.back }.render().unwrap_or_default()
    }
}

#[derive(Template)]
#[template(path = "act.html")]
struct ActView<'a> {
    act: &'a Act,
    csrf: &'a str,
    back: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::view::{ActivityLine, Filter, Section};
    use crate::role::Proof;

    fn visitor(role: Role) -> Actor {
        let by = Proof::Session { hash: "hash".to_owned(), csrf: "token".to_owned() };
        Actor { name: "<b>ann</b>".to_owned(), role, by }
    }

    #[test]
    fn words_of_strangers_are_text() {
        let evil = "<script>alert(1)</script>\u{202e}\"'><img src=x onerror=alert(1)>";
        let page = Page {
            lead: Some(evil.to_owned()),
            facts: vec![("Name", Cell::text(evil)), ("Link", Cell::link("/console", evil)), ("S", Cell::state(evil))],
            sections: vec![
                Section::table(evil, vec!["a", "b"], vec![vec![Cell::text(evil), Cell::Code(evil.to_owned())]], ""),
                Section::new(
                    "log",
                    Body::Log(vec![ActivityLine { number: 1, kind: "text".to_owned(), text: evil.to_owned() }]),
                ),
                Section::new("text", Body::Text(evil.to_owned())),
                Section::new("diff", Body::Diff(DiffMark::lines(&format!("+{evil}\n-{evil}\n {evil}\n@@{evil}")))),
                Section::new("list", Body::List(vec![evil.to_owned()])),
                Section::new("empty", Body::Empty(evil.to_owned())),
            ],
            filters: vec![Filter { name: "x", label: "X", value: evil.to_owned(), choices: vec![evil.to_owned()] }],
            actions: vec![Act::new(evil.to_owned(), evil, evil)],
            firing: Some(FiringLine { tone: Tone::Bad, count: evil.to_owned(), named: vec![evil.to_owned()] }),
            ..Page::new("", evil)
        };
        let html = page.render(
            &visitor(Role::Operator),
            &"/console/x?done=%3Cx%3E&q=%3Cscript%3E".parse().unwrap(),
            Some(evil),
        );
        assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains("<b>ann"), "{html}");
        assert!(!html.contains(" style=") && !html.contains(" onclick") && !html.contains("javascript:"), "{html}");
    }

    #[test]
    fn a_viewer_is_shown_no_form_that_acts() {
        let page = Page { actions: vec![Act::new("reload".to_owned(), "Reload", "")], ..Page::new("", "t") };
        let uri: Uri = "/console".parse().unwrap();
        assert!(page.render(&visitor(Role::Operator), &uri, None).contains("/console/do/reload"));
        assert!(!page.render(&visitor(Role::Viewer), &uri, None).contains("/console/do/reload"));
    }

    #[test]
    fn an_act_sends_what_it_shows() {
        let bill = Act { shown: Some(("amount", "12.50".to_owned())), ..Act::new("bill".to_owned(), "Billed", "") };
        let page = Page { actions: vec![bill], ..Page::new("", "t") };
        let html = page.render(&visitor(Role::Operator), &"/console".parse().unwrap(), None);
        assert!(html.contains("<input type=\"hidden\" name=\"amount\" value=\"12.50\">"), "{html}");
    }

    #[test]
    fn a_form_leads_back_to_its_page_without_what_was_told_there() {
        assert_eq!(without_done("/console/tasks?state=working&done=done"), "/console/tasks?state=working");
        assert_eq!(without_done("/console?done=done"), "/console");
    }
}
