//! Where people finish, and how it goes on: PolicyPart 3.3.4, PolicyResolution 5.3 pattern 2, sheet 9.6.

mod consent;
mod kept;
mod payment;
mod support;
