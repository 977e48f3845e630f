//! The keys of a `search` backend, and those about content that other backends share.

pub(super) mod engine;
mod tables;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Language;
use forecourt_crawler::limits::VISIT_TIME_MAX;
use forecourt_crawler::{SiteRead, WebSite};
use forecourt_index::{EngineOptions, Options};
use forecourt_loaders::{ContentSource, URL_PLACES};
use forecourt_settings::{Problems, Section};
use forecourt_vocabulary::Vocabulary;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use super::content_index::ContentIndex;
use super::ranking::{RankingRules, RankingSettings};
use super::rerank::settings::RerankSettings;
use super::sites::Sites;
use crate::limits::{
    CONTENT_SOURCES_MAX, REFRESH_MINUTES_MAX, RESULTS_MAX, SITE_DELAY_MAX, SITE_DEPTH_MAX, SITE_PAGES_MAX, SITES_MAX,
    TABLES_MAX,
};
use forecourt_agents::backend::Context;
use forecourt_agents::settings::count;

/// The section of a `search` backend.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchSettings {
    /// `"search"`.
    #[serde(rename = "kind")]
    _kind: String,
    /// Files and folders to answer from, relative to the deployment: JSON Lines, JSON, JSON-LD, JSON Feed, CSV, TSV,
    /// RSS, Atom, Markdown, MDX, reStructuredText, AsciiDoc, text, HTML, DOCX, ODT, EPUB and PDF. `builtin:manual`
    /// is the program's own manual.
    #[serde(default)]
    content: Vec<String>,
    /// Sites to answer from, a table each.
    #[serde(default)]
    sites: Vec<SiteSettings>,
    /// Minutes after which sites are visited again. Pages that have not changed are not sent again.
    #[serde(default = "refresh_minutes")]
    refresh_minutes: u64,
    /// The public URL of an entry of `content`, for items that have none of their own, such as
    /// `{ "content/docs" = "https://example.com/docs/" }`. A file `guide/install.md` in it is then at
    /// `https://example.com/docs/guide/install.md`; where pages are called otherwise, `{page}` stands for
    /// `guide/install` and `{file}` for `guide/install.md`, as in `"https://example.com/docs/{page}/"`. Links
    /// between documents are made whole by it.
    #[serde(default)]
    urls: BTreeMap<String, String>,
    /// How tables (CSV and the like) are read, by an entry of `content` or a file in one. What is not said here
    /// is found out.
    #[serde(default)]
    tables: BTreeMap<String, TableSettings>,
    /// A folder with an embedding model, static or a sentence transformer: search then goes by
    /// meaning as well as by words.
    model_dir: Option<PathBuf>,
    /// A folder with a cross-encoder, a small model that reads the question and each of the best 30 items together
    /// and puts them in its order: BERT with a classifier of one label (`config.json`, `tokenizer.json`,
    /// `model.safetensors`). It takes half a second of processor time at most for each question. Not used beside
    /// `[backend.rerank]`.
    pub(super) cross_encoder_dir: Option<PathBuf>,
    /// The language of items and questions that do not say theirs. Without it, that of the agent.
    #[schemars(with = "Option<String>")]
    language: Option<Language>,
    /// The time zone by whose clocks "today", "tomorrow" and "open now" are meant, by its name in the time zone
    /// database, such as `"Europe/Berlin"`. Without it, UTC.
    time_zone: Option<String>,
    /// What several items are called in answers.
    #[serde(default = "item_label")]
    pub(super) item_label: String,
    /// Whether to ask back when very many items fit and a property, such as a category, splits them well:
    /// `true` (more than 100 items), `false`, or `{ over = N }`. Never twice in a row.
    #[serde(default)]
    pub(super) elicit: Elicit,
    /// Items of one answer, 1 to 50.
    #[serde(default = "results")]
    pub(super) results: usize,
    /// An engine outside that keeps the items, for more of them than one machine holds: PostgreSQL, OpenSearch or
    /// Elasticsearch. Without it, they are in an index in the data folder.
    #[serde(rename = "engine")]
    _engine: Option<engine::EngineSettings>,
    /// Rules for the order of items, a table each.
    #[serde(default)]
    ranking: Vec<RankingSettings>,
    /// A language model that rewrites questions, ranks what was found and sums it up. Without it, and
    /// whenever it fails, answers are those of the search alone.
    #[serde(rename = "rerank")]
    _rerank: Option<RerankSettings>,
}

/// When a question is asked back.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected `true`, `false` or `{ over = N }`")]
pub(super) enum Elicit {
    /// When more than [`ELICIT_OVER`] items fit, or never.
    Always(bool),
    /// When more items fit.
    Over {
        /// How many items fit without a question.
        over: usize,
    },
}

impl Default for Elicit {
    fn default() -> Self {
        Self::Always(false)
    }
}

