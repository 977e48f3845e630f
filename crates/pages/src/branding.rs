//! Whose pages these are: the files that pages load, their style, and what stands at their ends.

use bytes::Bytes;

use crate::asset::{ANSWER_CSS, Asset, ICON_ICO, ICON_SVG, MANUAL_JS, PAGE_CSS, PAGE_JS, PAYMENT_JS, WIDGET_JS, lean};
use crate::colour::Colours;
use crate::csp::{self, sha256_base64};
use crate::{clean, robots};

/// Where the style of pages is.
const STYLE: &str = "/assets/forecourt.css";
/// Where the script of pages is.
const SCRIPT: &str = "/assets/forecourt.js";
/// Where the script of the page is on which wallets pay.
const PAYMENT_SCRIPT: &str = "/assets/payment.js";
/// Where the script of the manual is.
const MANUAL_SCRIPT: &str = "/assets/manual.js";
/// Where the usual icon is.
const ICON: &str = "/assets/forecourt.svg";
/// Where browsers and readers of feeds look for an icon by themselves.
pub const FAVICON: &str = "/favicon.ico";
/// Where the search box for other sites is.
pub const WIDGET: &str = "/widget.js";

/// A picture of the site's own.
pub(crate) struct Logo {
    pub(crate) bytes: Bytes,
    pub(crate) mime: &'static str,
    /// How its path ends.
    pub(crate) ending: &'static str,
}

/// Pages that a site has beside these.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links {
    pub(crate) imprint: Option<String>,
    pub(crate) privacy: Option<String>,
}

/// How the pages of one deployment look. Made once.
#[derive(Debug)]
pub struct Branding {
    /// What the paths of this host are published below.
    prefix: String,
    /// What the site is called.
    site: String,
    description: Option<String>,
    links: Links,
    powered_by: bool,
    /// Whether search engines may list the front page and the manual.
    is_indexed: bool,
    /// Whether thumbs under answers are counted.
    is_rated: bool,
    colours: Colours,
    logo: Option<String>,
    answer_css: String,
    answer_policy: String,
    asking_policy: String,
    paying_policy: String,
    assets: Vec<(String, Asset)>,
}

impl Default for Branding {
    fn default() -> Self {
        Self::new(None, Colours::default(), None, Links::default(), true)
    }
}

impl Branding {
    pub(crate) fn new(
        description: Option<String>,
        colours: Colours,
        logo: Option<Logo>,
        links: Links,
        powered_by: bool,
    ) -> Self {
        let css = colours.css();
        let answer_css = format!("{ANSWER_CSS}{css}");
        let page_css = format!("{PAGE_CSS}{css}");
        let text = |content: &str| Bytes::copy_from_slice(content.as_bytes());
        let mut assets = vec![
            (STYLE.to_owned(), Asset::new(page_css.into(), "text/css; charset=utf-8")),
            (SCRIPT.to_owned(), Asset::new(lean(PAGE_JS).into(), "text/javascript; charset=utf-8")),
            (PAYMENT_SCRIPT.to_owned(), Asset::new(lean(PAYMENT_JS).into(), "text/javascript; charset=utf-8")),
            (MANUAL_SCRIPT.to_owned(), Asset::new(lean(MANUAL_JS).into(), "text/javascript; charset=utf-8")),
            (ICON.to_owned(), Asset::new(text(ICON_SVG), "image/svg+xml")),
            (WIDGET.to_owned(), Asset::new(lean(WIDGET_JS).into(), "text/javascript; charset=utf-8")),
        ];
        let logo = logo.map(|logo| {
            let path = format!("/assets/logo.{}", logo.ending);
            let asset = Asset::new(logo.bytes, logo.mime);
            // The site's own sign is its icon too.
            assets.push((FAVICON.to_owned(), asset.clone()));
            let versioned = asset.versioned(&path);
            assets.push((path, asset));
            versioned
        });
        if logo.is_none() {
            assets.push((FAVICON.to_owned(), Asset::new(Bytes::from_static(ICON_ICO), "image/x-icon")));
        }
        let style = sha256_base64(&answer_css);
        Self {
            prefix: String::new(),
            site: String::new(),
            description: description.map(|text| clean::text(&text).trim().to_owned()).filter(|text| !text.is_empty()),
            links,
            powered_by,
            is_indexed: false,
            is_rated: false,
            // The hash is of the style as it stands in the page, to the byte: a browser drops a style that differs.
            answer_policy: csp::bare(&style, "'none'", logo.is_some()),
            asking_policy: csp::bare(&style, "'self'", logo.is_some()),
            paying_policy: csp::paying(&style),
            colours,
            logo,
            answer_css,
            assets,
        }
    }

