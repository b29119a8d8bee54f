% floats: roots by Newton's method
root(_, G, 0, G) :- !.
root(X, G, K, R) :- H is 0.5 * (G + X / G), J is K - 1, root(X, H, J, R).
loop(N, N, S, S) :- !.
loop(I, N, S, R) :- X is float(I) / 7.0, G is X / 2.0, root(X, G, 6, Q), T is S + Q / (1.0 + X * X), J is I + 1, loop(J, N, T, R).
main(N, R) :- loop(1, N, 0.0, S), R is truncate(S * 1000000.0).
