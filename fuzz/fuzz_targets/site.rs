//! What sites send: any bytes end as a page, a sitemap and a `robots.txt`, and what is read is whole.

#![no_main]

use forecourt_crawler::{read_sitemap, robots_allow};
use forecourt_loaders::read_page;
use libfuzzer_sys::fuzz_target;
use url::Url;

fuzz_target!(|bytes: &[u8]| {
    let Ok(url) = Url::parse("https://example.org/a") else { return };
    for item in read_page(bytes, "text/html", &url) {
        assert!(item["url"].as_str().is_some_and(|link| Url::parse(link).is_ok()));
    }
    drop(read_sitemap(bytes, "text/xml"));
    robots_allow(&String::from_utf8_lossy(bytes), "forecourt", "/a?b");
});
