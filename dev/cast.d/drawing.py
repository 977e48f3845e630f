"""A recording as an SVG that plays by itself, in CSS alone. Each line is drawn once: it is seen from the time at which it
is printed until its screen is cleared, and one that is typed is uncovered key by key."""

import html

from terminal import Terminal

# Of one letter, in pixels, and around all of them.
WIDTH, HEIGHT, MARGIN, BAR = 8.4, 19, 16, 30
STYLE = """
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6eae8;white-space:pre}
.b{font-weight:700}.d{fill:#9aa7a4}.i{font-style:italic}.u{text-decoration:underline}.red{fill:#f08a80}.green{fill:#74c9b0}
.yellow{fill:#e0c061}.blue{fill:#86b5f0}.magenta{fill:#d69ae0}.cyan{fill:#7fd0dc}.l{visibility:hidden}.z{visibility:visible}
.edge{fill:#131716;stroke:#131716}@media (prefers-color-scheme: dark){.edge{stroke:#2d3533}}
"""


class Line:
    """A line of a screen while it is the same: from when to when, what it holds, and when each letter came."""

    def __init__(self, row, begin):
        self.row, self.begin, self.end, self.cells, self.keys = row, begin, None, [], []


def screens(events, size):
    """The lines of all screens, one screen behind the other."""
    terminal, lines, current = Terminal(size), [], {}
    for at, text in events:
        terminal.write(text)
        if text.startswith("\x1b[2J"):
            for line in current.values():
                line.end = at
            current = {}
        for row, cells in enumerate(terminal.lines):
            if not cells:
                continue
            if row not in current:
                current[row] = Line(row, at)
                lines.append(current[row])
            line = current[row]
            line.keys += [at] * (len(cells) - len(line.keys))
            line.cells = list(cells)
    return lines


def runs(cells):
    """Neighbours of one style together: column, text, style."""
    found = []
    for column, (letter, style) in enumerate(cells):
        if found and found[-1][2] == style:
            found[-1][1] += letter
        else:
            found.append([column, letter, style])
    return found


def text(line):
    y = BAR + MARGIN + HEIGHT * line.row + 14
    drawn = []
    for column, said, style in runs(line.cells):
        if said.strip():
            classes = f' class="{" ".join(sorted(style))}"' if style else ""
            # Whatever letters a reader's machine has: they are as wide as these.
            place = f'x="{MARGIN + WIDTH * column:.1f}" y="{y}" textLength="{WIDTH * len(said):.1f}"'
            drawn.append(f"<text {place}{classes}>{html.escape(said, quote=False)}</text>")
    return "".join(drawn)


def percent(at, seconds):
    return f"{100 * at / seconds:.3f}".rstrip("0").rstrip(".") + "%"


def keyframes(line, name, seconds):
    """When a line is seen, and how much of it."""
    begin, end = percent(line.begin, seconds), percent(line.end or seconds, seconds)
    seen = f"@keyframes {name}{{0%{{visibility:hidden}}{begin}{{visibility:visible}}"
    seen += f"{end}{{visibility:hidden}}}}" if line.end else "100%{visibility:visible}}"
    if len(set(line.keys)) < 3:
        return seen, f"{name} {seconds:g}s step-end infinite"
    # All that is before the first key comes at once.
    ahead = line.keys.count(line.keys[0])
    steps = [(line.keys[0], ahead)] + [(at, n + ahead + 1) for n, at in enumerate(line.keys[ahead:])]
    pieces = [f"0%{{clip-path:inset(-9px {WIDTH * len(line.keys):.1f}px -9px 0)}}"]
    pieces += [
        f"{percent(at, seconds)}{{clip-path:inset(-9px {WIDTH * (len(line.keys) - shown):.1f}px -9px 0)}}" for at, shown in steps
    ]
    typed = f"@keyframes {name}k{{{''.join(pieces)}100%{{clip-path:inset(-9px 0 -9px 0)}}}}"
    return seen + typed, f"{name} {seconds:g}s step-end infinite,{name}k {seconds:g}s step-end infinite"


def svg(events, size, title):
    """The picture. Who wants no motion sees the last screen."""
    seconds = events[-1][0]
    lines = screens(events, size)
    width = round(2 * MARGIN + WIDTH * size[0])
    height = BAR + 2 * MARGIN + HEIGHT * (max(line.row for line in lines) + 1)
    moving, drawn = [], []
    for n, line in enumerate(lines):
        name = f"a{n}"
        frames, animation = keyframes(line, name, seconds)
        moving.append(f"{frames}.{name}{{animation:{animation}}}")
        drawn.append(f'<g class="{"l" if line.end else "z"} {name}">{text(line)}</g>')
    motion = f"@media (prefers-reduced-motion:no-preference){{{''.join(moving)}}}"
    words = html.escape(title)
    dots = "".join(f'<circle cx="{MARGIN + 4 + 18 * n}" cy="18" r="5" fill="#3a4442"/>' for n in range(3))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{words}">\n'
        f"<title>{words}</title>\n<style>{STYLE.strip()}\n{motion}</style>\n"
        f'<rect class="edge" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="10"/>{dots}\n' + "\n".join(drawn) + "\n</svg>\n"
    )
