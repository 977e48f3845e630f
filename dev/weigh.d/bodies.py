"""Whose async bodies a crate compiles.

An optimised build compiles the body of an async function in every crate that polls it, with all bodies that it polls
itself. A build without optimisation shares them, so that what is counted there is what would be compiled again: the
foreign bodies that a crate polls, and those below them. A future behind a `dyn` is called through a table and is not
compiled again.
"""

from names import STANDARD, home, path


class Workspace:
    """Crates that were read, and which body is in which of them."""

    def __init__(self, crates):
        # In one order, since cargo tells of them as they are built: a body may be in several.
        crates = sorted(crates, key=lambda crate: crate.name)
        self.crates = {crate.name: crate for crate in crates}
        self.where = {body: crate for crate in crates for body in crate.bodies}
        self.paths = {}

    def path(self, symbol):
        """The path of a symbol; the symbol where it has none."""
        if symbol not in self.paths:
            text = symbol.decode(errors="replace")
            self.paths[symbol] = path(text) or text
        return self.paths[symbol]

    def home(self, symbol, own):
        return home(self.path(symbol), own)

    def foreign(self, crate):
        """The foreign bodies that a crate polls itself, each with all that is compiled for it, as sizes by symbol."""
        polled = {
            called
            for calls in crate.calls.values()
            for called in calls
            if called in self.where and called not in crate.sizes
        }
        polled |= {body for body in crate.bodies if self.is_foreign(body, crate.name)}
        return {body: self.below(body, crate) for body in polled}

    def is_foreign(self, body, own):
        whose = self.home(body, own)
        return whose != own and whose not in STANDARD

    def below(self, body, seen_from):
        """Sizes of a body and of all that it polls, as far as they are not the own ones of `seen_from`."""
        begin = seen_from if body in seen_from.bodies else self.where[body]
        sizes, left, seen = {}, [(body, begin)], set()
        while left:
            symbol, crate = left.pop()
            if (symbol, crate.name) in seen:
                continue
            seen.add((symbol, crate.name))
            if symbol in crate.bodies and self.home(symbol, seen_from.name) != seen_from.name:
                sizes[symbol] = crate.sizes[symbol]
            for called in crate.calls.get(symbol, ()):
                if called in crate.bodies:
                    left.append((called, crate))
                elif called in self.where:
                    left.append((called, self.where[called]))
                elif called in crate.sizes and self.home(called, crate.name) != crate.name:
                    # An adaptor of another crate, made for this future.
                    left.append((called, crate))
        return sizes

    def weight(self, crate):
        """Bytes of all foreign bodies that a crate compiles, each once."""
        sizes = {}
        for below in self.foreign(crate).values():
            sizes.update(below)
        return sum(sizes.values())
