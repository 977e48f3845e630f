//! Acceptance tests of a deployment: files that say what a caller says over which wire, and what holds of the answer.
//!
//! It knows a deployment by its URL alone and speaks every wire as a stranger does, with requests that it writes
//! itself: what a protocol's own crate gets wrong twice, asking and answering, would else pass. Whoever runs the tests
//! gives it a [`TestHost`].
//!
//! | module | holds |
//! |---|---|
//! | [`settings`] | the keys of a file |
//! | [`mod@file`] | the files of a folder, read and checked |
//! | [`limit`] | `price <= 60`, and whether an item keeps it |
//! | [`wire`] | one conversation over one protocol |
//! | [`answer`] | what came, whatever the wire |
//! | [`expectation`] | what was expected and did not come |
//! | [`mod@run`] | one test after another |
//! | [`report`] | what came of them, for people and for continuous integration |
//! | [`limits`] | every bound, with its unit |

pub mod answer;
pub mod expectation;
pub mod file;
mod judge;
pub mod limit;
pub mod limits;
pub mod report;
pub mod run;
pub mod settings;
pub mod wire;

pub use file::{TestCase, TestFiles, Turn};
pub use report::{Report, TestResult, Verdict};
pub use run::{Selection, TestHost, run};
