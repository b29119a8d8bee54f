"""A template engine: text is parsed to nodes, which write pages."""
import re
import sys

PAGE = '''<h1>{{ title }}</h1>
<table>{% for row in rows %}
  <tr class="{% if row.odd %}odd{% else %}even{% end %}">
    <td>{{ row.name }}</td><td>{{ row.size }}</td>{% for tag in row.tags %}<b>{{ tag }}</b>{% end %}
  </tr>{% end %}
</table>
'''
PIECES = re.compile(r'({{.*?}}|{%.*?%})')


class Text(object):
    def __init__(self, text):
        self.text = text

    def write(self, scope, out):
        out.append(self.text)


class Value(object):
    def __init__(self, path):
        self.path = path.split('.')

    def look_up(self, scope):
        value = scope[self.path[0]]
        for name in self.path[1:]:
            value = value[name]
        return value

    def write(self, scope, out):
        out.append(escape(str(self.look_up(scope))))


class For(object):
    def __init__(self, name, values, body):
        self.name, self.values, self.body = name, values, body

    def write(self, scope, out):
        inner = dict(scope)
        for value in self.values.look_up(scope):
            inner[self.name] = value
            for node in self.body:
                node.write(inner, out)


class If(object):
    def __init__(self, condition, body, otherwise):
        self.condition, self.body, self.otherwise = condition, body, otherwise

    def write(self, scope, out):
        for node in self.body if self.condition.look_up(scope) else self.otherwise:
            node.write(scope, out)


def escape(text):
    return text.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')


def parse(pieces, at):
    nodes = []
    while at < len(pieces):
        piece = pieces[at]
        at += 1
        if piece.startswith('{{'):
            nodes.append(Value(piece[2:-2].strip()))
        elif piece.startswith('{%'):
            words = piece[2:-2].split()
            if words[0] in ('end', 'else'):
                return nodes, words[0], at
            body, ended, at = parse(pieces, at)
            if words[0] == 'for':
                nodes.append(For(words[1], Value(words[3]), body))
            else:
                otherwise = []
                if ended == 'else':
                    otherwise, ended, at = parse(pieces, at)
                nodes.append(If(Value(words[1]), body, otherwise))
        elif piece:
            nodes.append(Text(piece))
    return nodes, None, at


def main(rounds):
    total = 0
    for i in range(rounds):
        nodes = parse(PIECES.split(PAGE), 0)[0]
        rows = [{'name': '<row %d>' % j, 'size': i * j, 'odd': j & 1, 'tags': ['a&b', j]} for j in range(20)]
        out = []
        for node in nodes:
            node.write({'title': 'Page %d' % i, 'rows': rows}, out)
        total += len(''.join(out))
    return total


if __name__ == '__main__':
    print(main(int(sys.argv[1])))
