"""Pieces of what the RTyper puts together for tuples, item by item: equality, hash
and text."""
from rpython.rlib.rarithmetic import intmask
from taipan_prelude.rlist import same_item
from taipan_prelude.rdict import plain_hash


def ll_eq_items(a, b, so_far, eq_fn):
    return so_far and same_item(a, b, eq_fn)

def ll_mix_hash(item, so_far, hash_fn):
    return intmask(1000003 * so_far) ^ plain_hash(item, hash_fn)

def ll_eq_any(a, b, so_far, eq_fn):
    return so_far or same_item(a, b, eq_fn)
