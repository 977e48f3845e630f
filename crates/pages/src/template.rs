//! What all pages have in common.

use askama::Template;
use forecourt_core::{Address, Language};
use forecourt_sentences::{Sentences, SpokenLanguage};

use crate::branding::{BrandView, Branding, OpenGraph};
use crate::visitor::{Account, AccountView};
use crate::{clean, robots};

/// The head of an answer. Mentionable REST 4.1.
pub(crate) struct Head {
    /// The canonical address; `None` for pages that are of no agent.
    pub(crate) address: Option<String>,
    /// What the browser calls the page.
    pub(crate) title: String,
    /// The URL of the page itself.
    pub(crate) url: String,
    /// What it tells search engines.
    pub(crate) robots: &'static str,
    /// A well-formed language tag.
    pub(crate) language: String,
    /// The inline style; its hash is in [`Branding::answer_policy`].
    pub(crate) style: String,
    pub(crate) brand: BrandView,
    pub(crate) shared: OpenGraph,
    /// The page's own words.
    pub(crate) say: Sentences,
    /// Who is signed in; pages that begin with `answer.html` say it.
    pub(crate) account: AccountView,
}

impl Head {
    /// The head of a page of `address`; shared with a title of its own and what it says.
    pub(crate) fn new(
        address: Option<&Address>,
        url: &str,
        language: &Language,
        brand: &Branding,
        title: &str,
        says: &str,
    ) -> Self {
        let address = address.map(Address::to_string);
        let site = Some(brand.site()).filter(|site| !site.is_empty()).or(address.as_deref()).unwrap_or_default();
        Self {
            title: page_title(&[title, brand.site(), address.as_deref().unwrap_or_default()]),
            url: clean::text(url).into_owned(),
            robots: robots::of(false),
            language: language.as_str().to_owned(),
            style: brand.answer_css().to_owned(),
            brand: brand.view(),
            shared: OpenGraph::new(title, says, site, url),
            say: words_in(language),
            account: AccountView::default(),
            address,
        }
    }
}

impl Head {
    /// The same for who looks at it.
    pub(crate) fn seen_by(self, account: &Account<'_>) -> Self {
        Self { account: AccountView::new(account), ..self }
    }

    /// The same for a page about the site itself, which search engines may list where the operator says so.
    pub(crate) fn public(self) -> Self {
        Self { robots: robots::of(self.brand.is_indexed), ..self }
    }
}

/// The words of pages in a language, or in English where there are none in it.
pub(crate) fn words_in(language: &Language) -> Sentences {
    Sentences::in_language(SpokenLanguage::of(language).unwrap_or(SpokenLanguage::English))
}

/// What a browser calls a page: the page itself, the site, and for answers the address that Mentionable REST 4.1 wants.
/// What is empty, or said already, is left out.
pub(crate) fn page_title(parts: &[&str]) -> String {
    let mut said: Vec<String> = Vec::new();
    for part in parts.iter().map(|part| clean::line(part)) {
        if !part.is_empty() && !said.contains(&part) {
            said.push(part);
        }
    }
    said.join(" · ")
}

/// Renders a template. Writing to a string cannot fail, and no field of ours fails to print.
pub(crate) fn finish(template: &impl Template) -> String {
    template.render().unwrap_or_default()
}

/// The letter that stands for an agent beside its name.
pub(crate) fn monogram(name: &str) -> String {
    let letter = clean::line(name).chars().find(|c| c.is_alphanumeric());
    letter.unwrap_or('@').to_uppercase().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_each_thing_once() {
        assert_eq!(page_title(&["Soup", "Kitchen", "@chef@k.example"]), "Soup · Kitchen · @chef@k.example");
        assert_eq!(page_title(&["Kitchen", "Kitchen", ""]), "Kitchen");
        assert_eq!(page_title(&["", ""]), "");
    }
}
