"""A generator of tables: entries computed by rules, as for unicode and opcodes."""


def category(code):
    if code < 32 or code == 127:
        return "Cc"
    if 48 <= code <= 57:
        return "Nd"
    if 65 <= code <= 90:
        return "Lu"
    if 97 <= code <= 122:
        return "Ll"
    if code % 17 == 0:
        return "Mn"
    return "So"


def build(size):
    records = {}
    order = []
    index = []
    for code in xrange(size):
        record = (category(code), code & 7, code % 3 == 0)
        if record not in records:
            records[record] = len(order)
            order.append(record)
        index.append(records[record])
    return order, index


def pages(index, bits):
    table = []
    found = {}
    for i in xrange(0, len(index), 1 << bits):
        page = "".join([chr(n) for n in index[i : i + (1 << bits)]])
        if page not in found:
            found[page] = len(found)
        table.append(found[page])
    return table, found


ORDER, INDEX = build(200000)
TABLE, PAGES = pages(INDEX, 8)
SQUARES = [i * i for i in xrange(300000)]
SINE = [0.0] * 100000
for i in xrange(len(SINE)):
    SINE[i] = i * 0.001


def main(argv):
    return 0


def target(driver, args):
    return main, None
