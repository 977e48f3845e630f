//! Settings: files, variables, keys that moved, and what is said about mistakes.

mod moved;
mod overrides;
mod reference;
mod sections;
