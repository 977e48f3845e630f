//! A page of the manual that the program carries in itself, with an anchor at every heading, so that links of
//! answers lead to the section.

use askama::Template;
use comrak::{Options, markdown_to_html};
use forecourt_core::Language;

use crate::branding::Branding;
use crate::template::{self, Head};

/// A page among the others of the manual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManualLink<'a> {
    /// The last part of its path, without an ending.
    pub name: &'a str,
    /// What it is called.
    pub title: &'a str,
}

/// A page of the manual. Its text is the program's own, and nobody else's. Send with [`Branding::answer_policy`].
pub struct ManualPage<'a> {
    /// The page itself.
    pub name: &'a str,
    /// Its text, in markdown.
    pub markdown: &'a str,
    /// The URL of the page.
    pub url: &'a str,
    /// All pages, in their order.
    pub pages: &'a [ManualLink<'a>],
    /// Whose pages these are.
    pub brand: &'a Branding,
}

#[derive(Template)]
#[template(path = "manual.html")]
struct ManualTemplate<'a> {
    head: Head,
    current: &'a str,
    pages: &'a [ManualLink<'a>],
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
        let title = self.pages.iter().find(|page| page.name == self.name).map_or("Manual", |page| page.title);
        template::finish(&ManualTemplate {
            head: Head::new(title, self.url, &Language::english(), self.brand, title, ""),
            current: self.name,
            pages: self.pages,
            body: markdown_to_html(self.markdown, &options),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_heading_has_its_anchor_and_every_page_is_linked() {
        let pages = [ManualLink { name: "a", title: "First" }, ManualLink { name: "b", title: "Second" }];
        let markdown =
            "# First\n\n## Behind a reverse proxy (nginx, Caddy)\n\n```toml\n[a]\n```\n\n<script>x</script>\n";
        let (url, brand) = ("https://h.example/manual/a", Branding::default());
        let page = ManualPage { name: "a", markdown, url, pages: &pages, brand: &brand };
        let html = page.render();
        assert!(html.contains("id=\"behind-a-reverse-proxy-nginx-caddy\""), "{html}");
        assert!(html.contains("href=\"/manual/b\"") && !html.contains("href=\"/manual/a\""), "{html}");
        assert!(html.contains("[a]") && !html.contains("<script>"), "{html}");
    }
}