    /// The file at a path such as `/assets/forecourt.css`, without query. Pages link to it with a `?v=` of its
    /// hash, so it may be cached for long.
    pub fn asset(&self, path: &str) -> Option<&Asset> {
        self.assets.iter().find(|(name, _)| name == path).map(|(_, asset)| asset)
    }

    /// The paths that [`Self::asset`] knows.
    pub fn asset_paths(&self) -> impl Iterator<Item = &str> {
        self.assets.iter().map(|(path, _)| path.as_str())
    }

    /// The same for a host whose paths are published below `prefix`: empty, or a path without a slash at its end.
    #[must_use]
    pub fn below(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.prefix);
        self
    }

    /// The same for a site that is called `name`.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.site = clean::line(name);
        self
    }

    /// The same for a site that search engines may list.
    #[must_use]
    pub fn indexed(mut self, is_indexed: bool) -> Self {
        self.is_indexed = is_indexed;
        self
    }

    /// The same for a site that counts thumbs under its answers, at [`crate::feedback_path`] of each agent, and clicks on
    /// results, at [`crate::click_path`].
    #[must_use]
    pub fn rated(mut self, is_rated: bool) -> Self {
        self.is_rated = is_rated;
        self
    }

    /// Whether search engines may list the front page and the manual.
    pub fn is_indexed(&self) -> bool {
        self.is_indexed
    }

    /// What pages about the site itself tell search engines, in the words of `X-Robots-Tag`.
    pub fn robots(&self) -> &'static str {
        robots::of(self.is_indexed)
    }

    /// What the site is called; empty where nobody said it.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// A path of this host, as its pages link to it.
    pub fn path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    /// What the site is, in its operator's words.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Whether pages say what they are powered by.
    pub fn powered_by(&self) -> bool {
        self.powered_by
    }

    /// The site's accent in light and in the dark, as `#rrggbb,#rrggbb`, and what is read on it.
    pub fn accents(&self) -> Option<(String, String)> {
        let pair = |property| self.colours.pair(property).map(|pair| pair.join(","));
        Some((pair("accent")?, pair("on-accent")?))
    }

    /// `Content-Security-Policy` of answers, refusals and errors: nothing but their own style, known by its hash,
    /// and a form that goes on asking, to this origin.
    pub fn asking_policy(&self) -> &str {
        &self.asking_policy
    }

    /// The same for a page on which wallets of the browser pay: its one script, which sends to this origin alone, and
    /// pictures of wallets, which are data.
    pub fn paying_policy(&self) -> &str {
        &self.paying_policy
    }

    /// The path of the script of that page.
    pub(crate) fn payment_script(&self) -> String {
        self.path(&self.versioned(PAYMENT_SCRIPT))
    }

    /// `Content-Security-Policy` of the manual: as [`Self::asking_policy`], its one script, and pictures of this host.
    /// Programs that audit a page read `/robots.txt` from within it.
    pub fn manual_policy(&self) -> String {
        // A browser complains of a directive that is there twice: the logo of a site has brought this one.
        let pictures = if self.logo.is_some() { "" } else { " img-src 'self';" };
        format!("{};{pictures} script-src 'self'; connect-src 'self'", self.asking_policy)
    }

    /// The path of the script of the manual.
    pub(crate) fn manual_script(&self) -> String {
        self.path(&self.versioned(MANUAL_SCRIPT))
    }

    /// The same for pages from which nothing is sent.
    pub fn answer_policy(&self) -> &str {
        &self.answer_policy
    }

    /// `Content-Security-Policy` of pages with results: they have no script.
    pub fn found_policy(&self) -> &'static str {
        if self.is_rated { csp::FOUND_COUNTED } else { csp::FOUND }
    }

    /// The style that answers carry in themselves.
    pub(crate) fn answer_css(&self) -> &str {
        &self.answer_css
    }

    pub(crate) fn view(&self) -> BrandView {
        BrandView {
            prefix: self.prefix.clone(),
            site: self.site.clone(),
            logo: self.logo.as_deref().map(|logo| self.path(logo)),
            icon: self.path(&self.logo.clone().unwrap_or_else(|| self.versioned(ICON))),
            style: self.path(&self.versioned(STYLE)),
            script: self.path(&self.versioned(SCRIPT)),
            imprint: self.links.imprint.as_deref().and_then(clean::href),
            privacy: self.links.privacy.as_deref().and_then(clean::href),
            powered_by: self.powered_by,
            is_indexed: self.is_indexed,
            is_rated: self.is_rated,
        }
    }

    /// A path of [`Self::asset`] with the version that makes a browser ask anew after an update.
    fn versioned(&self, path: &str) -> String {
        self.asset(path).map_or_else(|| path.to_owned(), |asset| asset.versioned(path))
    }
}

