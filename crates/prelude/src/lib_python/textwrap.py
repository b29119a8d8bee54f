"""Margins and lengths of lines."""


def dedent(text):
    """The text without the margin that all of its lines have in common."""
    lines = [line if line.strip() else '' for line in text.split('\n')]
    margin = None
    for line in lines:
        if line:
            blanks = line[:len(line) - len(line.lstrip())]
            if margin is None:
                margin = blanks
            while not blanks.startswith(margin):
                margin = margin[:-1]
    if margin:
        lines = [line[len(margin):] for line in lines]
    return '\n'.join(lines)


def wrap(text, width=70, initial_indent='', subsequent_indent=''):
    """Lines of the words of a text."""
    lines, line = [], initial_indent
    empty = True
    for word in text.split():
        if not empty and len(line) + 1 + len(word) > width:
            lines.append(line)
            line, empty = subsequent_indent, True
        line += word if empty else ' ' + word
        empty = False
    if not empty:
        lines.append(line)
    return lines


def fill(text, width=70, **kwds):
    return '\n'.join(wrap(text, width, **kwds))
