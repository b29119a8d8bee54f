"""Which functions the just-in-time compiler looks into."""
from rpython.tool.ansi_print import AnsiLogger

log = AnsiLogger('jitcodewriter')


class JitPolicy(object):
    def __init__(self, jithookiface=None):
        self.jithookiface = jithookiface
        self.supports_floats = False
        self.supports_longlong = False
        self.supports_singlefloats = False

    def set_supports_floats(self, flag):
        self.supports_floats = flag

    def set_supports_longlong(self, flag):
        self.supports_longlong = flag

    def set_supports_singlefloats(self, flag):
        self.supports_singlefloats = flag

    def look_inside_function(self, func):
        return True
