"""What C code may write behind the last character of a string that does not move: a zero byte at its end. Here
it is another byte, so that what it overwrites is noticed."""

from rpython.rlib import jit, rgc
from rpython.rlib.objectmodel import compute_hash
from rpython.rlib.rstring import StringBuilder
from rpython.rtyper.annlowlevel import hlstr, llstr
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi
from rpython.rtyper.lltypesystem.rstr import STR

LENGTHS = range(0, 41) + [119, 120, 121, 1000, 4072, 16360, 32728, 65512, 1 << 20]
PREBUILT = ['', 'prebuilt', 'prebuilt strings', 'of eight and more characters'[:24]]
BLOCK = lltype.GcStruct('BLOCK', ('chars', lltype.Array(
    lltype.Char, hints={'extra_item_after_alloc': 1})))


class Node(object):
    def __init__(self, next):
        self.next = next


def characters(s):
    """Where the characters of a string are."""
    start = llmemory.cast_ptr_to_adr(llstr(s))
    start += llmemory.offsetof(STR, 'chars') + llmemory.itemoffsetof(STR.chars, 0)
    return rffi.cast(rffi.CCHARP, start)


def write_behind(s):
    p = characters(s)
    if rgc.can_move(s):
        p = rffi.get_raw_address_of_string(s)
        assert p[len(s)] == '\x00'
    p[len(s)] = '\xff'


def text(n, seed):
    builder = StringBuilder(n)
    for i in range(n):
        builder.append(chr((i * 7 + seed) & 255))
    return builder.build()


def shrunk(n, seed):
    s = llstr(text(n + 9, seed))
    return hlstr(rgc.ll_shrink_array(s, n))


def growing(n, seed):
    builder = StringBuilder()
    for i in range(n):
        builder.append(chr((i * 7 + seed) & 255))
    return builder.build()


def from_memory(n, seed):
    with rffi.scoped_str2charp(text(n, seed)) as p:
        return rffi.charpsize2str(p, n)


def joined(n, seed):
    whole = text(n, seed)
    return ''.join([whole[:n // 2], whole[n // 2:]])


def repeated(n, seed):
    return chr(seed & 255) * n


def made(n, seed):
    return [text(n, seed), shrunk(n, seed), growing(n, seed), from_memory(n, seed), joined(n, seed),
            text(n // 2, seed) + text(n - n // 2, seed), ('x' + text(n, seed))[1:], repeated(n, seed)]


driver = jit.JitDriver(greens=[], reds=['n', 'kept'])

def in_a_loop(n):
    """Strings that compiled code makes: virtual ones, of known lengths and of others."""
    kept = []
    while n > 0:
        driver.jit_merge_point(n=n, kept=kept)
        kept.append('%08d' % n)
        kept.append(chr(65 + n % 26) + 'abcdefg')
        kept.append('abc' + 'x' * (n & 31))
        n -= 1
    return kept


def check(strings, seed):
    """Writes behind all of them, and sees that they and everything around are what they were."""
    nodes = None
    for i in range(100):
        nodes = Node(nodes)
    rgc.collect()
    before = [compute_hash(s) for s in strings]
    texts = ['<%s>' % s for s in strings]
    for s in strings:
        write_behind(s)
    rgc.collect()
    for i in range(len(strings)):
        assert '<%s>' % strings[i] == texts[i]
        assert before[i] == compute_hash('%s' % strings[i])
        write_behind(strings[i])
    rgc.collect()
    count = 0
    while nodes is not None:
        count += 1
        nodes = nodes.next
    assert count == 100
    print len(strings), seed


def entry_point(argv):
    most = int(argv[1])
    for seed in range(2):
        strings = []
        for n in LENGTHS:
            if n <= most:
                strings.extend(made(n, seed))
        check(strings, seed)
    check(PREBUILT, 0)
    check(in_a_loop(200), 0)
    print llmemory.sizeof(STR, 8) - llmemory.sizeof(STR, 0)
    print llmemory.sizeof(STR, most) - most == llmemory.sizeof(STR, 0)
    block = lltype.malloc(BLOCK, 8)
    print len(block.chars), llmemory.sizeof(BLOCK, 0) - llmemory.offsetof(BLOCK, 'chars')
    return 0


def target(driver, args):
    return entry_point
