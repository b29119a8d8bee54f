"""Notes when strategies are chosen and changed."""


class LogEntry(object):
    def __init__(self):
        self.objects = self.slots = 0
        self.element_typenames = []

    def add(self, size, element_typename):
        self.slots += size
        self.objects += 1
        if element_typename and element_typename not in self.element_typenames:
            self.element_typenames.append(element_typename)


class Logger(object):
    """Prints a line for every event, or sums up those that are alike."""
    _attrs_ = ['active', 'aggregate', 'logs']

    def __init__(self):
        self.logs = {}
        self.active = self.aggregate = False

    def activate(self, aggregate=False):
        self.active = True
        self.aggregate = aggregate

    def log(self, new_strategy, size, cause="", old_strategy="", typename="",
            element_typename=""):
        key = (cause, old_strategy, new_strategy, typename)
        if self.aggregate:
            if key not in self.logs:
                self.logs[key] = LogEntry()
            self.logs[key].add(size, element_typename)
        else:
            entry = LogEntry()
            entry.add(size, element_typename)
            self.output(key, entry)

    def print_aggregated_log(self):
        for key, entry in self.logs.items():
            self.output(key, entry)

    def output(self, key, entry):
        cause, old, new, typename = key
        change = new
        if old:
            change = "%s -> %s" % (old, new)
        of = ""
        if typename:
            of = " of " + typename
        line = "%s (%s)%s size %d objects %d" % (cause, change, of, entry.slots, entry.objects)
        if entry.element_typenames:
            line += " elements: " + " ".join(entry.element_typenames)
        self.do_print(line)

    def do_print(self, str):
        print str
