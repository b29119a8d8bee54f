def twice(n):
    return n + n


def entry_point(argv):
    print twice(len(argv))
    return 0
