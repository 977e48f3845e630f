//! Attacks on contracts that are made while serving.
