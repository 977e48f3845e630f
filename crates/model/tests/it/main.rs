//! `model`: what a language model is asked, and what its answers and faults become.

mod model;
mod production;
mod real_llm;
mod reference;
mod siblings;
mod support;
