//! A page of the manual that the program carries in itself, with an anchor at every heading, so that links of
//! answers lead to the section.

use askama::Template;
use comrak::{Options, markdown_to_html};
use forecourt_core::Language;

use crate::branding::Branding;
use crate::clean;
use crate::template::{self, Head};

/// A page among the others of the manual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManualLink<'a> {
    /// The last part of its path, without an ending.
    pub name: &'a str,
    /// What it is called.
    pub title: &'a str,
}

/// Pages about one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManualGroup<'a> {
    /// The subject.
    pub title: &'a str,
    /// Its pages, in their order.
    pub pages: Vec<ManualLink<'a>>,
}

/// A page of the manual. Its text is the program's own, and nobody else's. Send with [`Branding::manual_policy`].
pub struct ManualPage<'a> {
    /// The page itself; empty for the list of all of them.
    pub name: &'a str,
    /// Its text, in markdown.
    pub markdown: &'a str,
    /// The URL of the page.
    pub url: &'a str,
    /// All pages, in their order.
    pub groups: &'a [ManualGroup<'a>],
    /// The path of an agent that answers from the manual, where there is one.
    pub guide: Option<&'a str>,
    /// Whose pages these are.
    pub brand: &'a Branding,
}

#[derive(Template)]
#[template(path = "manual.html")]
struct ManualTemplate<'a> {
    head: Head,
    current: &'a str,
    groups: &'a [ManualGroup<'a>],
    previous: Option<&'a ManualLink<'a>>,
    next: Option<&'a ManualLink<'a>>,
    guide: Option<String>,
    /// The path of its script.
    script: String,
    /// HTML.
    body: String,
}

impl ManualPage<'_> {
    /// The whole page.
    pub fn render(&self) -> String {
        let mut options = Options::default();
        options.extension.table = true;
        options.extension.strikethrough = true;
        options.extension.tasklist = true;
        // Anchors as the loaders of content make them, and GitHub.
        options.extension.header_id_prefix = Some(String::new());
        options.render.escape = true;
        let pages: Vec<&ManualLink<'_>> = self.groups.iter().flat_map(|group| &group.pages).collect();
        let at = pages.iter().position(|page| page.name == self.name);
        let title = at.map_or("Manual", |at| pages[at].title);
        let text = without_comments(self.markdown);
        template::finish(&ManualTemplate {
            head: Head::new(None, self.url, &Language::english(), self.brand, title, first_words(&text)).public(),
            current: self.name,
            groups: self.groups,
            previous: at.and_then(|at| pages.get(at.checked_sub(1)?).copied()),
            next: at.and_then(|at| pages.get(at + 1).copied()),
            guide: self.guide.and_then(clean::href),
            script: self.brand.manual_script(),
            body: markdown_to_html(&text, &options),
        })
    }
}

/// The first paragraph that is no heading: what a page is about.
fn first_words(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| line.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | '*' | '[')))
        .unwrap_or_default()
}

/// The text without its comments, which tell the tests of the manual what to do. In blocks of code they stay.
fn without_comments(markdown: &str) -> String {
    let (mut text, mut in_code, mut in_comment) = (String::with_capacity(markdown.len()), false, false);
    for line in markdown.split_inclusive('\n') {
        in_code ^= !in_comment && line.trim_start().starts_with("```");
        in_comment |= !in_code && line.starts_with("<!--");
        if !in_comment {
            text.push_str(line);
        }
        in_comment &= !line.contains("-->");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str, brand: &Branding) -> String {
        let link = |name, title| ManualLink { name, title };
        let groups = [
            ManualGroup { title: "Start", pages: vec![link("a", "First"), link("b", "Second")] },
            ManualGroup { title: "Run", pages: vec![link("c", "Third")] },
        ];
        let markdown =
            "# First\n\n## Behind a reverse proxy (nginx, Caddy)\n\n```toml\n[a]\n```\n\n<script>x</script>\n";
        let url = "https://h.example/manual/a";
        ManualPage { name, markdown, url, groups: &groups, guide: Some("/~guide"), brand }.render()
    }

    #[test]
    fn every_heading_has_its_anchor_and_every_page_is_linked() {
        let html = page("a", &Branding::default());
        assert!(html.contains("id=\"behind-a-reverse-proxy-nginx-caddy\""), "{html}");
        for name in ["a", "b", "c"] {
            assert!(html.contains(&format!("href=\"/manual/{name}\"")), "{name} in {html}");
        }
        assert!(html.contains("href=\"/manual/a\" aria-current=\"page\""), "{html}");
        assert!(html.contains("[a]") && !html.contains("<script>"), "{html}");
        assert_eq!(html.matches("<script").count(), 1, "{html}");
        assert!(
            html.contains("<script src=\"/assets/manual.js?v=") && html.contains("data-copied=\"Copied\""),
            "{html}"
        );
        assert!(html.contains("action=\"/~guide\""), "{html}");
    }

    #[test]
    fn comments_are_for_the_tests_of_the_manual_and_code_stays() {
        let text = "a\n<!-- one -->\nb\n<!-- first:\nprintf\n-->\n```html\n<!-- kept -->\n```\nc\n";
        assert_eq!(without_comments(text), "a\nb\n```html\n<!-- kept -->\n```\nc\n");
        assert_eq!(without_comments("<!-- never ends\na"), "");
    }

    #[test]
    fn a_page_is_about_its_first_paragraph() {
        assert_eq!(first_words("# A\n\n| a |\n\nIt **is** so.\nMore.\n"), "It **is** so.");
        assert_eq!(first_words("# A\n"), "");
    }

    #[test]
    fn a_page_leads_to_the_ones_before_and_behind_it() {
        let sides = |name: &str| {
            let html = page(name, &Branding::default());
            ["prev", "next"].map(|side| {
                html.split(&format!("rel=\"{side}\" href=\"/manual/")).nth(1).map(|rest| rest[..1].to_owned())
            })
        };
        assert_eq!(sides("a"), [None, Some("b".to_owned())]);
        assert_eq!(sides("b"), [Some("a".to_owned()), Some("c".to_owned())]);
        assert_eq!(sides("c"), [Some("b".to_owned()), None]);
        assert_eq!(sides(""), [None, None]);
    }

    #[test]
    fn search_engines_list_the_manual_where_the_operator_says_so() {
        assert!(page("a", &Branding::default()).contains("content=\"noindex"));
        assert!(page("a", &Branding::default().indexed(true)).contains("content=\"index, follow\""));
    }
}
