import optparse
class Parser(optparse.OptionParser):
    def error(self, msg):
        raise ValueError(msg)

def opts(*argv):
    p = Parser(usage='none')
    seen = []
    def note(option, name, value, parser):
        seen.append((option.dest, name, value))
    p.add_option('-a', '--all', action='store_true', default=False)
    p.add_option('-n', '--number', type='int', dest='count', help='how many')
    p.add_option('--name', default='x')
    p.add_option('-I', action='append', dest='path')
    p.add_option('-v', action='count')
    p.add_option('--kind', type='choice', choices=['one', 'two'])
    p.add_option('--pair', nargs=2, type='float')
    g = optparse.OptionGroup(p, 'more')
    g.add_option('--note', action='callback', callback=note)
    g.add_option('--told', action='callback', callback=note, type='string')
    p.add_option_group(g)
    try:
        values, args = p.parse_args(list(argv))
    except ValueError as e:
        print 'wrong:', e
        return
    print [(k, v) for k, v in sorted(vars(values).items()) if v], args, seen

opts()
opts('-a', 'file', '-n3', '--name=y', '-I', 'p', '-Iq', '-vav', '--', '--all')
opts('--number', '0x10', '--nam', 'z', '--kind', 'two', '--pair', '1', '2.5')
opts('--note', '--told', 'x', 'rest')
for wrong in ['--no', '--missing', '--all=3', '-n', '-nx', '-q']:
    opts(wrong)
opts('--kind', 'three')
