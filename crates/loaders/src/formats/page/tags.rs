//! The tags of a page, read once from first to last as the tokenizer of a browser sees them.

use std::cell::RefCell;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use serde_json::Value;
use url::Url;

use super::markup::{attribute, push_collapsed};
use super::microdata::Microdata;
use crate::limits::{PAGE_DATA_MAX, PAGE_LINKS_MAX, PAGE_METAS_MAX};

/// Elements whose text is not what a page is about.
const ASIDE: &[&str] =
    &["script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "svg", "iframe", "select"];

/// Everything that one pass over the tags of a page has seen.
pub(crate) struct PageTags {
    base: Url,
    has_base: bool,
    title: String,
    pub(crate) language: Option<String>,
    pub(super) canonical: Option<Url>,
    pub(super) links: Vec<Url>,
    /// Texts of JSON-LD scripts.
    pub(super) data: Vec<String>,
    /// Items of the microdata, outermost ones only.
    pub(super) microdata: Vec<Value>,
    /// The words of the page.
    pub(super) text: String,
    metas: Vec<(String, String)>,
    open: Microdata,
    inside: Inside,
    /// Elements open whose text does not count, innermost last.
    aside: Vec<String>,
}

/// What characters belong to.
#[derive(PartialEq)]
enum Inside {
    Text,
    Title,
    Data,
}

impl PageTags {
    /// The content of a `meta` element, by `name` or `property`.
    pub(super) fn meta(&self, name: &str) -> Option<&str> {
        let found = self.metas.iter().find(|(key, _)| key == name);
        found.map(|(_, content)| content.trim()).filter(|content| !content.is_empty())
    }

    /// Its title, with its white space as single spaces.
    pub(crate) fn title(&self) -> String {
        self.title.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether the page asks robots for this.
    pub(crate) fn asks(&self, word: &str) -> bool {
        ["robots", "forecourt"].iter().any(|name| has_directive(self.meta(name).unwrap_or_default(), word))
    }

    /// An address on the page.
    pub(super) fn resolve(&self, link: &str) -> Option<Url> {
        self.base.join(link.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
    }
}

/// Reads a page.
pub(crate) fn read(html: &str, url: &Url) -> PageTags {
    let seen = PageTags {
        base: url.clone(),
        has_base: false,
        title: String::new(),
        language: None,
        canonical: None,
        links: Vec::new(),
        data: Vec::new(),
        microdata: Vec::new(),
        text: String::new(),
        metas: Vec::new(),
        open: Microdata::default(),
        inside: Inside::Text,
        aside: Vec::new(),
    };
    let input = BufferQueue::default();
    input.push_back(super::without_endless_tags(html).as_ref().into());
    let tokenizer = Tokenizer::new(Sink(RefCell::new(seen)), TokenizerOpts::default());
    // Stops at scripts only, when asked to.
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    let mut seen = tokenizer.sink.0.into_inner();
    seen.microdata = std::mem::take(&mut seen.open).finish();
    seen
}

struct Sink(RefCell<PageTags>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut seen = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => seen.characters(&text),
            Token::TagToken(tag) if tag.kind == TagKind::EndTag => seen.end(&tag.name),
            Token::TagToken(tag) => {
                seen.start(&tag);
                return match &*tag.name {
                    "script" => TokenSinkResult::RawData(RawKind::ScriptData),
                    "style" | "noscript" | "iframe" | "noembed" => TokenSinkResult::RawData(RawKind::Rawtext),
                    "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
                    _ => TokenSinkResult::Continue,
                };
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl PageTags {
    fn start(&mut self, tag: &Tag) {
        let name = &*tag.name;
        match name {
            "html" => self.language = attribute(tag, "lang").map(|lang| lang.trim().to_owned()),
            "base" if !self.has_base => self.rebase(tag),
            // Only the first, and none of what stands aside: a drawing (`svg`) has a title of its own.
            "title" if self.title.is_empty() && self.aside.is_empty() => self.inside = Inside::Title,
            "meta" => self.meta_element(tag),
            "link" => self.link_element(tag),
            "a" | "area" => self.anchor(tag),
            "script" if is_data(tag) && self.data.len() < PAGE_DATA_MAX => {
                self.data.push(String::new());
                self.inside = Inside::Data;
            }
            _ => {}
        }
        let base = &self.base;
        let resolve = |link: &str| base.join(link.trim()).map_or_else(|_| link.to_owned(), String::from);
        self.open.start(tag, &resolve);
        if ASIDE.contains(&name) && !tag.self_closing && self.aside.len() < PAGE_DATA_MAX {
            self.aside.push(name.to_owned());
        }
        self.space_around(name);
    }

    fn end(&mut self, name: &str) {
        if matches!(name, "title" | "script") {
            self.inside = Inside::Text;
        }
        if let Some(at) = self.aside.iter().rposition(|open| open == name) {
            self.aside.truncate(at);
        }
        self.open.end(name);
        self.space_around(name);
    }

    fn characters(&mut self, text: &str) {
        match self.inside {
            Inside::Title => self.title.push_str(text),
            Inside::Data => self.data.iter_mut().last().into_iter().for_each(|data| data.push_str(text)),
            Inside::Text => {
                self.open.characters(text);
                if self.aside.is_empty() {
                    push_collapsed(&mut self.text, text);
                }
            }
        }
    }

    fn space_around(&mut self, name: &str) {
        const INLINE: &[&str] = &["a", "b", "i", "u", "em", "strong", "span", "code", "sub", "sup", "small", "mark"];
        if !INLINE.contains(&name) {
            push_collapsed(&mut self.text, " ");
        }
    }

    fn rebase(&mut self, tag: &Tag) {
        if let Some(base) = attribute(tag, "href").and_then(|href| self.resolve(href)) {
            self.base = base;
            self.has_base = true;
        }
    }

    fn meta_element(&mut self, tag: &Tag) {
        let name = attribute(tag, "property").or_else(|| attribute(tag, "name"));
        if let (Some(name), Some(content)) = (name, attribute(tag, "content"))
            && self.metas.len() < PAGE_METAS_MAX
        {
            self.metas.push((name.trim().to_ascii_lowercase(), content.to_owned()));
        }
    }

    fn link_element(&mut self, tag: &Tag) {
        let is_canonical = has_word(attribute(tag, "rel"), "canonical");
        if is_canonical && self.canonical.is_none() {
            self.canonical = attribute(tag, "href").and_then(|href| self.resolve(href)).map(|mut url| {
                url.set_fragment(None);
                url
            });
        }
    }

    fn anchor(&mut self, tag: &Tag) {
        if has_word(attribute(tag, "rel"), "nofollow") || self.links.len() >= PAGE_LINKS_MAX {
            return;
        }
        self.links.extend(attribute(tag, "href").and_then(|href| self.resolve(href)));
    }
}

/// Whether words for robots say this; `none` says everything.
pub fn has_directive(robots: &str, word: &str) -> bool {
    robots.split(',').map(str::trim).any(|part| part.eq_ignore_ascii_case(word) || part.eq_ignore_ascii_case("none"))
}

fn is_data(tag: &Tag) -> bool {
    let mime = attribute(tag, "type").unwrap_or_default().split(';').next().unwrap_or_default();
    mime.trim().eq_ignore_ascii_case("application/ld+json")
}

fn has_word(value: Option<&str>, word: &str) -> bool {
    value.is_some_and(|value| value.split_ascii_whitespace().any(|part| part.eq_ignore_ascii_case(word)))
}
