//! Every bound of the index, of searching it and of pushing into it, with its unit.

/// Items between two calls of a progress listener.
pub const PROGRESS_ITEMS: u64 = 500;
/// Facts of one item that can be used as filters.
pub const FACTS_MAX: usize = 512;
/// Different facts of one item's variants that can be used as filters.
pub const VARIANT_FACTS_MAX: usize = 8_192;
/// Numbers that say which variant of an item states what, of 8 bytes each. What comes after is not told apart.
pub const VARIANT_NUMBERS_MAX: usize = 512 * 1024;
/// Variants that a hit tells; the picked one and others that fit come first.
pub const HIT_VARIANTS_MAX: usize = 50;
/// Texts of one item by which its classes are judged.
pub const CLASS_TEXTS_MAX: usize = 2_000;
/// Bytes of one fact. Longer texts are searched, not filtered by.
pub const FACT_BYTES_MAX: usize = 256;
/// Bytes of a fact that is kept as a whole; longer ones equal what has all their words.
pub const WHOLE_FACT_BYTES_MAX: usize = 32;
/// Bytes of a fact's dot path.
pub const PATH_BYTES_MAX: usize = 128;
/// Distinct number facts (paths) of one index: each is a column.
pub const NUMBER_PATHS_MAX: usize = 1_000;
/// Bytes of one indexed word; the rest of it is cut off.
pub const WORD_BYTES_MAX: usize = 64;
/// Items, from the first on, whose places rules and what is sold out change.
pub const ADJUSTED_ITEMS_MAX: usize = 50;
/// Items that rules pin before the others, for one question.
pub const PINNED_ITEMS_MAX: usize = 10;
/// Bytes of what is typed that is completed, and of what it becomes.
pub const COMPLETED_BYTES_MAX: usize = 120;
/// Names that are read for one completion.
pub const COMPLETED_NAMES_READ: usize = 40;
/// Words that a half-typed one may be, in one completion.
pub const COMPLETED_WORDS_READ: usize = 20;
/// Items that are looked at to find out where a place is.
pub const POSITIONS_READ: usize = 40;
/// Words of a query whose meaning as a kind of item is looked for; longer queries name no kind.
pub const KIND_WORDS_MAX: usize = 12;
/// Hits that can be paged through: `offset + limit` of a query.
pub const HITS_MAX: usize = 1_000;
/// Items in which the values of facets are counted.
pub const FACET_ITEMS_MAX: usize = 200;
/// Values of one facet.
pub const FACET_VALUES_MAX: usize = 20;
/// Characters of a hit's snippet.
pub const SNIPPET_CHARS_MAX: usize = 240;
/// Bytes of an item's text that are read for its snippet.
pub const SNIPPET_BYTES_READ: usize = 16 * 1024;
/// Terms whose frequencies are remembered before those that were not asked for lately are forgotten.
pub const FREQUENCIES_KEPT: usize = 4_096;
/// Bytes for the documents of terms that are remembered, before those that were not asked for lately are forgotten.
pub const TERM_DOCS_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Items whose vectors are made together, on all processors.
pub const EMBED_ITEMS: usize = 64;
/// Bytes of memory for the words of items that are not yet written out.
pub const WRITER_BYTES: usize = 64 * 1024 * 1024;
/// Files that vectors may be spread over before they are written into one.
pub const VECTOR_FILES_MAX: usize = 16;
/// Vectors that are compared one by one with what is asked; more are joined to a graph, through which a search
/// finds its way.
pub const COMPARED_ROWS_MAX: usize = 50_000;
/// Vectors from which on a graph does not grow any more; others go into another one. Growing takes 200 bytes of
/// memory for each of them.
pub const GRAPH_ROWS_MAX: usize = 1_000_000;
/// Items that are embedded between two points at which their vectors are on the disk and found, with a static
/// model and with a transformer: what a crash takes.
pub const EMBED_BATCH_ITEMS: [usize; 2] = [65_536, 2_048];
/// Bytes of one call that pushes items.
pub const PUSH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Items that one call can push, and ids that one can remove.
pub const PUSH_ITEMS_MAX: usize = 10_000;
/// Ids for which something pushed is held in one index, removed ones included.
pub const PUSHED_IDS_MAX: u64 = 1_000_000;
/// Bytes of all items that were pushed into one index.
pub const PUSHED_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// Pushed items that are read at once.
pub const PUSHED_ROWS_READ: u32 = 500;
/// Bytes of a text that are read for its summary.
pub const SUMMARY_BYTES_READ: usize = 256 * 1024;
/// Sentences of a text that are read for its summary.
pub const SUMMARY_SENTENCES_READ: usize = 5_000;
/// Things that an item says are not in it. Of more, the first ones.
pub const ABSENT_THINGS_MAX: usize = 24;
/// Items that are counted as left out by one limit; the count ends here.
pub const LEFT_OUT_MAX: usize = 10_000;
/// Words and phrases of a question for which other words are looked for; further ones are looked for as they are.
pub const SUBJECTS_MAX: usize = 12;
/// Other words that are looked for beside one of them.
pub const OTHER_NAMES_MAX: usize = 24;
/// German compounds that end with a word and are looked for beside it.
pub const ENDING_COMPOUNDS_MAX: usize = 8;
/// German compounds that are looked for beside two neighbouring words.
pub const COMPOSED_MAX: usize = 64;
/// Entries that are proposed for the vocabulary of one index.
pub const PROPOSALS_MAX: usize = 200;
/// Values of one property for which names are proposed; of a property with more, none.
pub const PROPOSED_VALUES_MAX: usize = 20;
/// Words of each part of the index that are looked at for two spellings of one, of each first letter.
pub const SPELLINGS_READ: usize = 8_000;
/// Words of a text that may be the name of an item.
pub const NAME_WORDS_MAX: usize = 12;
/// Files in the archive of an index.
pub const ARCHIVE_FILES_MAX: u64 = 100_000;
/// Bytes of an index that is taken out of an archive.
pub const ARCHIVE_BYTES_MAX: u64 = 256 * 1024 * 1024 * 1024;
/// Seconds for which the candidates of one question are kept, so that what is asked of them several times comes from one
/// answer of the engine.
pub const VIEW_SECONDS: i64 = 2;
/// Questions whose candidates are kept.
pub const VIEWS_KEPT: usize = 32;
/// Seconds for which is kept what is known of all items of an engine.
pub const PROFILE_SECONDS: i64 = 30;
/// Items that are counted for a question where an engine has them; the count ends here.
pub const ENGINE_COUNTED_MAX: usize = 10_000;
/// Times that what an engine keeps of all items is read and kept again when another node was faster.
pub const SUMMARY_ATTEMPTS: u32 = 16;
/// Values of an item that are told beside a limit of a question which it keeps or not.
pub const DIAGNOSED_VALUES_MAX: usize = 10;
