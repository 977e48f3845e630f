"""The rewriting, the index and the check, on small inputs."""

import json
import tempfile
import unittest
from pathlib import Path

import book
import checked
import index
import versions
from page import Page

PARTS = Path(__file__).resolve().parent


def served(name, article, head=""):
    """A page as the program serves it."""
    current = ' aria-current="page"'
    listed = "".join(
        f'<li><a href="/manual/{page}"{current if page == name else ""}>{page}</a></li>' for page in ("a", "b")
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta name="robots" content="noindex">{head}<style>a > b {{}}</style>'
        '<script src="/assets/manual.js?v=1" defer></script></head><body><nav class="bar"><a href="/">x<br></a></nav>'
        f'<nav class="contents"><p class="label">Learn</p><ul>{listed}</ul></nav>'
        '<form class="ask-on" action="/~guide"><p><input name="user"></p></form>'
        f'<article class="prose">{article}</article><nav class="sides"></nav><footer class="foot"><a href="/">y</a>'
        "</footer></body></html>"
    )


def edition(**more):
    return book.Edition(version="1.2", **more)


def rewritten(article, **more):
    return Page("a", served("a", article), edition(**more)).text


class Pages(unittest.TestCase):
    def test_links_are_relative_and_what_asks_the_program_is_left_out(self):
        text = rewritten('<a href="/manual/b#x">b</a> <a href="/manual/">all</a> <a href="#y">y</a> <a href="https://e.example/">e</a>')
        for wanted in ('"b.html#x"', '"index.html"', '"#y"', '"https://e.example/"', 'src="manual.js"', ">1.2<"):
            self.assertIn(wanted, text)
        for gone in ("/manual/", "~guide", "ask-on", "noindex", "<style", 'class="foot"', 'href="/"', "?v="):
            self.assertNotIn(gone, text)

    def test_text_and_attributes_stay_as_they_are(self):
        said = "<p title=\"a &quot;b&quot;\">x &lt;script&gt; &amp;amp; &#39;y&#39;</p><pre><code>a\n  b\n</code></pre>"
        self.assertIn(said, rewritten(said))

    def test_drawings_and_scripts_are_fetched_and_others_refused(self):
        page = Page("a", served("a", '<img src="d.svg" alt="">'), edition())
        self.assertEqual(page.files, {"manual.js": "/assets/manual.js", "d.svg": "/manual/d.svg"})
        self.assertEqual(page.style, ["a > b {}"])
        for article in ('<a href="/~chef">x</a>', '<a href="../x.md">x</a>', '<a href="javascript:x">x</a>',
                        '<img src="https://e.example/x.png">', '<a href="/manual/../x">x</a>'):
            with self.assertRaises(ValueError, msg=article):
                rewritten(article)
        with self.assertRaises(ValueError):
            Page("a", "<html><body>half", edition())

    def test_pages_that_are_written_by_hand_can_be_edited(self):
        with tempfile.TemporaryDirectory() as docs:
            (Path(docs) / "manual").mkdir()
            (Path(docs) / "manual" / "a.md").write_text("# A\n")
            self.assertIn(
                'href="https://e.example/edit/docs/' 'manual/a.md"',
                rewritten("", docs=Path(docs), edit_base="https://e.example/edit/"),
            )
            self.assertNotIn("Edit this page", rewritten("", docs=Path(docs)))
            made = Page("b", served("b", ""), edition(docs=Path(docs), edit_base="https://e.example/"))
            self.assertNotIn("Edit this page", made.text)

    def test_search_engines_are_led_to_the_newest_version(self):
        self.assertIn('href="https://e.example/latest/a.html"', rewritten("", base="https://e.example/"))
        self.assertNotIn("canonical", rewritten(""))


