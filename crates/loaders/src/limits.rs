//! Every bound of reading files, with its unit.

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
/// Bytes of rows of a shop's export that wait for others of their group.
pub const GROUPED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Variants of one item; further ones of a group are another item.
pub const VARIANTS_MAX: usize = 1_000;
/// Products of a shop's export whose first rows are remembered for those that follow.
pub const HANDLES_KEPT: usize = 10_000;
/// Items in one index.
pub const ITEMS_MAX: usize = 20_000_000;
/// Files that one set of sources may hold.
pub const FILES_MAX: usize = 1_000_000;
/// Reasons for skipped items that a report spells out; the others are only counted.
pub const REASONS_MAX: usize = 100;
/// Bytes of an item's id. Longer ones are replaced by their hash.
pub const ID_BYTES_MAX: usize = 2_048;
/// Levels that a fact's dot path may have.
pub const PATH_LEVELS_MAX: usize = 6;
/// Bytes of a page in which its encoding is looked for.
pub const ENCODING_BYTES_READ: usize = 1_024;
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
