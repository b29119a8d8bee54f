"""Features of later versions."""


class _Feature(object):
    def __init__(self, compiler_flag):
        self.compiler_flag = compiler_flag


all_feature_names = ['nested_scopes', 'generators', 'division', 'absolute_import',
                     'with_statement', 'print_function', 'unicode_literals']
nested_scopes = _Feature(0x10)
generators = _Feature(0)
division = _Feature(0x2000)
absolute_import = _Feature(0x4000)
with_statement = _Feature(0x8000)
print_function = _Feature(0x10000)
unicode_literals = _Feature(0x20000)
