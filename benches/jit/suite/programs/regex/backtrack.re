letters aaab
pattern a?a?a?a?a?aaaaab
pattern (a|aa)+b
pattern a*a*b
