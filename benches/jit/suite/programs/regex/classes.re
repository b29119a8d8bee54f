words alpha beta gamma 12 345 x_1 delta 7 epsilon42
pattern [a-z]+[0-9]+
pattern \d\d+
pattern [^ ]*a
