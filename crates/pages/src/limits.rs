//! What one page may cost.

/// Characters of a question that is the heading of its answer; a longer one is quoted.
pub(crate) const HEADING_CHARS_MAX: usize = 160;
/// Words of a question that are marked in its results.
pub(crate) const HIGHLIGHTED_WORDS_MAX: usize = 24;
/// Entries of an item's list that are shown since they hold a word of the question.
pub(crate) const ENTRIES_SHOWN_MAX: usize = 4;
/// Entries of one list that are looked into, and lists of one item.
pub(crate) const ENTRIES_MAX: usize = 200;
/// Earlier questions of one search.
pub const EARLIER_MAX: usize = 5;
/// Notes about limits under one summary.
pub(crate) const NOTES_MAX: usize = 8;
/// Bytes of a file that stands in the page of its answer.
pub(crate) const FILE_BYTES_MAX: usize = 256 * 1024;
/// Sites that may embed the search box.
pub(crate) const EMBED_ORIGINS_MAX: usize = 100;
/// Bytes of a site's logo.
pub(crate) const LOGO_BYTES_MAX: u64 = 256 * 1024;
/// Characters of a site's description.
pub(crate) const DESCRIPTION_CHARS_MAX: usize = 1_000;
/// Characters that are shown of a page where a link to it is shared.
pub(crate) const SHARED_CHARS_MAX: usize = 200;
/// Bytes of markdown that are parsed; longer text is shown as it was written.
pub(crate) const MARKDOWN_BYTES_MAX: usize = 256 * 1024;
/// Bytes of HTML that one markdown text may become; the rest is cut off.
pub(crate) const HTML_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Levels of nesting in rendered markdown; what lies deeper is left out.
pub(crate) const NESTING_MAX: usize = 100;
/// Nodes of parsed markdown; text that has more is shown as it was written.
pub(crate) const NODES_MAX: usize = 50_000;
/// Steps of the markdown parser (a line, an inline or a node each), in units of 256.
pub(crate) const PARSE_STEPS_256_MAX: usize = 4_000;
/// Bytes that cleaning one HTML text may look through, about a twentieth of a second; text that
/// takes more is shown as it was written.
pub(crate) const SCANNED_BYTES_MAX: usize = 1 << 30;
/// Characters of a title, name or address.
pub(crate) const LINE_CHARS_MAX: usize = 300;
/// Values shown of one fact that is a list.
pub(crate) const FACT_VALUES_MAX: usize = 6;
/// Characters of one fact.
pub(crate) const FACT_CHARS_MAX: usize = 160;
/// Characters of JSON or text shown of one tool call, artifact or other value.
pub(crate) const EXCERPT_CHARS_MAX: usize = 20_000;
/// Suggested questions shown of one agent.
pub(crate) const EXAMPLES_MAX: usize = 6;
/// Results that one page of a search may show. Whoever wants more narrows down.
pub(crate) const RESULTS_SHOWN_MAX: usize = 100;
/// Results of one of several agents that are asked at once.
pub const GROUP_RESULTS_SHOWN: usize = 4;
/// Characters of the answer in words of one of them.
pub(crate) const GROUP_CHARS_SHOWN: usize = 240;
/// Results of one page of which clicks are counted, where a site does so: the first ones.
pub(crate) const RESULTS_COUNTED_MAX: usize = 10;
/// Bytes of an address that counts a click; longer ones would make the page too large.
pub(crate) const CLICK_BYTES_MAX: usize = 1_024;
/// Further results that a page of a search offers at once.
pub(crate) const RESULTS_STEP: usize = 10;
/// Properties to click on one page.
pub(crate) const FACETS_SHOWN: usize = 8;
/// Values of one property that are seen at once.
pub(crate) const FACET_VALUES_OPEN: usize = 7;
/// Values of one property, the folded ones included.
pub(crate) const FACET_VALUES_SHOWN: usize = 20;
/// Characters of a value to click; longer ones can't be read at a glance.
pub(crate) const FACET_VALUE_CHARS_MAX: usize = 60;
/// Questions of one form.
pub(crate) const QUESTIONS_MAX: usize = 20;
/// Options of one question.
pub(crate) const OPTIONS_MAX: usize = 50;
/// Things to do with one item.
pub(crate) const ACTIONS_MAX: usize = 4;
/// Facts that one card tells at a glance.
pub(crate) const GLANCE_FACTS_MAX: usize = 4;
/// Facts of one result.
pub(crate) const RESULT_FACTS_MAX: usize = 5;
/// Characters of a kept question on the page of a decision.
pub(crate) const ASKED_CHARS_MAX: usize = 2_000;
/// Rows of one set of terms; terms that have more can't be agreed to on a page.
pub(crate) const TERMS_MAX: usize = 100;
/// Characters of one set of terms, labels included.
pub(crate) const TERMS_CHARS_MAX: usize = 20_000;
/// Levels of nesting in one set of terms.
pub(crate) const TERM_LEVELS_MAX: usize = 8;
