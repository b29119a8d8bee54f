"""Windows, which this is not: programs ask for WIN32 before they use anything of it."""

WIN32 = False
