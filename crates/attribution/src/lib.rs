//! Signed records of what was answered: one for each response, in a chain for each agent, in files that are only
//! ever added to. Base protocol, section 8; draft-hood-agtp-api-01 section 10.1.6.
