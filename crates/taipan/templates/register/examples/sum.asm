; The sum of the squares of the numbers below ten million.
    set one 1
    set end 10000000
again:
    less more i end
    jump-if-zero more done
    mul square i i
    add sum sum square
    add i i one
    jump again
done:
    print sum
