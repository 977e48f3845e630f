//! The vocabulary that is shipped, and files that add to it.

mod files;
mod kitchen;
