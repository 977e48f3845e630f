//! Files of endpoints: any text is an endpoint or problems with lines of the file.

#![no_main]

use std::path::Path;

use forecourt_contract::endpoint::{RegistrationContext, read};
use forecourt_contract::{Catalog, MethodPolicy, RecipeBook};
use forecourt_settings::Section;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(section) = Section::parse(Path::new("endpoints/a.toml"), text, &|_: &str| Some("x".to_owned())) else {
        return;
    };
    let (catalog, policy, recipes) = (Catalog::shipped(), MethodPolicy::default(), RecipeBook::default());
    let beside = |_: &Path| Ok(b"{}".to_vec());
    if let Err(problems) = read(section, &RegistrationContext::new(&catalog, &policy, &recipes), &beside) {
        let lines = text.split('\n').count();
        assert!(!problems.is_empty());
        assert!(problems.iter().all(|problem| problem.line().is_none_or(|line| (1..=lines).contains(&line))));
    }
});
