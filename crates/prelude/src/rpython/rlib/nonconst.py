"""Constants that the annotator does not take for constants."""


def NonConstant(value):
    return value
