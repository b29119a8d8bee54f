"""What the original toolchain's annotator asks while it works: a base for the classes of
programs that want to say more. Nobody asks them here."""


class AnnotatorPolicy(object):

    def event(self, bookkeeper, what, *args):
        pass

    def no_more_blocks_to_annotate(self, annotator):
        pass
