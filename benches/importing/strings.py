"""Text that is put together and taken apart: `+`, `%`, `join`, `split`, `replace`, indexing."""


def work(n):
    lines = []
    size = 0
    for i in xrange(n):
        name = "name" + str(i % 50)
        text = "def " + name + "(self): return " + name
        if text.startswith("def ") and text.find("name7") < 0:
            size += len(text)
        if i % 8 == 0:
            lines.append("%s = %d" % (name, i))
        if text[4] == "n" and name[-1] != "7":
            size += ord(text[5])
    source = "\n".join(lines)
    words = 0
    for line in source.split("\n"):
        left, right = line.split(" = ")
        words += len(left) + int(right)
    return size + words + len(source.replace("name", "n").upper())


TOTAL = work(150000)


def main(argv):
    return 0


def target(driver, args):
    return main, None
