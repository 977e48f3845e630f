//! Records as whoever keeps and verifies them sees them.

mod chains;
mod disk;
mod files;
mod processes;
mod retention;
mod support;
mod vector;