/// A [`Branding`] in a template.
#[derive(Clone)]
pub(crate) struct BrandView {
    pub(crate) prefix: String,
    /// What the site is called.
    pub(crate) site: String,
    pub(crate) logo: Option<String>,
    pub(crate) icon: String,
    pub(crate) style: String,
    pub(crate) script: String,
    pub(crate) imprint: Option<String>,
    pub(crate) privacy: Option<String>,
    pub(crate) powered_by: bool,
    pub(crate) is_indexed: bool,
    pub(crate) is_rated: bool,
}

/// What is shown where a link to a page is shared. The Open Graph protocol.
pub(crate) struct OpenGraph {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) site: String,
    pub(crate) url: String,
    /// An absolute address by https.
    pub(crate) image: Option<String>,
}

impl OpenGraph {
    /// A page of `site`. The description may be markdown; its first words are shown.
    pub(crate) fn new(title: &str, description: &str, site: &str, url: &str) -> Self {
        let plain = crate::markdown::to_plain(description);
        Self {
            title: clean::line(title),
            description: clean::clip(&clean::line(&plain), crate::limits::SHARED_CHARS_MAX),
            site: clean::line(site),
            url: clean::text(url).into_owned(),
            image: None,
        }
    }

    /// The same with a picture, if there is one.
    pub(crate) fn with_image(self, image: Option<&str>) -> Self {
        // Readers of Open Graph fetch it without the page, so it must be absolute; by plain http they show nothing.
        let image = image.and_then(clean::href).filter(|url| url.starts_with("https://"));
        Self { image, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_an_asset_and_others_have_none() {
        let plain = Branding::default();
        for path in plain.asset_paths() {
            assert!(!plain.asset(path).unwrap().bytes.is_empty(), "{path}");
            assert_eq!(plain.asset(path).unwrap().etag.len(), 18, "{path}");
        }
        for path in ["", "/", "/assets/", "/assets/../lib.rs", "/assets/forecourt.css?v=1", "assets/forecourt.css"] {
            assert!(plain.asset(path).is_none(), "{path}");
        }
    }

    #[test]
    fn the_search_box_is_small() {
        let widget = Branding::default().asset(WIDGET).unwrap().bytes.len();
        assert!(widget < 30 * 1024, "{widget} bytes");
    }

    #[test]
    fn the_script_of_payments_is_small() {
        let script = Branding::default().asset(PAYMENT_SCRIPT).unwrap().bytes.len();
        assert!(script < 16 * 1024, "{script} bytes");
    }

    #[test]
    fn the_script_of_the_manual_is_small_and_the_only_one_that_may_run_there() {
        let brand = Branding::default();
        assert!(brand.asset(MANUAL_SCRIPT).unwrap().bytes.len() < 5 * 1024);
        let policy = brand.manual_policy();
        assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(policy.matches("img-src 'self'").count(), 1, "{policy}");
        assert!(!brand.asking_policy().contains("script-src"));
    }

    #[test]
    fn a_logo_may_be_shown_on_answers() {
        let logo = Logo { bytes: Bytes::from_static(b"x"), mime: "image/png", ending: "png" };
        let own = Branding::new(None, Colours::default(), Some(logo), Links::default(), false);
        assert!(own.answer_policy().contains("img-src 'self'") && !own.answer_policy().contains("unsafe"));
        assert_eq!(own.manual_policy().matches("img-src").count(), 1);
        assert!(own.view().logo.is_some_and(|url| url.starts_with("/assets/logo.png?v=")));
        assert!(!Branding::default().answer_policy().contains("img-src"));
    }
}
