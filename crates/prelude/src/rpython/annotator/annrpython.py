"""The annotator of the original toolchain, by name only: modules that make one while
they load can be loaded, annotating is the compiler's own business."""


class RPythonAnnotator(object):
    def __init__(self, translator=None, policy=None, bookkeeper=None):
        self.translator = translator
        self.policy = policy
        self.bookkeeper = bookkeeper

    def build_types(self, function, input_arg_types, complete_now=True,
                    main_entry_point=False):
        raise NotImplementedError("RPythonAnnotator.build_types()")
