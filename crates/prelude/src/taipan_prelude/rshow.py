"""What tests show of the operands of a failed assert: texts as repr() gives them, but
without addresses, and short where a value is large."""
from rpython.rtyper.lltypesystem.lltype import Signed, Char, Void, malloc, cast_primitive
from rpython.rtyper.lltypesystem.lloperation import llop
from taipan_lowlevel import STR
from taipan_prelude.rdict import DELETED_HASH
from taipan_prelude.rlist import ll_length, ll_items
from taipan_prelude.rstr import (
    ll_chr2str, ll_repr, ll_strconcat, ll_strconcat_char, escaped_length, hex_digit)

# Items beyond are left out.
SHOWN_ITEMS = 200


def ll_show_bool(b):
    if b:
        return "True"
    return "False"

def ll_show_char(c):
    return ll_repr(ll_chr2str(c))

def ll_show_str(s):
    if not s:
        return "None"
    return ll_repr(s)

def ll_show_unichar(c):
    s = ll_strconcat_char(ll_chr2str('u'), "'")
    return ll_strconcat_char(ll_strconcat(s, escaped(c)), "'")

def ll_show_unicode(s):
    if not s:
        return "None"
    n = len(s.chars)
    size = 3
    i = 0
    while i < n:
        size += len(escaped(s.chars[i]).chars)
        i += 1
    result = malloc(STR, size)
    result.chars[0] = 'u'
    result.chars[1] = "'"
    j = 2
    i = 0
    while i < n:
        text = escaped(s.chars[i])
        length = len(text.chars)
        llop.gc_copy_array(Void, text, result, 0, j, length)
        j += length
        i += 1
    result.chars[j] = "'"
    return result

def escaped(ch):
    c = ord(ch)
    if c < 256:
        text = ll_repr(ll_chr2str(cast_primitive(Char, ch)))
        if c == 39:
            return "\\'"
        # Without the quotes.
        length = len(text.chars) - 2
        result = malloc(STR, length)
        llop.gc_copy_array(Void, text, result, 1, 0, length)
        return result
    digits = 4
    kind = 'u'
    if c > 0xffff:
        digits = 8
        kind = 'U'
    result = malloc(STR, digits + 2)
    result.chars[0] = '\\'
    result.chars[1] = kind
    i = digits + 1
    while i > 1:
        result.chars[i] = hex_digit(c & 15)
        c = llop.int_rshift(Signed, c, 4)
        i -= 1
    return result

def ll_show_instance(obj):
    if not obj:
        return "None"
    return ll_strconcat(ll_strconcat(ll_chr2str('<'), obj.typeptr.name), " object>")

def ll_show_list(l, item_fn):
    if not l:
        return "None"
    n = ll_length(l)
    result = ll_chr2str('[')
    i = 0
    while i < n:
        if i > 0:
            result = ll_strconcat(result, ", ")
        if i == SHOWN_ITEMS:
            result = ll_strconcat(result, "...")
            break
        items = ll_items(l)
        result = ll_strconcat(result, item_fn(items[i]))
        i += 1
    return ll_strconcat_char(result, ']')

def ll_show_dict(d, key_fn, value_fn):
    if not d:
        return "None"
    result = ll_chr2str('{')
    shown = 0
    i = 0
    while i < d.num_used_items:
        if d.entries[i].f_hash != DELETED_HASH:
            if shown > 0:
                result = ll_strconcat(result, ", ")
            if shown == SHOWN_ITEMS:
                result = ll_strconcat(result, "...")
                break
            result = ll_strconcat(result, key_fn(d.entries[i].key))
            result = ll_strconcat(result, ": ")
            result = ll_strconcat(result, value_fn(d.entries[i].value))
            shown += 1
        i += 1
    return ll_strconcat_char(result, '}')
