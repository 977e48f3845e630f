//! Sites as a visitor meets them.

mod sites;
