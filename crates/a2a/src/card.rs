//! The hub card, and the cards of single agents, in every form that clients read. Hub card 2, 7.
