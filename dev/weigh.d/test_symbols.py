"""Symbols as rustc writes them, and two crates of which one polls a future of the other."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import rlib
from bodies import Workspace
from names import home, path

CLOSURE = "28_$u7b$$u7b$closure$u7d$$u7d$"
HASH = "17h52f45235db5c8afeE"

SEAM = """
use std::{future::Future, pin::Pin};

/// Whoever polls it compiles it.
pub async fn bare(text: String) -> usize {
    let length = step(text.clone()).await;
    length + text.len()
}

/// It is compiled here.
pub fn boxed(text: String) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(async move {
        let length = step(text.clone()).await;
        length + text.len()
    })
}

async fn step(text: String) -> usize {
    std::future::ready(()).await;
    text.len()
}

/// A closure of another crate, which is no future.
pub fn each(texts: Vec<String>, add: usize) -> usize {
    texts.into_iter().map(|text| text.len() + add).sum()
}
"""
POLLS = "pub async fn asks() -> usize { seam::bare(String::new()).await + seam::each(vec![], 1) }"
CALLS = "pub async fn asks() -> usize { seam::boxed(String::new()).await + seam::each(vec![], 1) }"
# A body is compiled where it is polled first, so that the crate polls its own.
HELD = "pub fn held() -> std::pin::Pin<Box<dyn Future<Output = usize> + Send>> { Box::pin(asks()) }"


class Names(unittest.TestCase):
    def test_legacy_symbols_have_the_path_of_their_crate(self):
        body = f"_ZN16forecourt_egress6client8exchange{CLOSURE}{HASH}"
        self.assertEqual(path(body), "forecourt_egress::client::exchange::{{closure}}")
        self.assertEqual(home(path(body), "forecourt_oidc"), "forecourt_egress")

    def test_a_method_is_at_home_where_its_type_or_its_trait_is(self):
        header = "_$LT$forecourt_a2a..Far$u20$as$u20$forecourt_core..agent..Agent$GT$"
        method = path(f"_ZN{len(header)}{header}6handle{HASH}")
        self.assertEqual(method, "<forecourt_a2a::Far as forecourt_core::agent::Agent>::handle")
        self.assertEqual(home(method, "forecourt_a2a"), "forecourt_a2a")
        self.assertEqual(home(method, "forecourt_core"), "forecourt_core")
        self.assertEqual(home(method, "forecourt_cli"), "forecourt_a2a")
        generic = path(f"_ZN72_$LT$core..pin..Pin$LT$P$GT$$u20$as$u20$core..future..future..Future$GT$4poll{HASH}")
        self.assertEqual(home(generic, "forecourt_a2a"), "core")

    def test_the_other_mangling_names_the_crate_too(self):
        known = {
            "_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const28panic_const_async_fn_resumed":
                ("core::panicking::panic_const::panic_const_async_fn_resumed", "core"),
            "_RNCNvCs15kBYyAo9fc_4seam4bare0B3_": ("seam::bare::{closure}", "seam"),
            "_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner15try_allocate_inCsduwmD7cSIQq_5gimli":
                ("alloc::raw_vec::<impl alloc::raw_vec::RawVecInner>::try_allocate_in", "alloc"),
            "_RINvNtCsgEmfK2I1SDS_4core9panicking13assert_failedINtNtB4_6option6OptionjEBM_EB4_":
                ("core::panicking::assert_failed<core::option::Option<usize>, core::option::Option<usize>>", "core"),
        }
        for symbol, (text, crate) in known.items():
            self.assertEqual(path(symbol), text)
            self.assertEqual(home(text, "own"), crate)

    def test_what_is_no_symbol_of_rust_has_no_path(self):
        for symbol in ("memcpy", "_Rx", "_ZN4core", "_RNv"):
            self.assertIsNone(path(symbol))


class TwoCrates(unittest.TestCase):
    """A workspace made for this test, built with what builds the real one."""

    def weighed(self, user, flags=""):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            manifest = '[package]\nname = "{}"\nversion = "0.0.0"\nedition = "2024"\n'
            files = {
                "Cargo.toml": '[workspace]\nresolver = "3"\nmembers = ["seam", "user"]\n',
                "seam/Cargo.toml": manifest.format("seam"),
                "seam/src/lib.rs": SEAM,
                "user/Cargo.toml": manifest.format("user") + '[dependencies]\nseam = { path = "../seam" }\n',
                "user/src/lib.rs": f"{user}\n{HELD}\n",
            }
            for name, text in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text)
            environment = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target"), "RUSTFLAGS": flags}
            environment.pop("RUSTC_WORKSPACE_WRAPPER", None)
            subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=folder, env=environment, check=True)
            libraries = {name: folder / f"target/debug/lib{name}.rlib" for name in ("seam", "user")}
            workspace = Workspace(rlib.read(name, file) for name, file in libraries.items())
        user = workspace.crates["user"]
        self.assertGreater(user.code(), 0)
        paths = [workspace.path(body).split("<")[0].replace("{{", "{").replace("}}", "}")
                 for below in workspace.foreign(user).values() for body in below]
        return workspace.weight(user), sorted(paths)

    def test_a_foreign_body_that_is_polled_is_seen_with_what_is_below_it(self):
        for flags in ("", "-Csymbol-mangling-version=v0"):
            weight, paths = self.weighed(POLLS, flags)
            self.assertEqual(paths, ["seam::bare::{closure}", "seam::step::{closure}"], flags)
            self.assertGreater(weight, 500)

    def test_a_boxed_one_is_not(self):
        self.assertEqual(self.weighed(CALLS), (0, []))


if __name__ == "__main__":
    unittest.main()
