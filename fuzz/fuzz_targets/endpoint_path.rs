//! Paths of endpoints: what is read is found again at the endpoint that it fits, and nothing panics.

#![no_main]

use forecourt_contract::{Catalog, RequestPath, Template};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let catalog = Catalog::shipped();
    if let Ok(path) = RequestPath::parse(text, &catalog) {
        assert_eq!(path.as_str(), text);
        assert!(text.starts_with('/') && (text == "/" || !text.ends_with('/')));
    }
    if let Ok(template) = Template::parse(text, &catalog) {
        let filled = template.fill(|_| Some("a b".to_owned()));
        assert!(filled.is_none_or(|path| RequestPath::parse(&path, &catalog).is_ok()));
    }
});
