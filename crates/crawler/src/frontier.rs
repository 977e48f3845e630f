//! Which pages of a site are next.

use std::collections::{HashSet, VecDeque};

use url::Url;

use crate::limits::PAGE_URL_BYTES_MAX;

/// Ends of paths that lead to no page.
const NO_PAGES: &[&str] = &[
    ".jpg", ".jpeg", ".png", ".gif", ".svg", ".webp", ".avif", ".ico", ".css", ".js", ".mjs", ".woff", ".woff2",
    ".ttf", ".pdf", ".zip", ".gz", ".tar", ".7z", ".exe", ".dmg", ".apk", ".mp3", ".mp4", ".m4a", ".webm", ".mov",
    ".avi", ".ogg", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".epub",
];

/// Pages that were found, each of them once.
pub(crate) struct Frontier {
    origin: url::Origin,
    waiting: VecDeque<(Url, u32)>,
    found: HashSet<String>,
    pages_max: usize,
    /// Whether a page was left out because there are too many.
    pub(crate) is_cut: bool,
    /// Links that are longer than [`PAGE_URL_BYTES_MAX`].
    pub(crate) too_long: u64,
}

impl Frontier {
    /// For pages of the origin of `start`, at most `pages_max` in all.
    pub(crate) fn new(start: &Url, pages_max: usize) -> Self {
        let (waiting, found) = (VecDeque::new(), HashSet::new());
        Self { origin: start.origin(), waiting, found, pages_max, is_cut: false, too_long: 0 }
    }

    /// Whether a URL is of the site.
    pub(crate) fn is_own(&self, url: &Url) -> bool {
        url.origin() == self.origin && url.username().is_empty() && url.password().is_none()
    }

    /// The address of a page of the site that was not found before. `None`: it is none.
    pub(crate) fn new_page(&self, url: &Url) -> Option<Url> {
        let mut url = url.clone();
        // Fragments lead to places of one page, not to other pages.
        url.set_fragment(None);
        let path = url.path().to_ascii_lowercase();
        let is_page = self.is_own(&url) && !NO_PAGES.iter().any(|end| path.ends_with(end));
        Some(url).filter(|url| is_page && !self.found.contains(url.as_str()))
    }

    /// Adds a page at a depth, unless it was found before or is none of the site's.
    pub(crate) fn add(&mut self, url: &Url, depth: u32) {
        let Some(url) = self.new_page(url) else { return };
        if url.as_str().len() > PAGE_URL_BYTES_MAX {
            self.too_long += 1;
            return;
        }
        // Counted as found and not as read: the queue itself has to have a bound.
        if self.found.len() >= self.pages_max {
            self.is_cut = true;
            return;
        }
        self.found.insert(url.as_str().to_owned());
        self.waiting.push_back((url, depth));
    }

    /// The next page, with its depth.
    pub(crate) fn next(&mut self) -> Option<(Url, u32)> {
        self.waiting.pop_front()
    }

    /// Pages that wait, and pages that were found.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.waiting.len(), self.found.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_page_is_visited_once_and_only_at_home() {
        let mut frontier = Frontier::new(&url("https://e.org/"), 10);
        for text in [
            "https://e.org/a",
            "https://e.org/a#part",
            "http://e.org/b",
            "https://e.org:8443/b",
            "https://u:p@e.org/b",
            "https://other.org/",
            "https://e.org/picture.PNG",
            "mailto:a@e.org",
        ] {
            frontier.add(&url(text), 0);
        }
        frontier.add(&url(&format!("https://e.org/{}", "x".repeat(PAGE_URL_BYTES_MAX))), 0);
        assert_eq!((frontier.counts(), frontier.too_long), ((1, 1), 1));
        assert_eq!(frontier.next(), Some((url("https://e.org/a"), 0)));
        frontier.add(&url("https://e.org/a"), 0);
        assert_eq!(frontier.next(), None);
    }

    #[test]
    fn pages_end_at_the_bound() {
        let mut frontier = Frontier::new(&url("https://e.org/"), 2);
        (0..2).for_each(|n| frontier.add(&url(&format!("https://e.org/{n}")), 0));
        assert!(!frontier.is_cut);
        frontier.add(&url("https://e.org/2"), 0);
        assert!(frontier.is_cut && frontier.counts().1 == 2);
    }
}
