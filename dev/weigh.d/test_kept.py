"""What fails, what does not, and what is written down."""

import tempfile
import unittest
from pathlib import Path

import kept as keeping

KEPT = {
    "packages": {"locked": {"kept": 100, "why": "began so"}},
    "code": {"host": {"kept": 10_000_000, "why": "began so"}, "small": {"kept": 2_000, "why": "began so"}},
}


def names(kept, now):
    return [f"{growth.table}.{growth.name}" for growth in keeping.grown(kept, now)]


class Kept(unittest.TestCase):
    def test_three_percent_are_room_and_one_more_is_not(self):
        now = {"packages": {"locked": 103}, "code": {"host": 10_300_000}}
        self.assertEqual(names(KEPT, now), [])
        now = {"packages": {"locked": 104}, "code": {"host": 10_300_001}}
        self.assertEqual(names(KEPT, now), ["packages.locked", "code.host"])

    def test_a_small_crate_may_grow_by_a_function(self):
        slack = keeping.CODE_SLACK
        self.assertEqual(names(KEPT, {"code": {"small": 2_000 + slack}}), [])
        self.assertEqual(names(KEPT, {"code": {"small": 2_001 + slack}}), ["code.small"])

    def test_what_was_never_kept_is_named(self):
        self.assertEqual(names(KEPT, {"code": {"new": 5}}), ["code.new"])
        # Where no foreign body was polled there is no line, and a few bytes are none.
        self.assertEqual(names(KEPT, {"async": {"host": keeping.CODE_SLACK}}), [])
        self.assertEqual(names(KEPT, {"async": {"host": keeping.CODE_SLACK + 1}}), ["async.host"])

    def test_what_became_lighter_is_told(self):
        self.assertEqual(keeping.shrunk(KEPT, {"packages": {"locked": 98}, "code": {"host": 10_000_000}}), [])
        told = keeping.shrunk(KEPT, {"packages": {"locked": 96}, "code": {"host": 10_000_000}})
        self.assertEqual(told, ["packages.locked is 96 and 100 are kept"])

    def test_the_reason_stands_beside_what_changed(self):
        now = {"packages": {"locked": 140}, "code": {"host": 10_010_000, "small": 2_000}}
        renewed = keeping.renewed(KEPT, now, ("packages", "code"), 'a "good" reason')
        self.assertEqual(renewed["packages"]["locked"], {"kept": 140, "why": 'a "good" reason'})
        self.assertEqual(renewed["code"], KEPT["code"])
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "weight.toml"
            keeping.write(file, renewed)
            self.assertEqual(keeping.read(file), renewed)


if __name__ == "__main__":
    unittest.main()
