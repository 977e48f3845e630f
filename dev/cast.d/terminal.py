"""A terminal that knows what this program prints: text in a few styles, lines, and a screen that is cleared. What it does
not know is an error, so that no picture shows what no terminal would."""

import re

TOKEN = re.compile(r"\x1b\[([\d;]*)([A-Za-z])|(\x1b.?)|([\r\n\b\t])|([^\x1b\r\n\b\t]+)", re.DOTALL)
# Styles by the numbers of ECMA-48, 8.3.117: what turns them on, and what off.
ON = {1: "b", 2: "d", 3: "i", 4: "u", 31: "red", 32: "green", 33: "yellow", 34: "blue", 35: "magenta", 36: "cyan"}
OFF = {22: {"b", "d"}, 23: {"i"}, 24: {"u"}, 39: {name for name in ON.values() if len(name) > 1}}


class Terminal:
    """The screen: for each line its cells, each a letter and the styles that it has."""

    def __init__(self, size):
        self.columns, self.rows = size
        self.style = frozenset()
        self.clear()

    def clear(self):
        self.lines, self.row, self.column = [[]], 0, 0

    def write(self, text):
        for numbers, command, unknown, control, letters in TOKEN.findall(text):
            if unknown:
                raise ValueError(f"the terminal does not know {unknown!r}")
            if command:
                self.obey(numbers, command)
            elif control == "\n":
                self.line_feed()
            elif control == "\r":
                self.column = 0
            elif control == "\t":
                self.column = min(self.column + 8 - self.column % 8, self.columns - 1)
            elif control:
                raise ValueError(f"the terminal does not know {control!r}")
            for letter in letters:
                self.put(letter)

    def obey(self, numbers, command):
        if command == "m":
            for number in map(int, (numbers or "0").split(";")):
                self.restyle(number)
        elif (command, numbers) == ("J", "2"):
            self.clear()
        elif (command, numbers) != ("H", ""):
            raise ValueError(f"the terminal does not know ESC[{numbers}{command}")

    def restyle(self, number):
        colours = OFF[39]
        if number == 0:
            self.style = frozenset()
        elif number in OFF:
            self.style -= OFF[number]
        elif number in ON:
            style = ON[number]
            self.style = (self.style - colours if style in colours else self.style) | {style}
        else:
            raise ValueError(f"the terminal does not know ESC[{number}m")

    def put(self, letter):
        if self.column == self.columns:
            self.column = 0
            self.line_feed()
        line = self.lines[self.row]
        line += [(" ", frozenset())] * (self.column - len(line))
        line[self.column:self.column + 1] = [(letter, self.style)]
        self.column += 1

    def line_feed(self):
        if self.row + 1 == self.rows:
            raise ValueError(f"a screen has more than {self.rows} lines: clear it before")
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append([])
