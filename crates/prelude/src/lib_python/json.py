"""JSON."""


def _quote(s):
    out = ['"']
    for c in s:
        if c in '"\\':
            out.append('\\' + c)
        elif c == '\n':
            out.append('\\n')
        elif ord(c) < 32 or ord(c) > 126:
            out.append('\\u%04x' % ord(c))
        else:
            out.append(str(c))
    return ''.join(out) + '"'


def dumps(x, **kwds):
    if x is None:
        return 'null'
    if x is True:
        return 'true'
    if x is False:
        return 'false'
    if isinstance(x, basestring):
        return _quote(x)
    if isinstance(x, (list, tuple)):
        return '[%s]' % ', '.join([dumps(item, **kwds) for item in x])
    if isinstance(x, dict):
        keys = sorted(x) if kwds.get('sort_keys') else x.keys()
        pairs = ['%s: %s' % (_quote(str(key)), dumps(x[key], **kwds)) for key in keys]
        return '{%s}' % ', '.join(pairs)
    return repr(x)


def dump(x, fp, **kwds):
    fp.write(dumps(x, **kwds))


class _Reader(object):
    def __init__(self, text):
        self.text = text
        self.at = 0

    def peek(self):
        while self.text[self.at:self.at + 1].isspace():
            self.at += 1
        return self.text[self.at:self.at + 1]

    def expect(self, char):
        if self.peek() != char:
            raise ValueError('Expecting %r at %d' % (char, self.at))
        self.at += 1

    def items(self, close, read):
        self.at += 1
        items = []
        while self.peek() != close:
            if items:
                self.expect(',')
            items.append(read())
        self.at += 1
        return items

    def pair(self):
        key = self.value()
        self.expect(':')
        return key, self.value()

    def value(self):
        c = self.peek()
        if c == '{':
            return dict(self.items('}', self.pair))
        if c == '[':
            return self.items(']', self.value)
        if c == '"':
            return self.string()
        for word, value in [('null', None), ('true', True), ('false', False)]:
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        start = self.at
        while self.text[self.at:self.at + 1] in tuple('+-.eE0123456789'):
            self.at += 1
        word = self.text[start:self.at]
        if not word:
            raise ValueError('No JSON object could be decoded')
        try:
            return int(word)
        except ValueError:
            return float(word)

    def string(self):
        self.at += 1
        out = []
        while self.text[self.at] != '"':
            c = self.text[self.at]
            self.at += 1
            if c == '\\':
                c = self.text[self.at]
                self.at += 1
                if c == 'u':
                    c = unichr(int(self.text[self.at:self.at + 4], 16))
                    self.at += 4
                else:
                    c = {'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}.get(c, c)
            out.append(c)
        self.at += 1
        return unicode(u''.join(out))


def loads(text, **kwds):
    return _Reader(text).value()


def load(fp, **kwds):
    return loads(fp.read())


# What the compiler says where translated code calls these.
for _function in [dumps, dump, loads, load]:
    _function._instead_ = 'read and write the text by hand: there is no such module in rpython.rlib'
