//! A client of both versions: for fronting remote agents, and for `forecourt ask`.