impl Elicit {
    /// How many items fit without a question. `None`: any number.
    pub(super) fn over(self) -> Option<usize> {
        match self {
            Self::Always(false) => None,
            Self::Always(true) => Some(ELICIT_OVER),
            Self::Over { over } => Some(over),
        }
    }
}

/// The manual that the program carries in itself, as an entry of `content`.
const BUILTIN_MANUAL: &str = "builtin:manual";
/// Items that fit without a question, unless the operator says otherwise.
const ELICIT_OVER: usize = 100;

/// How a table is read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TableSettings {
    /// The schema.org type of every row, such as `"Product"`, unless a column says it.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// What is between two cells: one character.
    delimiter: Option<String>,
    /// What is between the whole and the parts of a number: `"."` or `","`. Given, it holds for all columns.
    decimal: Option<String>,
    /// How dates are written, such as `"%d.%m.%Y"`.
    dates: Option<String>,
    /// Columns by their names, in any case, and the property that each is: a dot path such as `"offers.price"`.
    /// `""` for a column that is not read.
    #[serde(default)]
    columns: BTreeMap<String, String>,
    /// Properties that every row has, unless a column says them: `{ "offers.priceCurrency" = "EUR" }`.
    #[serde(default)]
    constants: BTreeMap<String, String>,
    /// Columns with several values in a cell, and what is between these: `{ "Tags" = "," }`.
    #[serde(default)]
    lists: BTreeMap<String, String>,
}

/// One site of the web, read politely: `robots.txt` is heeded, and nothing is read but what has the
/// origin of its URL. Networks that are private have to be opened in `[egress]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SiteSettings {
    /// Where to begin.
    url: String,
    /// What lies there.
    read: ReadSettings,
    /// Pages of one visit, at most 100,000.
    #[serde(default = "pages")]
    pages: usize,
    /// Links from the first page to the last one, at most 50. Used by `pages` only.
    #[serde(default = "depth")]
    depth: u32,
    /// Seconds between two requests, 0 to 60. A longer wish of the site's `robots.txt` is heeded.
    #[serde(default = "delay_seconds")]
    delay_seconds: f64,
}

/// What the URL of a site leads to.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReadSettings {
    /// A sitemap, or an index of sitemaps: the pages that it lists are read.
    Sitemap,
    /// A page: it is read, and those that it links to.
    Pages,
    /// A document with items: RSS, Atom, JSON, JSON-LD, JSON Lines or CSV.
    Document,
}

fn refresh_minutes() -> u64 {
    1_440
}

fn pages() -> usize {
    1_000
}

fn depth() -> u32 {
    5
}

fn delay_seconds() -> f64 {
    1.0
}

fn item_label() -> String {
    crate::answer_text::DEFAULT_ITEM_LABEL.to_owned()
}

fn results() -> usize {
    10
}

/// Reads and checks the section. Whether the content is there is found out when it is indexed.
pub(super) fn read(
    section: &Section,
    engine: Option<EngineOptions>,
    context: &Context,
) -> Result<(SearchSettings, ContentIndex), Problems> {
    let settings: SearchSettings = section.read()?;
    let mut problems = Problems::new();
    if engine.is_some() && settings.model_dir.is_some() {
        let problem = section
            .problem(Some("model_dir"), "search by meaning needs the index here: with an `engine`, it goes by words");
        problems.push(problem.hint("leave out `model_dir`, or `[backend.engine]`"));
    }
    count(section, "results", settings.results, 1, RESULTS_MAX, &mut problems);
    if settings.item_label.trim().is_empty() || settings.item_label.chars().any(char::is_control) {
        problems.push(section.problem(Some("item_label"), "`item_label` is a word or two, such as `recipes`"));
    }
    let language = settings.language.clone().unwrap_or_else(|| context.language.clone());
    let model = settings.model_dir.as_ref().map(|dir| context.resolve(dir));
    // An agent with sites needs no files.
    let least = usize::from(settings.sites.is_empty());
    let mut sources = content_sources(section, &settings.content, least, &settings.urls, context, &mut problems);
    count(section, "tables", settings.tables.len(), 0, TABLES_MAX, &mut problems);
    for (name, table) in &settings.tables {
        tables::read(section, name, table, &mut sources, &mut problems);
    }
    let sites = settings.sites.iter().filter_map(|site| site_of(section, site, &mut problems)).collect();
    count(section, "sites", settings.sites.len(), 0, SITES_MAX, &mut problems);
    if !(1..=REFRESH_MINUTES_MAX).contains(&settings.refresh_minutes) {
        let message = format!("`refresh_minutes` must be between 1 and {REFRESH_MINUTES_MAX}");
        problems.push(section.problem(Some("refresh_minutes"), message));
    }
    let refresh = Duration::from_secs(60 * settings.refresh_minutes.min(REFRESH_MINUTES_MAX));
    let sites = Sites::new(context, sites, refresh);
    let vocabulary = vocabulary_of(context, &mut problems);
    let time_zone = settings.time_zone.as_deref().and_then(|name| zone(section, name, &mut problems));
    let options = Options { language: Some(language), model, vocabulary, engine, time_zone, ..Options::default() };
    let rules = RankingRules::read(section, &settings.ranking, &mut problems);
    let index = ContentIndex::new(context, sources, options).with_sites(sites).with_rules(rules);
    problems.into_result((settings, index))
}

