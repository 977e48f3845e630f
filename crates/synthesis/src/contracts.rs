//! Contracts from their making to their end, in the store. Sections 10.1.4, 10.5 and 10.8.
