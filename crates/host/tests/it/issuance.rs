//! What callers are asked to do first: issued once, done once, used once. PolicyPart 3.3.3, 3.3.4, 5.

mod agents;
mod audit;
mod binding;
mod browsers;
mod charged;
mod checkouts;
mod consent;
mod crash;
mod credit;
mod killed;
mod nodes;
mod payment;
mod price;
mod race;
mod settling;
mod support;
mod tentative;
