"""What is in a compiled crate: its functions with their sizes, and which of them are bodies of async functions.

The objects in an `.rlib` are read as they are (ELF, 64 bits), so that no tool has to be there and a whole workspace
takes seconds.
"""

import array
import struct
from dataclasses import dataclass, field

# What a body of an async function or block calls when it is polled after its end. Nothing else does, and every one of
# them does, so that a body is told from any other closure, which has the same name.
RESUMED = b"panic_const_async_fn_resumed"
# Names of functions through which a body comes to poll another one: adaptors, and closures of `poll_fn`.
BETWEEN = (b"poll", b"closure", b"{{", b"NC")

SYMBOL = struct.Struct("<IBBHQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOLS, RELOCATIONS, INDEXES = 2, 4, 18
EXECUTABLE, FUNCTION, ELSEWHERE = 4, 2, 0xFFFF


@dataclass
class Crate:
    """The code of one crate by the names of its symbols. Each counts once, in however many units it was compiled."""

    name: str
    sizes: dict = field(default_factory=dict)
    bodies: set = field(default_factory=set)
    calls: dict = field(default_factory=dict)

    def code(self):
        """Bytes of machine code."""
        return sum(self.sizes.values())


def read(name, file):
    """Reads the crate `name` from its `.rlib`."""
    crate = Crate(name)
    with open(file, "rb") as archive:
        content = archive.read()
    for member in members(content):
        if member[:4] == b"\x7fELF":
            read_object(crate, member)
    return crate


def members(content):
    """The files in an archive."""
    if content[:8] != b"!<arch>\n":
        raise ValueError("this is no archive")
    at = 8
    while at + 60 <= len(content):
        size = int(content[at + 48:at + 58])
        yield memoryview(content)[at + 60:at + 60 + size]
        at += 60 + size + size % 2


def read_object(crate, content):
    content = bytes(content)
    if content[4] != 2 or content[5] != 1:
        raise ValueError("objects are read where they have 64 bits, least byte first")
    sections = headers(content)
    functions, names = symbols(content, sections)
    for section, found in functions.items():
        if sections[section][2] & EXECUTABLE:
            for name, size in found:
                crate.sizes[name] = max(size, crate.sizes.get(name, 0))
    interesting = {at for at, name in names.items() if any(part in name for part in BETWEEN)}
    resumed = {at for at, name in names.items() if RESUMED in name}
    wanted = interesting | resumed
    for _, kind, _, _, offset, size, _, target, _, _ in sections:
        if kind != RELOCATIONS or target not in functions or not sections[target][2] & EXECUTABLE:
            continue
        words = array.array("I", content[offset:offset + size])
        called = wanted.intersection(words[3::6])
        for name, _ in functions[target]:
            if called & resumed:
                crate.bodies.add(name)
            crate.calls.setdefault(name, set()).update(names[at] for at in called & interesting)


def headers(content):
    start, = struct.unpack_from("<Q", content, 0x28)
    size, count = struct.unpack_from("<HH", content, 0x3A)
    if count == 0:
        # More of them than the field holds: the first one says how many.
        count = SECTION.unpack_from(content, start)[5]
    return [SECTION.unpack_from(content, start + size * at) for at in range(count)]


def symbols(content, sections):
    """The functions of each section with their sizes, and the names of all symbols by their places."""
    functions, names = {}, {}
    more = next((content[s[4]:s[4] + s[5]] for s in sections if s[1] == INDEXES), b"")
    more = array.array("I", more)
    for section in sections:
        if section[1] != SYMBOLS:
            continue
        offset, size, link = section[4], section[5], section[6]
        text = content[sections[link][4]:sections[link][4] + sections[link][5]]
        for at, (name, info, _, where, _, length) in enumerate(SYMBOL.iter_unpack(content[offset:offset + size])):
            if not name:
                continue
            name = text[name:text.index(b"\0", name)]
            names[at] = name
            where = more[at] if where == ELSEWHERE and more else where
            if info & 0xF == FUNCTION and where:
                functions.setdefault(where, []).append((name, length))
    return functions, names
