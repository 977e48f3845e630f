//! Cards: what they say, in which form, who signed them, and what is refused.

mod forms;
mod others;
mod s2_payload;
mod s7_conformance;
mod signatures;
mod support;