/// The time zone of a name.
fn zone(section: &Section, name: &str, problems: &mut Problems) -> Option<TimeZone> {
    let known = TimeZone::get(name).ok();
    if known.is_none() {
        let problem = section.problem(Some("time_zone"), format!("there is no time zone `{name}`"));
        problems.push(problem.hint("it is a name of the time zone database, such as `Europe/Berlin` or `UTC`"));
    }
    known
}

/// What words mean in this deployment: what comes with the program, and its own files.
pub fn vocabulary_of(context: &Context, problems: &mut Problems) -> Option<Arc<Vocabulary>> {
    problems.absorb(Vocabulary::of_deployment(&context.folder))
}

/// A site, when its table is fine.
fn site_of(section: &Section, site: &SiteSettings, problems: &mut Problems) -> Option<WebSite> {
    let before = problems.len();
    let mut check = |fits: bool, message: String| {
        if !fits {
            problems.push(section.problem(Some("sites"), message));
        }
    };
    let url = Url::parse(&site.url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    // A password in a URL would be in logs, answers and the grounding of every item.
    let is_plain = url.as_ref().is_some_and(|url| url.username().is_empty() && url.password().is_none());
    check(is_plain, format!("the `url` of a site is a whole https:// URL without a password, and not `{}`", site.url));
    check((1..=SITE_PAGES_MAX).contains(&site.pages), format!("`pages` must be between 1 and {SITE_PAGES_MAX}"));
    check(site.depth <= SITE_DEPTH_MAX, format!("`depth` must be between 0 and {SITE_DEPTH_MAX}"));
    let delay_fits = (0.0..=SITE_DELAY_MAX).contains(&site.delay_seconds);
    check(delay_fits, format!("`delay_seconds` must be between 0 and {SITE_DELAY_MAX}"));
    let read = match site.read {
        ReadSettings::Sitemap => SiteRead::Sitemap,
        ReadSettings::Pages => SiteRead::Pages,
        ReadSettings::Document => SiteRead::Document,
    };
    if problems.len() > before {
        return None;
    }
    let delay = Duration::from_secs_f64(site.delay_seconds);
    Some(WebSite { url: url?, read, pages_max: site.pages, depth_max: site.depth, delay, time_max: VISIT_TIME_MAX })
}

/// The sources that `content`, of `least` entries, and `urls` name.
pub fn content_sources(
    section: &Section,
    content: &[String],
    least: usize,
    urls: &BTreeMap<String, String>,
    context: &Context,
    problems: &mut Problems,
) -> Vec<ContentSource> {
    count(section, "content", content.len(), least, CONTENT_SOURCES_MAX, problems);
    for (name, url) in urls {
        let message = if !content.contains(name) {
            format!("`urls` names `{name}`, which is not in `content`")
        } else if !Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
            format!("the URL of `{name}` must be a whole one that begins with https://, and not `{url}`")
        } else if url.contains('#') {
            format!("the URL of `{name}` has a `#`, behind which anchors of sections come")
        } else if has_unknown_place(url) {
            format!(
                "`{{file}}` and `{{page}}` are what the URL of `{name}` can have in braces, and not what is in `{url}`"
            )
        } else {
            continue;
        };
        problems.push(section.problem(Some("urls"), message));
    }
    content.iter().filter_map(|name| source(section, name, urls, context, problems)).collect()
}

/// Whether something stands in braces that means nothing.
fn has_unknown_place(url: &str) -> bool {
    URL_PLACES.iter().fold(url.to_owned(), |url, place| url.replace(place, "")).contains(['{', '}'])
}

/// Where the manual that the program carries in itself is served.
fn manual_url(host: &str) -> String {
    format!("https://{host}/manual/{{page}}")
}

fn source(
    section: &Section,
    name: &str,
    urls: &BTreeMap<String, String>,
    context: &Context,
    problems: &mut Problems,
) -> Option<ContentSource> {
    let path = match name.strip_prefix("builtin:") {
        None => Some(context.resolve(name)),
        Some(builtin) => context.builtin.iter().find(|(name, _)| name == builtin).map(|(_, path)| path.clone()),
    };
    let Some(path) = path else {
        let known: Vec<String> = context.builtin.iter().map(|(name, _)| format!("builtin:{name}")).collect();
        let problem = section.problem(Some("content"), format!("there is no `{name}`"));
        problems.push(problem.hint(format!("built in: {}", known.join(", "))));
        return None;
    };
    let own = (name == BUILTIN_MANUAL).then(|| manual_url(&context.host));
    Some(ContentSource { path, label: name.to_owned(), url: urls.get(name).cloned().or(own), tables: Vec::new() })
}
