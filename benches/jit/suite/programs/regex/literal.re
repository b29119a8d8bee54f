letters abcdn
pattern banana
pattern abc
