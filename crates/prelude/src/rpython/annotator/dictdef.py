"""Definitions of dicts, as declarations make them: `SomeDict(DictDef(None, s_key, s_value))`."""
from rpython.annotator import model


class DictDef(object):

    def __init__(self, bookkeeper, s_key=model.s_ImpossibleValue,
                 s_value=model.s_ImpossibleValue):
        self.s_key = s_key
        self.s_value = s_value
