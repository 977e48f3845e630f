//! What all protocols show alike.

mod endpoint;
