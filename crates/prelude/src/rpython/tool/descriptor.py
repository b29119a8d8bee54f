"""Methods that compare by what they are made of."""


class InstanceMethod(object):
    def __init__(self, im_func, im_self, im_class):
        self.im_func = im_func
        self.im_self = im_self
        self.im_class = im_class

    def __call__(self, *args, **kwds):
        if self.im_self is not None:
            args = (self.im_self,) + args
        elif not args or not isinstance(args[0], self.im_class):
            raise TypeError("must be called with %r instance as first argument" % (
                self.im_class,))
        return self.im_func(*args, **kwds)

    def _key(self):
        return self.im_func, self.im_self

    def __eq__(self, other):
        return isinstance(other, InstanceMethod) and self._key() == other._key()

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._key())
