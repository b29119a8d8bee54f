"""With what the program was compiled."""


def get_compiler_info():
    return "Taipan"
