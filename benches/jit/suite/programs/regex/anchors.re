words one two three four five six seven
pattern \bt\w*
pattern e\b
pattern ^one|seven $
