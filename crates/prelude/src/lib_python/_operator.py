"""The getters of `operator`."""


class attrgetter(object):
    def __init__(self, *names):
        self.names = names

    def __call__(self, obj):
        values = []
        for name in self.names:
            value = obj
            for part in name.split('.'):
                value = getattr(value, part)
            values.append(value)
        if len(values) == 1:
            return values[0]
        return tuple(values)


class itemgetter(object):
    def __init__(self, *keys):
        self.keys = keys

    def __call__(self, obj):
        if len(self.keys) == 1:
            return obj[self.keys[0]]
        return tuple([obj[key] for key in self.keys])