class Book(unittest.TestCase):
    PAGES = {
        "/manual/": served("", '<h1 id="m">M</h1><a href="/manual/a">A</a>'),
        "/manual/a": served("a", '<h1 id="t">T &amp; t</h1><p>One <b>two</b></p><h2 id="u">U</h2><pre>three</pre>'),
        "/manual/b": served("b", '<h1 id="t">B</h1><a href="/manual/a#u">u</a>'),
        "/assets/manual.js": "js",
        "/assets/forecourt.svg": "<svg/>",
    }

    def files(self, pages):
        return book.files(lambda path: pages[path].encode(), edition(), PARTS)

    def test_all_pages_that_are_linked_are_there_and_searched(self):
        files = self.files(self.PAGES)
        self.assertEqual(checked.problems(files), [])
        self.assertEqual(sorted(name for name in files if name.endswith(".html")), ["a.html", "b.html", "index.html"])
        known = index.read(files[index.FILE])
        self.assertEqual(known["pages"], [["a.html", "T & t", "Learn"], ["b.html", "B", "Learn"]])
        self.assertEqual(known["sections"][:2], [[0, "t", "T & t", "One two"], [0, "u", "U", "three"]])

    def test_links_that_lead_nowhere_are_told(self):
        nowhere = served("b", '<h1 id="t">B</h1><a href="/manual/a#v">v</a>')
        self.assertEqual(
            checked.problems(self.files(self.PAGES | {"/manual/b": nowhere})),
            ["b.html links to a.html#v: no such heading"],
        )
        files = self.files(self.PAGES)
        del files["manual.js"]
        self.assertEqual(len(checked.problems(files)), 3)
        files = self.files(self.PAGES) | {"c.html": b"<p>"}
        self.assertEqual(checked.problems(files), ["c.html is not in the index"])

    def test_the_index_is_bounded(self):
        words = index.words
        self.assertEqual(words("ab abc", 6), "ab abc")
        self.assertEqual(words("ab  abcd", 6), "ab")
        self.assertEqual(words("a" * 7, 6), "a" * 6)
        most = index.SECTION_CHARS_MAX
        for length in (most, most + 1):
            page = {"a.html": f"<article><h1>A</h1>{'a' * length}</article>"}
            self.assertEqual(len(index.read(index.of(page))["sections"][0][3]), most)
        section = "<article><h1>A</h1>" + "<h2 id='x'>" + "é" * 700 + "</h2>"
        with self.assertRaises(ValueError):
            index.of({f"{n}.html": section + "<p>" + "é" * most for n in range(1000)})

    def test_the_script_is_small_and_puts_in_text_alone(self):
        script = (PARTS / "search.js").read_text()
        self.assertLess(len(script.encode()), 6 * 1024)
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            self.assertNotIn(way, script)


class Versions(unittest.TestCase):
    FILES = {index.FILE: index.of({}), "index.html": b"new"}

    def test_the_newest_is_the_latest_and_others_stay(self):
        with tempfile.TemporaryDirectory() as out:
            out = Path(out)
            for version in ("0.9", "0.10", "0.2"):
                versions.publish(out, version, self.FILES | {f"{version}.html": b""}, "https://e.example/")
            listed = json.loads((out / "versions.json").read_text())
            self.assertEqual(listed["latest"], "0.10")
            self.assertEqual([version["name"] for version in listed["versions"]], ["0.10", "0.9", "0.2"])
            self.assertTrue((out / "latest/0.10.html").exists() and (out / "0.2/0.2.html").exists())
            self.assertIn("https://e.example/latest/0.10.html", (out / "sitemap.xml").read_text())
            self.assertIn("https://e.example/sitemap.xml", (out / "robots.txt").read_text())
            self.assertEqual([file.name for file in out.iterdir() if file.name.startswith(".")], [])

    def test_a_version_is_replaced_whole_and_a_foreign_folder_is_not(self):
        with tempfile.TemporaryDirectory() as out:
            out = Path(out)
            versions.publish(out, "1.0", self.FILES | {"gone.html": b""}, "")
            versions.publish(out, "1.0", self.FILES, "")
            self.assertFalse((out / "1.0/gone.html").exists() or (out / "sitemap.xml").exists())
            (out / "2.0").mkdir()
            (out / "2.0/letters.txt").write_text("mine")
            with self.assertRaises(ValueError):
                versions.publish(out, "2.0", self.FILES, "")
            self.assertEqual((out / "2.0/letters.txt").read_text(), "mine")
            self.assertEqual(json.loads((out / "versions.json").read_text())["latest"], "1.0")

    def test_a_program_tells_its_version(self):
        self.assertEqual(versions.of_program("forecourt 0.12.3 (abc, 2026-01-01)\n"), "0.12")
        with self.assertRaises(ValueError):
            versions.of_program("forecourt\n")


if __name__ == "__main__":
    unittest.main()
