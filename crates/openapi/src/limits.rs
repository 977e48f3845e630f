//! Every bound of reading and writing OpenAPI, with its unit.

/// Bytes of a document.
pub const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Values in a YAML document, those that its aliases repeat included.
pub const YAML_NODES_MAX: usize = 1_000_000;
/// Values that aliases of a YAML document may repeat.
pub const YAML_REPEATED_MAX: usize = 250_000;
/// Operations of one document.
pub const OPERATIONS_MAX: usize = 5_000;
/// Bytes that parts of a Swagger 2.0 document may take together where they stand once more: shared parameters and
/// responses in each operation, schemas under each media type.
pub const SWAGGER_REPEATED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes that each such value counts for, beside those of its text.
pub const SWAGGER_VALUE_BYTES: usize = 16;
/// References that may lead to one another before something else is found.
pub const REFERENCE_HOPS_MAX: usize = 32;
/// Bodies within bodies (`allOf` and its kin) that are joined into one input.
pub(crate) const JOINED_DEPTH_MAX: usize = 16;
/// Schemas that are looked at for the fields of one body.
pub const JOINED_PARTS_MAX: usize = 1_000;
/// Fields of one input.
pub const FIELDS_MAX: usize = 500;
/// Characters of a sentence that is taken over from the document.
pub const SENTENCE_CHARS_MAX: usize = 300;
/// Characters of a note about one operation.
pub(crate) const NOTE_CHARS_MAX: usize = 200;
/// Notes of a kind about one operation; further ones are not kept.
pub const NOTES_MAX: usize = 40;
/// Details of one cause for review that are shown; further ones are counted.
pub(crate) const DETAILS_SHOWN_MAX: usize = 3;
/// Bytes of an example that is kept in a schema.
pub const EXAMPLE_BYTES_MAX: usize = 500;
/// Characters of the name of a file, without its ending.
pub(crate) const FILE_NAME_CHARS_MAX: usize = 100;
/// Lines of a schema that stands in the endpoint's own file; longer ones lie beside it.
pub(crate) const INLINE_LINES_MAX: usize = 40;
/// Characters of a line of TOML before a table gets lines of its own.
pub const LINE_CHARS_MAX: usize = 110;
/// Schemas that are looked at for what one of them and all it is composed of never show or never take.
pub(crate) const IN_PLACE_PARTS_MAX: usize = 200;
/// Levels of alternatives that are looked at for the types that a parameter may have.
pub(crate) const SHAPE_DEPTH_MAX: usize = 8;
/// Bytes of a description that are read for sentences.
pub(crate) const PROSE_BYTES_MAX: usize = 16 * 1024;
/// Sentences of a description that are looked at.
pub(crate) const SENTENCES_MAX: usize = 20;
/// What an import may be told of operations: tags, patterns, names and impacts together.
pub const CHOICES_MAX: usize = 500;
/// Bytes of the record of what was imported into a folder.
pub const RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
