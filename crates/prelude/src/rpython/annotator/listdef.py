"""Definitions of lists, as declarations make them: `SomeList(ListDef(None, s_item))`."""
from rpython.annotator import model


class ListItem(object):
    """What is known of a list: the annotation of its items, whether its length changes."""

    def __init__(self, s_value, mutated, resized):
        self.s_value = s_value
        self.mutated = mutated
        self.resized = resized


class ListDef(object):

    def __init__(self, bookkeeper, s_item=model.s_ImpossibleValue, mutated=False, resized=False):
        self.listitem = ListItem(s_item, mutated, resized)


s_list_of_strings = model.SomeList(ListDef(None, model.SomeString(no_nul=True), resized=True))
