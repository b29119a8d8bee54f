"""Of the original toolchain's annotator: modules that ask while they load whether it is
at work are told that it is not."""


def getbookkeeper():
    return None
