//! How good a ranking is: judged questions read from files, scores of what was found for them, and two rankings
//! compared question by question.
//!
//! A judged set is a folder in BEIR's layout (Thakur et al. 2021): `queries.jsonl` with `_id` and `text` in each
//! line; `qrels.tsv` or `qrels/test.tsv` with a query, a document and a grade in each line, of which everything
//! above 0 is relevant; and `corpus.jsonl` with the documents, unless they are items that are there anyway.
//!
//! | file | holds |
//! |---|---|
//! | [`JudgedSet`] | questions with their judgements, and what is wrong with the files |
//! | [`Scores`] | nDCG@10, recall@100 and MRR@10 |
//! | [`Comparison`] | differences between two rankings, and whether they may be chance |
//! | [`limits`] | every bound, with its unit |

mod compare;
mod corpus;
mod judged;
pub mod limits;
mod problem;
mod scores;

pub use compare::Comparison;
pub use corpus::write_items;
pub use judged::{Grades, JudgedQuestion, JudgedSet};
pub use problem::FileProblem;
pub use scores::{DEEP, Scores, TOP, mean};
