"""What the RTyper of the original toolchain raises. Here such a program gets a
diagnostic; programs name these classes only."""


class TyperError(Exception):
    pass


class MissingRTypeOperation(TyperError):
    pass
