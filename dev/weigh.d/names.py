"""Symbols of Rust, in both manglings, as paths; and the crate that a path belongs to."""

import re

LEGACY = re.compile(r"_ZN(?P<parts>.+)17h[0-9a-f]{16}E(?:\.llvm\..*)?$")
ESCAPES = {
    "$SP$": "@", "$BP$": "*", "$RF$": "&", "$LT$": "<", "$GT$": ">", "$LP$": "(", "$RP$": ")", "$C$": ",",
    "$u7b$": "{", "$u7d$": "}", "$u20$": " ", "$u27$": "'", "$u5b$": "[", "$u5d$": "]", "$u2b$": "+", "$u3b$": ";",
    "$u3d$": "=", "$u7e$": "~", "$u22$": '"', "$u21$": "!", "$u25$": "%", "$u26$": "&", "$u3a$": ":",
}
ESCAPED = re.compile("|".join(re.escape(name) for name in ESCAPES))
# What every program has in it, whoever wrote it.
STANDARD = {"core", "alloc", "std"}
# Where a path begins: what stands before `::` and after none.
ROOT = re.compile(r"(?<![\w:>}])([A-Za-z_]\w*)(?=::)")


def path(symbol):
    """The path that a symbol is the code of, `None` when it is no symbol of Rust."""
    if symbol.startswith("_R"):
        try:
            return V0(symbol).read()
        except (IndexError, ValueError):
            return None
    found = LEGACY.match(symbol)
    return found and "::".join(readable(part) for part in parts(found["parts"]))


def parts(text):
    """The segments of a legacy path: each has its length before it."""
    while text:
        length = re.match(r"\d+", text)
        if not length:
            return
        end = length.end() + int(length[0])
        yield text[length.end():end]
        text = text[end:]


def readable(part):
    part = part[1:] if part.startswith("_$") else part
    return ESCAPED.sub(lambda found: ESCAPES[found[0]], part).replace("..", "::")


def home(path, own):
    """The crate that the code of a path belongs to, as seen from the crate `own` in which it was compiled.

    A function is its crate's. A method of a trait is that of the crate with the `impl`, which has the type or the
    trait: if `own` has one of them it is own code, since no crate below knows `own`.
    """
    if not path.startswith("<"):
        return re.match(r"\w*", path)[0]
    crates = [crate for crate in ROOT.findall(header(path)) if crate not in STANDARD]
    if own in crates:
        return own
    return crates[0] if crates else "core"


def header(path):
    """What stands in the angle brackets at the beginning: the type, and the trait of which it has a method."""
    depth = 0
    for at, letter in enumerate(path):
        depth += (letter == "<") - (letter == ">" and path[at - 1] != "-")
        if depth == 0:
            return path[1:at]
    return path


class V0:
    """The other mangling, which names the crate of each path: as much of RFC 2603 as paths need."""

    BASIC = {
        "a": "i8", "b": "bool", "c": "char", "d": "f64", "e": "str", "f": "f32", "h": "u8", "i": "isize",
        "j": "usize", "l": "i32", "m": "u32", "n": "i128", "o": "u128", "p": "_", "s": "i16", "t": "u16",
        "u": "()", "v": "...", "x": "i64", "y": "u64", "z": "!",
    }

    def __init__(self, symbol):
        self.text, self.at = symbol, 2

    def read(self):
        while self.text[self.at].isdigit():
            self.at += 1
        return self.path()

    def take(self):
        self.at += 1
        return self.text[self.at - 1]

    def has(self, letter):
        found = self.text[self.at] == letter
        self.at += found
        return found

    def number(self):
        """A number in base 62, ended by `_`."""
        digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        value, end = 0, self.text.index("_", self.at)
        if end == self.at:
            self.at += 1
            return 0
        for digit in self.text[self.at:end]:
            value = value * 62 + digits.index(digit)
        self.at = end + 1
        return value + 1

    def identifier(self):
        if self.has("s"):
            self.number()
        self.has("u")
        length = 0
        if not self.has("0"):
            while self.text[self.at].isdigit():
                length = length * 10 + int(self.take())
        self.has("_")
        self.at += length
        return self.text[self.at - length:self.at]

    def again(self, read):
        """What stood at an earlier place."""
        place = self.number() + 2
        if place >= self.at:
            raise ValueError("a reference leads forwards")
        here, self.at = self.at, place
        found = read()
        self.at = here
        return found

    def path(self):
        tag = self.take()
        if tag == "C":
            return self.identifier()
        if tag == "N":
            kind, outer, name = self.take(), self.path(), self.identifier()
            inner = {"C": "{closure}", "S": "{shim}"}.get(kind, name)
            return f"{outer}::{inner}"
        if tag in "MX":
            if self.has("s"):
                self.number()
            where, of = self.path(), self.type()
            trait = f"{self.path()} for " if tag == "X" else ""
            # The module with the `impl` is named, and with it the crate.
            return f"{where}::<impl {trait}{of}>"
        if tag == "Y":
            of, trait = self.type(), self.path()
            return f"<{of} as {trait}>"
        if tag == "I":
            outer = self.path()
            return f"{outer}<{', '.join(self.until_end(self.argument))}>"
        if tag == "B":
            return self.again(self.path)
        raise ValueError(f"no path begins with {tag}")

    def until_end(self, read):
        while not self.has("E"):
            yield read()

    def argument(self):
        if self.has("L"):
            self.number()
            return "'_"
        return self.constant() if self.has("K") else self.type()

    def type(self):
        tag = self.take()
        if tag in self.BASIC:
            return self.BASIC[tag]
        if tag in "RQ" and self.has("L"):
            self.number()
        if tag in "RQPO":
            return {"R": "&", "Q": "&mut ", "P": "*const ", "O": "*mut "}[tag] + self.type()
        if tag == "S":
            return f"[{self.type()}]"
        if tag == "A":
            return f"[{self.type()}; {self.constant()}]"
        if tag == "T":
            return f"({', '.join(self.until_end(self.type))})"
        if tag == "B":
            return self.again(self.type)
        if tag == "F":
            return self.function()
        if tag == "D":
            return self.object()
        self.at -= 1
        return self.path()

    def function(self):
        self.binder()
        self.has("U")
        if self.has("K") and not self.has("C"):
            self.identifier()
        taken = ", ".join(self.until_end(self.type))
        return f"fn({taken}) -> {self.type()}"

    def object(self):
        self.binder()
        bounds = list(self.until_end(self.bound))
        if self.has("L"):
            self.number()
        return "dyn " + " + ".join(bounds)

    def bound(self):
        trait = self.path()
        while self.has("p"):
            self.identifier()
            self.type()
        return trait

    def binder(self):
        if self.has("G"):
            self.number()

    def constant(self):
        if self.has("p"):
            return "_"
        if self.has("B"):
            return self.again(self.constant)
        self.type()
        self.has("n")
        end = self.text.index("_", self.at)
        digits, self.at = self.text[self.at:end], end + 1
        return f"0x{digits or 0}"
