//! How much of each thing is read.

use std::ops::RangeInclusive;

/// Problems named in one refusal; the rest is left out.
pub(super) use crate::limits::PUSH_SECRET_BYTES_MAX as SECRET_BYTES_MAX;
pub(super) use forecourt_core::limits::{CLIENT_ID_BYTES_MAX, PARTS_MAX, URL_BYTES_MAX};

/// Problems named in one refusal; the rest is left out.
pub(super) const VIOLATIONS_MAX: usize = 20;
/// Tasks that one message refers to.
pub(super) const REFERENCES_MAX: usize = 100;
/// Extensions named in one message or artifact.
pub(super) const EXTENSIONS_MAX: usize = 100;
/// Media types that one client accepts.
pub(super) const MODES_MAX: usize = 100;
/// Bytes of one media type.
pub(super) const MODE_BYTES_MAX: usize = 256;
/// Bytes of a name or description to show.
pub(super) const LABEL_BYTES_MAX: usize = 4 * 1024;
/// Schemes of one push configuration.
pub(super) const SCHEMES_MAX: usize = 16;
/// Bytes of a page token.
pub(super) const PAGE_TOKEN_BYTES_MAX: usize = 1_024;
/// Items on one page.
pub(super) const PAGE_SIZES: RangeInclusive<u32> = 1..=100;
/// Artifacts, messages of history, tasks or configurations in one answer of an agent.
pub(super) const ANSWER_ITEMS_MAX: usize = 10_000;
