letters aabbx
pattern a*b*x
pattern a+?b
pattern (ab|a)*x
pattern a.{3}b
