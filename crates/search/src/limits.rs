//! This module names every bound of the `search` backend. Those with a key are its default.

use std::time::Duration;

/// Options of a question that a search asks back.
pub(crate) const ELICIT_OPTIONS_MAX: usize = 6;
/// Sites of one agent.
pub const SITES_MAX: usize = 50;
/// Pages of one visit to a site.
pub const SITE_PAGES_MAX: usize = 100_000;
/// Links from the first page of a site to the last one.
pub const SITE_DEPTH_MAX: u32 = 50;
/// Seconds between two requests to a site.
pub(crate) const SITE_DELAY_MAX: f64 = 60.0;
/// Minutes between two visits: a year.
pub const REFRESH_MINUTES_MAX: u64 = 525_600;
/// Reasons of one run of indexing that are told.
pub(crate) const WARNINGS_MAX: usize = 100;
/// Errors in files of the content of one agent that a check tells.
pub(crate) const FILE_ERRORS_MAX: usize = 20;
/// Bytes of one file of data that a check reads, whatever its size: `index` reads all of it.
pub(crate) const CHECKED_FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of all files of data of one agent that a check reads.
pub(crate) const CHECKED_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Tables of one agent of which it is said how they are read.
pub(crate) const TABLES_MAX: usize = 100;
/// Files and folders of content of one agent.
pub const CONTENT_SOURCES_MAX: usize = 1_000;
/// Results of one answer.
pub const RESULTS_MAX: usize = 50;
/// Results of one answer to who asks for more at once.
pub(crate) const SHOWN_MAX: usize = 100;
/// Facets that are told of one answer.
pub(crate) const FACETS_MAX: usize = 6;
/// Earlier turns of the caller that a follow-up may build on.
pub(crate) const FOLLOW_UPS_MAX: usize = 20;
/// Names of items that are read to tell what a word of a follow-up adds to.
pub(crate) const NAMES_READ: usize = 20;
/// Items in the order of a question of which those are chosen that are called what it names.
pub(crate) const CALLED_ITEMS_MAX: usize = 50;
/// Items, from the first on, of which one has to answer a question for it to be answered at all.
pub(crate) const COVERED_ITEMS: usize = 5;
/// Items that are looked at to find the first of the shown ones by another order.
pub(crate) const ORDERED_ITEMS_MAX: usize = 500;
/// Phrases of earlier turns that a question is put together from.
pub(crate) const PHRASES_MAX: usize = 16;
/// Items up to which a search is done where the question arrives; larger ones get a thread of their own.
pub(crate) const INLINE_ITEMS_MAX: u64 = 50_000;
/// Entries of one fact of an item, such as ingredients.
pub(crate) const FACT_ENTRIES_MAX: usize = 60;
/// Properties of one item that are read for a question about it.
pub(crate) const STATED_VALUES_MAX: usize = 500;
/// Parts of an item of one kind that are read for a question about it, such as its offers.
pub(crate) const PARTS_READ_MAX: usize = 12;
/// Parts within parts that are read.
pub(crate) const PARTS_DEPTH_MAX: usize = 3;
/// Bytes of the text of an item in which a sentence is looked for that answers.
pub(crate) const OWN_TEXT_BYTES_MAX: usize = 20_000;
/// Amounts of an item with which others may be compared by its name.
pub(crate) const COMPARED_VALUES_MAX: usize = 24;
/// Variants of one item that are read for a question about one of them.
pub(crate) const VARIANTS_READ_MAX: usize = 500;
/// Bytes of a question that may ask for one fact of one item.
pub(crate) const FACT_QUESTION_BYTES_MAX: usize = 300;
/// Names that one such question is read as having, which are looked up.
pub(crate) const FACT_READINGS_MAX: usize = 8;
/// Bytes of a section that are told at once.
pub(crate) const PASSAGE_BYTES_MAX: usize = 1_800;
/// Sections among which the one is chosen that answers a question.
pub(crate) const SECTIONS_COMPARED_MAX: usize = 10;
/// Items among which one of a name is looked for.
pub const NAMED_ITEMS_MAX: usize = 30;
/// Bytes of one fact of an item in an answer.
pub const FACT_BYTES_MAX: usize = 120;
/// Bytes of one text about a caller that are read beside the question.
pub(crate) const BACKGROUND_BYTES_MAX: usize = 4 * 1024;
/// Such texts that are read.
pub(crate) const BACKGROUND_TEXTS_MAX: usize = 16;
/// Clauses of one such text by which items may come earlier.
pub(crate) const BACKGROUND_CLAUSES_MAX: usize = 32;
/// Constraints that such texts may come to.
pub(crate) const BACKGROUND_CONSTRAINTS_MAX: usize = 24;
/// Words of such texts by which items come earlier.
pub(crate) const LEANINGS_MAX: usize = 32;
/// Items, from the first on, that words about a caller may put into another order.
pub(crate) const LEANING_ITEMS_MAX: usize = 50;
/// Values named to ask about, beside words: in one message, and by all turns of a question, of which the
/// newest hold.
pub(crate) const QUESTION_FILTERS_MAX: usize = 32;
/// Suggestions for a question that is being typed.
pub(crate) const SUGGESTIONS_MAX: usize = 8;
/// Rules for the order of items, of one agent.
pub(crate) const RANKING_RULES_MAX: usize = 100;
/// Ids of items that one rule names, and its entries of words.
pub(crate) const RANKING_IDS_MAX: usize = 50;
pub(crate) const RANKING_PHRASES_MAX: usize = 20;
/// Properties that the items of one rule have.
pub(crate) const RANKING_PROPERTIES_MAX: usize = 20;
/// Bytes of each text of a rule.
pub(crate) const RANKING_TEXT_BYTES_MAX: usize = 500;
/// How many times the score counts of what a rule boosts, at most.
pub(crate) const RANKING_FACTOR_MAX: f32 = 10.0;
/// Items that a model gets from one search.
pub(crate) const TOOL_ITEMS_MAX: usize = 10;
/// Bytes of an item that a model gets whole; of a larger one it gets the facts.
pub(crate) const TOOL_ITEM_BYTES_MAX: usize = 2 * 1024;
/// Bytes of a prompt that count as one token: fewer than any language takes, so that budgets hold.
pub(crate) const BYTES_PER_TOKEN: usize = 3;
/// Tokens that one question may be allowed.
pub(crate) const RERANK_TOKENS_MAX: usize = 1_000_000;
/// How long a reranking model may be given.
pub(crate) const RERANK_TIME_MAX: Duration = Duration::from_secs(60);
/// Items of one answer that a model may rank.
pub(crate) const RANKED_MAX: usize = 100;
/// Items that a model ranks in one call.
pub(crate) const RANK_WINDOW_ITEMS: usize = 10;
/// Calls for one question that run at once.
pub(crate) const RANK_CALLS_MAX: usize = 4;
/// Calls of one agent's model that run at once. More wait.
pub(crate) const RERANK_CALLS_MAX: usize = 16;
/// Failures in a row after which a model is left alone for [`RERANK_REST`].
pub const RERANK_FAILURES_MAX: u32 = 5;
/// How long a model that fails is left alone.
pub(crate) const RERANK_REST: Duration = Duration::from_secs(30);
/// Bytes of one answer of a reranking model.
pub const RERANK_ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Bytes of answers that are kept for those who ask the same.
pub(crate) const ANSWER_CACHE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Minutes for which they are kept: a day.
pub(crate) const ANSWER_CACHE_MINUTES_MAX: u64 = 1_440;
/// Bytes of one text of an item, or of a turn, in a prompt.
pub(crate) const PROMPT_TEXT_BYTES_MAX: usize = 600;
/// Turns before the question in a prompt.
pub(crate) const PROMPT_TURNS_MAX: usize = 8;
/// Bytes of a question as a model words it.
pub const REWRITTEN_BYTES_MAX: usize = 400;
/// Further searches that a model may think of.
pub(crate) const FURTHER_SEARCHES_MAX: usize = 3;
/// Characters of why an item stands where it does.
pub(crate) const WHY_CHARS_MAX: usize = 160;
/// Items that a summary is made from.
pub(crate) const SUMMARIZED_MAX: usize = 10;
/// Bytes of a summary.
pub(crate) const SUMMARY_BYTES_MAX: usize = 4 * 1024;
/// Items that a cross-encoder reads for one question.
pub(crate) const CROSS_ENCODER_ITEMS: usize = 30;
/// Items that are told first beside one whose place is asked about.
pub(crate) const DIAGNOSED_FIRST: usize = 10;
/// Items that are told where none goes by a name.
pub(crate) const DIAGNOSED_NEAREST: usize = 10;
/// Sentences about what was left out of an index that are told about one item.
pub(crate) const DIAGNOSED_LEFT_OUT: usize = 10;
