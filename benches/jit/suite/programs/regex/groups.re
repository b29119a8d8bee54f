words abab noon level papa 1212 sees queue xyzzy
pattern (..)\1
pattern \b(\w)(\w)?\2?\1\b
pattern (\w)\1
