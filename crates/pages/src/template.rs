//! What all pages have in common.

use askama::Template;
use forecourt_core::Language;

use crate::branding::{BrandView, Branding, OpenGraph};
use crate::clean;

/// The head of an answer. Mentionable REST 4.1.
pub(crate) struct Head {
    /// The canonical address, or our name where no agent is known.
    pub(crate) address: String,
    /// The URL of the page itself.
    pub(crate) url: String,
    /// A well-formed language tag.
    pub(crate) language: String,
    /// The inline style; its hash is in [`Branding::answer_policy`].
    pub(crate) style: String,
    pub(crate) brand: BrandView,
    pub(crate) shared: OpenGraph,
}

impl Head {
    /// The head of a page of `address`; shared with a title of its own and what it says.
    pub(crate) fn new(
        address: &str,
        url: &str,
        language: &Language,
        brand: &Branding,
        title: &str,
        says: &str,
    ) -> Self {
        Self {
            address: clean::line(address),
            url: clean::text(url).into_owned(),
            language: language.as_str().to_owned(),
            style: brand.answer_css().to_owned(),
            brand: brand.view(),
            shared: OpenGraph::new(title, says, address, url),
        }
    }
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
