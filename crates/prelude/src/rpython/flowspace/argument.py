"""The parameters of functions, for programs that make functions from their own."""


class Signature(object):
    """Names of the parameters, of the star parameter and of the one for keywords, None where
    there is none. It is a sequence of these three, too."""

    __slots__ = ("argnames", "varargname", "kwargname")
    _immutable_ = True
    _immutable_fields_ = ["argnames[*]"]

    def __init__(self, argnames, varargname=None, kwargname=None):
        self.argnames = argnames
        self.varargname, self.kwargname = varargname, kwargname

    def has_kwarg(self):
        return self.kwargname is not None

    def has_vararg(self):
        return self.varargname is not None

    def num_argnames(self):
        return len(self.argnames)

    def scope_length(self):
        return len(self.argnames) + self.has_vararg() + self.has_kwarg()

    def find_argname(self, name):
        """The position of a parameter, -1 if it has none."""
        for i in range(len(self.argnames)):
            if self.argnames[i] == name:
                return i
        return -1

    def getallvarnames(self):
        names = self.argnames
        if self.varargname is not None:
            names = names + [self.varargname]
        if self.kwargname is not None:
            names = names + [self.kwargname]
        return names

    def __len__(self):
        return 3

    def __getitem__(self, i):
        return (self.argnames, self.varargname, self.kwargname)[i]

    def __eq__(self, other):
        return isinstance(other, Signature) and self[:] == other[:]

    def __getslice__(self, start, end):
        return (self.argnames, self.varargname, self.kwargname)[start:end]

    def __ne__(self, other):
        return not self == other

    def __repr__(self):
        return "Signature(%r, %r, %r)" % (self.argnames, self.varargname, self.kwargname)
