//! This module has every bound of the contract layer, with its unit.

use std::time::Duration;

/// Letters of a method name, at least. Section 3.2.
pub(crate) const METHOD_CHARS_MIN: usize = 3;
/// Letters of a method name, at most. Section 3.2.
pub(crate) const METHOD_CHARS_MAX: usize = 32;
/// Verbs suggested for one that is unknown.
pub(crate) const SUGGESTIONS_MAX: usize = 3;
/// Edits between an unknown verb and one that is suggested for it.
pub(crate) const SUGGESTION_EDITS_MAX: usize = 2;
/// Bytes of a catalog document.
pub const CATALOG_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Verbs in one catalog.
pub(crate) const CATALOG_VERBS_MAX: usize = 10_000;
/// Characters of a version, and of a successor's name, in a notice of deprecation.
pub(crate) const VERSION_CHARS_MAX: usize = 64;
/// Segments of a path that an endpoint is registered under.
pub const TEMPLATE_SEGMENTS_MAX: usize = 32;
/// Bytes of a path that an endpoint is registered under.
pub const TEMPLATE_BYTES_MAX: usize = 1_024;
/// Bytes of a query string, before decoding.
pub const QUERY_BYTES_MAX: usize = 8 * 1_024;
pub use forecourt_core::limits::{SCOPE_CHARS_MAX, SCOPES_MAX};
/// Bytes of a JSON Schema in its shortest spelling.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Levels of references and alternatives that are looked at for the types of a property.
pub(crate) const TYPES_DEPTH_MAX: usize = 16;
/// Levels of nesting in a JSON Schema.
pub const SCHEMA_DEPTH_MAX: usize = 32;
/// Schemas that are checked in place of one another in a row, by references and combinations. Times
/// the nesting of JSON it is how deep a check calls itself, on a thread's stack.
pub const SCHEMA_CHAIN_MAX: usize = 32;
/// Schemas in one JSON Schema, the outermost one included.
pub const SUBSCHEMAS_MAX: usize = 1_000;
/// Regular expressions in one JSON Schema.
pub const PATTERNS_MAX: usize = 64;
/// Bytes of one regular expression in a JSON Schema.
pub const PATTERN_BYTES_MAX: usize = 1_024;
/// Bytes that one regular expression may take when compiled.
pub(crate) const PATTERN_COMPILED_BYTES_MAX: usize = 1024 * 1024;
/// Schemas that one value alone may be checked against.
pub(crate) const CHECKS_PER_VALUE_MAX: u64 = 10_000;
/// Checks of one value against one schema that a whole validation may take.
pub const CHECKS_MAX: u64 = 10_000_000;
/// Characters of a sentence about a schema or a value that breaks it.
pub const VIOLATION_CHARS_MAX: usize = 300;
/// Errors that one endpoint declares.
pub const DECLARED_ERRORS_MAX: usize = 128;
/// Characters of an error's name.
pub const ERROR_CHARS_MAX: usize = 64;
/// How long a handler may take, unless its endpoint says otherwise. Section 12.3.
pub const HANDLER_TIME_DEFAULT: Duration = Duration::from_secs(30);
/// How long an endpoint may let its handler take.
pub(crate) const HANDLER_TIME_MAX: Duration = Duration::from_secs(600);
/// Bytes of the address under which a service is asked, query included, unless its handler says otherwise.
pub const SERVICE_ADDRESS_BYTES_DEFAULT: usize = 8 * 1024;
/// Bytes of such an address that a handler may allow.
pub const SERVICE_ADDRESS_BYTES_MAX: usize = 64 * 1024;
/// Bytes of what a service answers, and of the result made of it, unless its handler says otherwise.
pub const SERVICE_ANSWER_BYTES_DEFAULT: usize = 1024 * 1024;
/// Bytes of such an answer that a handler may allow.
pub const SERVICE_ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Recipes of one host.
pub const RECIPES_MAX: usize = 1_000;
/// Steps of one recipe.
pub const STEPS_MAX: usize = 64;
/// Elements of a list that one step of a recipe is called for.
pub const ELEMENTS_MAX: usize = 100;
/// Corrections of what members mean, of one host.
pub const CORRECTIONS_MAX: usize = 10_000;
/// Members that lead from a result to what a step takes of it.
pub const RESULT_MEMBERS_MAX: usize = 16;
/// Compositions within compositions.
pub const COMPOSITION_DEPTH_MAX: u32 = 8;
/// Endpoints of one host.
pub const ENDPOINTS_MAX: usize = 100_000;
/// Characters of a caller's text that a sentence of ours repeats.
pub const ECHO_CHARS_MAX: usize = 100;
