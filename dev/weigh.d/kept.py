"""The kept file: what each thing weighs, and why it may."""

import tomllib
from dataclasses import dataclass

# How far above its kept value a thing may be.
MARGIN = 0.03
# Bytes of code that a crate may grow by in any case: a function or two in a small one are no weight.
CODE_SLACK = 16 * 1024

BEGIN = """\
# What the program weighs, and why it may: written by `dev/weigh --write --why "…"`, held by `dev/weigh --check`, which
# is a part of ./dev/test and fails above 1.03 of a value. CONTRIBUTING.md says more.
"""
TABLES = {
    "packages": "Packages that are locked (Cargo.lock).",
    "tests": "Programs that the tests are built into.",
    "code": "Bytes of machine code of each crate, not optimised, as the tests build it.",
    "async": "Bytes of other crates' async bodies that a crate polls, which an optimised build compiles again in it.",
    "build": "By hand (`dev/weigh --build`): CPU seconds of a clean build, bytes of the binary, of each profile.",
    "build-code": "By hand: bytes of machine code of each crate in the release build.",
    "build-async": "By hand: bytes of other crates' async bodies in them, as far as they were not inlined.",
    "steps": "By hand (`--seconds`): seconds of ./dev/test by step, on two cores.",
}
# Those that are measured in ./dev/test, and hold.
HELD = ("packages", "tests", "code", "async")
SLACK = {"code": CODE_SLACK, "async": CODE_SLACK}


@dataclass
class Growth:
    """Something that weighs more than it may."""

    table: str
    name: str
    kept: int | None
    now: int

    def __str__(self):
        if self.kept is None:
            return f"{self.table}.{self.name} is {self.now:,} and was never kept"
        more = self.now - self.kept
        share = f", {more / self.kept:.1%}" if self.kept else ""
        return f"{self.table}.{self.name} is {self.now:,}, {more:,} more than the kept {self.kept:,}{share}"


def read(file):
    """The kept file as tables of values and reasons; nothing where there is none."""
    if not file.exists():
        return {}
    return tomllib.loads(file.read_text())


def write(file, kept):
    """Writes the kept file, its tables and names in a fixed order."""
    text = [BEGIN]
    for table, meaning in TABLES.items():
        rows = kept.get(table, {})
        if rows:
            text.append(f"\n# {meaning}\n[{table}]\n")
            text += [f"{quoted(name)} = {{ kept = {row['kept']}, why = {quoted(row['why'], True)} }}\n"
                     for name, row in (rows.items() if table == "steps" else sorted(rows.items()))]
    file.write_text("".join(text))


def quoted(text, always=False):
    if not always and text and all(letter.isalnum() or letter in "-_" for letter in text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def grown(kept, now):
    """What weighs more than it may, by table and name."""
    found = []
    for table in HELD:
        for name, value in now.get(table, {}).items():
            row = kept.get(table, {}).get(name)
            if row is None:
                # A crate without foreign bodies has no line.
                if value > SLACK.get(table, 0) or table != "async":
                    found.append(Growth(table, name, None, value))
            elif value > max(row["kept"] * (1 + MARGIN), row["kept"] + SLACK.get(table, 0)):
                found.append(Growth(table, name, row["kept"], value))
    return found


def shrunk(kept, now):
    """What weighs so much less that the kept value holds nothing any more."""
    found = []
    for table in HELD:
        for name, row in kept.get(table, {}).items():
            value = now.get(table, {}).get(name, 0)
            if value < row["kept"] * (1 - MARGIN) and row["kept"] - value > SLACK.get(table, 0):
                found.append(f"{table}.{name} is {value:,} and {row['kept']:,} are kept")
    return found


def renewed(kept, now, tables, why):
    """The kept tables with what is measured now in some of them: a value that moved gets the reason."""
    result = dict(kept)
    for table in tables:
        before = kept.get(table, {})
        rows = {}
        for name, value in now.get(table, {}).items():
            row = before.get(name)
            stays = row and abs(value - row["kept"]) <= max(row["kept"] * MARGIN / 3, SLACK.get(table, 0) / 4)
            rows[name] = row if stays else {"kept": value, "why": why}
        result[table] = rows
    return result
