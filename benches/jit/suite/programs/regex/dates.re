letters 0123456789-/
pattern \d{4}-\d{2}
pattern (\d\d?)/(\d\d?)
pattern \d+-\d+-\d+
