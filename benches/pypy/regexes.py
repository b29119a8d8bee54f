"""Regular expressions: search, groups, substitution."""
import re
import sys

LINE = '2026-11-29 12:%02d:33 [%s] GET /items/%d?sort=name&page=%d "Mozilla (X11; Linux)" %d.5ms'
ENTRY = re.compile(r'(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+) \[(\w+)\] (GET|POST) (\S+) "([^"]*)" ([\d.]+)ms')
PARAMETER = re.compile(r'[?&](\w+)=(\w+)')
WORDS = re.compile(r'\b([A-Za-z])([a-z]+)\b')


def main(rounds):
    total = 0
    for i in range(rounds):
        line = LINE % (i % 60, 'info' if i % 3 else 'error', i, i % 7, i % 100)
        match = ENTRY.match(line)
        parameters = dict(PARAMETER.findall(match.group(9)))
        total += int(match.group(5)) + len(parameters['sort']) + int(parameters['page'])
        text = WORDS.sub(lambda m: m.group(2) + m.group(1), line)
        total += len(text.split('ozilla')) + text.find('M')
        total += len(re.split(r'[\s:/]+', line))
    return total


if __name__ == '__main__':
    print(main(int(sys.argv[1])))
