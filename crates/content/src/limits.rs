//! Every bound of loading and searching, with its unit.

/// Bytes of one item as it lies in its file. Longer ones are skipped.
pub const ITEM_BYTES_MAX: usize = 1024 * 1024;
/// Bytes read while looking for the end of one CSV record or feed entry. Past that, the rest of
/// the file is given up: an unclosed quote would otherwise swallow all of it.
pub const RECORD_SEARCH_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of one file of text that has to be read whole: Markdown, HTML, plain text and the like.
pub const TEXT_FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Bytes of one PDF, DOCX, ODT or EPUB file.
pub const PACKED_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Bytes of one part of a DOCX, ODT or EPUB file when it is unpacked.
pub const PART_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of all parts of a DOCX, ODT or EPUB file together when they are unpacked.
pub const UNPACKED_FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Parts of a DOCX, ODT or EPUB file.
pub const PARTS_MAX: usize = 10_000;
/// Elements of a DOCX or ODT file that are open at once.
pub const PART_DEPTH_MAX: usize = 1_000;
/// Pages of one PDF that are read.
pub const PDF_PAGES_MAX: usize = 5_000;
/// Characters of one PDF page that are read.
pub const PDF_PAGE_CHARS_MAX: usize = 200_000;
/// How long one PDF may take to be read.
pub const PDF_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(60);
/// Bytes of memory that one PDF may take to be read.
pub const PDF_MEMORY_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Bytes of a section of a document. A longer one is several items.
pub const SECTION_BYTES_MAX: usize = 32 * 1024;
/// Bytes of one block of a section: a paragraph, a list, a table, a piece of code. Longer ones are skipped.
pub const SECTION_BLOCK_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a heading, and of the title of a document; the rest is cut off.
pub const HEADING_BYTES_MAX: usize = 1_024;
/// Bytes of a tag or an expression in MDX, and of code within a line of it.
pub const JSX_BYTES_MAX: usize = 16 * 1024;
/// Bytes of the nodes of a JSON-LD document that are read together, so that references between them hold.
pub const JOINED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Nodes inside of one another that references of a JSON-LD document come to.
pub const JOINED_LEVELS_MAX: usize = 4;
/// Columns of a table.
pub const COLUMNS_MAX: usize = 10_000;
/// Columns that are named when none of them is a name.
pub const COLUMN_NAMES_SAID: usize = 20;
/// Columns of a table in a document.
pub const TABLE_COLUMNS_MAX: usize = 100;
/// Items in one index.
pub const ITEMS_MAX: usize = 20_000_000;
/// Files that one set of sources may hold.
pub const FILES_MAX: usize = 1_000_000;
/// Reasons for skipped items that a report spells out; the others are only counted.
pub const REASONS_MAX: usize = 100;
/// Items between two calls of a progress listener.
pub const PROGRESS_ITEMS: u64 = 500;
/// Bytes of an item's id. Longer ones are replaced by their hash.
pub const ID_BYTES_MAX: usize = 2_048;
/// Facts of one item that can be used as filters.
pub const FACTS_MAX: usize = 512;
/// Texts of one item by which its classes are judged.
pub const CLASS_TEXTS_MAX: usize = 2_000;
/// Bytes of one fact. Longer texts are searched, not filtered by.
pub const FACT_BYTES_MAX: usize = 256;
/// Bytes of a fact that is kept as a whole; longer ones equal what has all their words.
pub const WHOLE_FACT_BYTES_MAX: usize = 32;
/// Bytes of a fact's dot path.
pub const PATH_BYTES_MAX: usize = 128;
/// Levels that a fact's dot path may have.
pub const PATH_LEVELS_MAX: usize = 6;
/// Distinct number facts (paths) of one index: each is a column.
pub const NUMBER_PATHS_MAX: usize = 1_000;
/// Bytes of one indexed word; the rest of it is cut off.
pub const WORD_BYTES_MAX: usize = 64;
/// Bytes of a query that are read.
pub const QUERY_BYTES_MAX: usize = 8 * 1024;
/// Words of a query that are searched for.
pub const QUERY_WORDS_MAX: usize = 64;
/// Words of a query whose meaning as a kind of item is looked for; longer queries name no kind.
pub const KIND_WORDS_MAX: usize = 12;
/// Filters of one query.
pub const FILTERS_MAX: usize = 64;
/// Values of one filter of which any may hold.
pub const FILTER_VALUES_MAX: usize = 16;
/// Objects inside of one another in the value of a filter.
pub const FILTER_LEVELS_MAX: usize = 4;
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
/// Rules of one `robots.txt`; later ones are passed over.
pub const ROBOTS_RULES_MAX: usize = 10_000;
/// The longest time between two requests that a site's `robots.txt` can ask for.
pub const ROBOTS_DELAY_MAX: std::time::Duration = std::time::Duration::from_secs(60);
/// Bytes of a `robots.txt`. RFC 9309 2.5 wants 500 KiB at least.
pub const ROBOTS_BYTES_MAX: usize = 512 * 1024;
/// URLs of one sitemap.
pub const SITEMAP_URLS_MAX: usize = 50_000;
/// Sitemaps of one site.
pub const SITEMAPS_MAX: usize = 1_000;
/// Bytes of a sitemap or a document as it is sent. Longer ones are skipped.
pub const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of what is unpacked from gzip.
pub const UNPACKED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of a page. Longer ones are skipped.
pub const PAGE_BYTES_MAX: usize = forecourt_egress::limits::PAGE_BYTES_MAX;
/// Bytes of a page in which its encoding is looked for.
pub const ENCODING_BYTES_READ: usize = 1_024;
/// Bytes of a page's URL.
pub const PAGE_URL_BYTES_MAX: usize = 2_048;
/// Bytes of a page's words that are kept.
pub const PAGE_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Links of a page that are followed.
pub const PAGE_LINKS_MAX: usize = 5_000;
/// JSON-LD scripts of a page, and open elements whose text does not count.
pub const PAGE_DATA_MAX: usize = 100;
/// `meta` elements of a page.
pub const PAGE_METAS_MAX: usize = 500;
/// Attributes of one tag of a page. A tag with more is left out.
pub const PAGE_ATTRIBUTES_MAX: usize = 1_000;
/// Headings, paragraphs, lists and tables of a page.
pub const PAGE_BLOCKS_MAX: usize = 50_000;
/// Elements of a page that are open at once; what is deeper belongs to the innermost of them.
pub const PAGE_DEPTH_MAX: usize = 128;
/// Items of a page.
pub const PAGE_ITEMS_MAX: usize = 1_000;
/// Microdata properties of a page.
pub const PAGE_PROPERTIES_MAX: usize = 10_000;
/// Bytes that are kept of a site: its items, and where its pages lead. Pages behind that are skipped.
pub const SITE_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Redirects followed for a page; all of them within the site.
pub const PAGE_REDIRECTS_MAX: usize = 5;
/// Hosts whose pace is remembered; more are forgotten when they may be asked again.
pub const HOSTS_MAX: usize = 10_000;
/// The longest time for which a host can ask to be left alone.
pub const RETRY_AFTER_MAX: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// Pages of a visit that are read before what was found so far is handed on for the first time.
pub const PUBLISH_PAGES: usize = 10;
/// The least time between two times that what a visit has found is handed on.
pub const PUBLISH_EVERY: std::time::Duration = std::time::Duration::from_secs(5);
/// The longest time that a visit to a site may take. Then it gives up; what is known of the rest stays.
pub const VISIT_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(12 * 60 * 60);
/// Pages in a row that fail before a visit gives up; what is known of the rest stays.
pub const PAGE_FAILURES_MAX: usize = 10;
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
/// Items that a question can ask for: "three soups".
pub const ITEMS_ASKED_MAX: usize = 100;
/// Limits of one question that are told as not understood; the others stay text.
pub const NOT_UNDERSTOOD_MAX: usize = 16;
/// Items that are counted as left out by one limit. With more, it is said to be so many.
pub const LEFT_OUT_MAX: usize = 10_000;
/// Words of a text that may be the name of an item.
pub const NAME_WORDS_MAX: usize = 12;

/// Files in the archive of an index.
pub const ARCHIVE_FILES_MAX: u64 = 100_000;
/// Bytes of an index that is taken out of an archive.
pub const ARCHIVE_BYTES_MAX: u64 = 256 * 1024 * 1024 * 1024;
