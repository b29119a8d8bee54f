"""A generator of LR(1) parsers, the parser of a small language with its tables, and a tokenizer by hand."""

GRAMMAR = [
    ("program", ["statements"]),
    ("statements", ["statements", "statement"]),
    ("statements", ["statement"]),
    ("statement", ["NAME", "=", "expr", ";"]),
    ("statement", ["if", "(", "expr", ")", "block"]),
    ("statement", ["if", "(", "expr", ")", "block", "else", "block"]),
    ("statement", ["while", "(", "expr", ")", "block"]),
    ("statement", ["return", "expr", ";"]),
    ("statement", ["expr", ";"]),
    ("block", ["{", "statements", "}"]),
    ("block", ["{", "}"]),
    ("expr", ["expr", "<", "sum"]),
    ("expr", ["expr", "==", "sum"]),
    ("expr", ["sum"]),
    ("sum", ["sum", "+", "term"]),
    ("sum", ["sum", "-", "term"]),
    ("sum", ["term"]),
    ("term", ["term", "*", "factor"]),
    ("term", ["term", "/", "factor"]),
    ("term", ["factor"]),
    ("factor", ["NUMBER"]),
    ("factor", ["NAME"]),
    ("factor", ["(", "expr", ")"]),
    ("factor", ["-", "factor"]),
    ("factor", ["NAME", "(", "arguments", ")"]),
    ("factor", ["NAME", "(", ")"]),
    ("arguments", ["arguments", ",", "expr"]),
    ("arguments", ["expr"]),
]


class Production(object):
    def __init__(self, number, left, right):
        self.number = number
        self.left = left
        self.right = right


class Item(object):
    """A production, how far it was read, and what may follow."""

    def __init__(self, production, dot, follow):
        self.production = production
        self.dot = dot
        self.follow = follow
        self.key = (production.number, dot, follow)

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        return self.key == other.key

    def __ne__(self, other):
        return not self == other

    def next_symbol(self):
        if self.dot < len(self.production.right):
            return self.production.right[self.dot]
        return None

    def advance(self):
        return Item(self.production, self.dot + 1, self.follow)


class Generator(object):
    def __init__(self, rules):
        self.productions = [Production(0, "start", [rules[0][0]])]
        self.by_left = {}
        for left, right in rules:
            production = Production(len(self.productions), left, right)
            self.productions.append(production)
            self.by_left.setdefault(left, []).append(production)
        self.first = {}
        self.compute_first()

    def is_terminal(self, symbol):
        return symbol not in self.by_left

    def compute_first(self):
        for left in self.by_left:
            self.first[left] = set()
        changed = True
        while changed:
            changed = False
            for production in self.productions[1:]:
                symbol = production.right[0]
                mine = self.first[production.left]
                found = set([symbol]) if self.is_terminal(symbol) else self.first[symbol]
                for terminal in found:
                    if terminal not in mine:
                        mine.add(terminal)
                        changed = True

    def first_of(self, symbol):
        if self.is_terminal(symbol):
            return [symbol]
        return sorted(self.first[symbol])

    def closure(self, items):
        found = set(items)
        todo = list(items)
        while todo:
            item = todo.pop()
            symbol = item.next_symbol()
            if symbol is None or self.is_terminal(symbol):
                continue
            after = item.dot + 1
            if after < len(item.production.right):
                follows = self.first_of(item.production.right[after])
            else:
                follows = [item.follow]
            for production in self.by_left[symbol]:
                for follow in follows:
                    new = Item(production, 0, follow)
                    if new not in found:
                        found.add(new)
                        todo.append(new)
        return frozenset(found)

    def build(self):
        start = self.closure([Item(self.productions[0], 0, "$")])
        states = {start: 0}
        order = [start]
        self.actions = []
        self.gotos = []
        at = 0
        while at < len(order):
            state = order[at]
            at += 1
            moves = {}
            actions = {}
            gotos = {}
            for item in sorted(state, key=lambda item: item.key):
                symbol = item.next_symbol()
                if symbol is None:
                    actions[item.follow] = ("reduce", item.production.number)
                else:
                    moves.setdefault(symbol, []).append(item.advance())
            for symbol in sorted(moves):
                target = self.closure(moves[symbol])
                if target not in states:
                    states[target] = len(order)
                    order.append(target)
                if self.is_terminal(symbol):
                    actions[symbol] = ("shift", states[target])
                else:
                    gotos[symbol] = states[target]
            self.actions.append(actions)
            self.gotos.append(gotos)
        return len(order)


class ParseError(Exception):
    pass


def tokenize(text):
    tokens = []
    i = 0
    while i < len(text):
        c = text[i]
        if c.isspace():
            i += 1
        elif c.isalpha():
            start = i
            while i < len(text) and text[i].isalnum():
                i += 1
            word = text[start:i]
            kind = word if word in ("if", "else", "while", "return") else "NAME"
            tokens.append((kind, word))
        elif c.isdigit():
            start = i
            while i < len(text) and text[i].isdigit():
                i += 1
            tokens.append(("NUMBER", int(text[start:i])))
        elif text[i : i + 2] == "==":
            tokens.append(("==", None))
            i += 2
        else:
            tokens.append((c, None))
            i += 1
    tokens.append(("$", None))
    return tokens


def parse(generator, text):
    states = [0]
    values = []
    tokens = tokenize(text)
    at = 0
    while True:
        kind, value = tokens[at]
        action = generator.actions[states[-1]].get(kind)
        if action is None:
            raise ParseError("unexpected %s" % kind)
        what, number = action
        if what == "shift":
            states.append(number)
            values.append(value)
            at += 1
        elif number == 0:
            return values[0]
        else:
            production = generator.productions[number]
            size = len(production.right)
            node = (production.left, tuple(values[-size:]))
            del values[-size:]
            del states[-size:]
            values.append(node)
            states.append(generator.gotos[states[-1]][production.left])


SOURCE = """
total = 0;
i = 10;
while (i < 100) {
    total = total + i * (3 - -2) / f(i, total + 1);
    if (total == 20) { i = i + 1; } else { return total; }
    if (g()) { }
}
"""

GENERATOR = Generator(GRAMMAR)
STATES = GENERATOR.build()
TREE = parse(GENERATOR, SOURCE * 60)


def main(argv):
    return 0


def target(driver, args):
    return main, None
