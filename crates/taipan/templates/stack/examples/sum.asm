; The sum of the squares of the numbers below ten million.
again:
    load i
    push 10000000
    less
    jump-if-zero end
    load i
    load i
    mul
    load sum
    add
    store sum
    load i
    push 1
    add
    store i
    jump again
end:
    load sum
    print
