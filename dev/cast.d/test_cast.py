"""The terminal, the drawing and the pace, on small inputs."""

import tempfile
import unittest
import xml.etree.ElementTree as tree
from pathlib import Path

import drawing
from recorder import CLEAR, KEY, Recorder
from terminal import Terminal


def shown(text, size=(10, 4)):
    terminal = Terminal(size)
    terminal.write(text)
    return ["".join(letter for letter, _ in line) for line in terminal.lines]


class Screens(unittest.TestCase):
    def test_lines_are_written_wrapped_and_cleared(self):
        self.assertEqual(shown("a\r\nbc\rd"), ["a", "dc"])
        self.assertEqual(shown("0123456789"), ["0123456789"])
        self.assertEqual(shown("0123456789a"), ["0123456789", "a"])
        self.assertEqual(shown("a\tb"), ["a       b"])
        self.assertEqual(shown(f"a\r\nb{CLEAR}c"), ["c"])

    def test_what_it_does_not_know_is_an_error(self):
        for text in ("\x1b[5A", "\x1b[38m", "\x1b]0;x", "\b", "a\r\nb\r\nc\r\nd\r\ne"):
            with self.assertRaises(ValueError, msg=repr(text)):
                shown(text)
        self.assertEqual(len(shown("a\r\nb\r\nc\r\nd")), 4)

    def test_styles_are_turned_on_and_off(self):
        terminal = Terminal((10, 4))
        terminal.write("\x1b[1ma\x1b[32mb\x1b[31mc\x1b[22md\x1b[39me\x1b[4mf\x1b[0mg")
        styles = [sorted(style) for _, style in terminal.lines[0]]
        self.assertEqual(styles, [["b"], ["b", "green"], ["b", "red"], ["red"], [], ["u"], []])


class Drawings(unittest.TestCase):
    EVENTS = [(0.5, "$ "), (1.0, "l"), (1.1, "s"), (1.2, "\r\n"), (1.3, "<a> & b\r\n"), (2.0, CLEAR), (2.5, "end"), (4.0, "$")]

    def test_each_line_is_drawn_once_and_seen_in_its_time(self):
        lines = drawing.screens(self.EVENTS, (10, 4))
        self.assertEqual([(line.begin, line.end) for line in lines], [(0.5, 2.0), (1.3, 2.0), (2.5, None)])
        self.assertEqual(lines[0].keys, [0.5, 0.5, 1.0, 1.1])
        frames, _ = drawing.keyframes(lines[0], "a", 4.0)
        for wanted in ("12.5%{visibility:visible}", "50%{visibility:hidden}", "25%{clip-path:inset(-9px 8.4px -9px 0)}"):
            self.assertIn(wanted, frames)

    def test_it_is_xml_without_scripts_and_stands_still_for_who_wants_that(self):
        picture = drawing.svg(self.EVENTS, (10, 4), 'a "title" & more')
        root = tree.fromstring(picture)
        self.assertEqual(root.get("aria-label"), 'a "title" & more')
        texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(texts, ["$ ls", "<a> & b", "end$"])
        self.assertNotIn("script", picture)
        self.assertIn('<g class="z a2">', picture)
        self.assertNotIn("animation", picture.split("@media (prefers-reduced-motion")[0])


class Pace(unittest.TestCase):
    def recorder(self, folder):
        return Recorder(Path("/bin/true"), Path(folder), "title")

    def test_time_goes_by_what_is_typed_and_not_by_the_clock(self):
        times = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder, self.recorder(folder) as recorder:
                recorder.run("echo abc; pwd", look=2)
                recorder.end(10)
                times.append([at for at, _ in recorder.events])
                self.assertIn("/home/you\r\n", [text for _, text in recorder.events])
        self.assertEqual(*times)
        self.assertEqual((round(times[0][2] - times[0][1], 3), times[0][-1]), (KEY, 10))

    def test_what_fails_or_takes_too_long_is_told(self):
        with tempfile.TemporaryDirectory() as folder, self.recorder(folder) as recorder:
            with self.assertRaises(ValueError):
                recorder.run("false", look=1)
            recorder.run("false", look=1, fails=True)
            recorder.end(recorder.now)
            recorder.now += 0.001
            with self.assertRaises(ValueError):
                recorder.end(recorder.now - 0.001)


if __name__ == "__main__":
    unittest.main()
