"""What print statements of translated programs call: the flow space puts `str(item)`
through rpython_print_item, and ends the line with rpython_print_newline."""
from posix import write


class Line(object):
    """The line printed so far: a print statement that ends with a comma leaves it
    open."""

    def __init__(self):
        self.pieces = []
        self.empty = True

line = Line()


def rpython_print_item(s):
    if not line.empty:
        line.pieces.append(' ')
    line.pieces.append(s)
    line.empty = False
rpython_print_item._annenforceargs_ = (str,)


def rpython_print_end(s):
    line.pieces.append(s)
    line.empty = True
    if s.endswith('\n'):
        text = ''.join(line.pieces)
        line.pieces = []
        write(1, text)
rpython_print_end._annenforceargs_ = (str,)


def rpython_print_newline():
    rpython_print_end('\n')
