% recursion
fib(0, 0) :- !.
fib(1, 1) :- !.
fib(N, F) :- A is N - 1, B is N - 2, fib(A, X), fib(B, Y), F is X + Y.
main(N, R) :- fib(N, R).
