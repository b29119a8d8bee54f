% terms of two kinds in a list, and predicates that are called by name
area(square(S), A) :- A is S * S.
area(box(W, H), A) :- A is W * H.
shapes(N, N, []) :- !.
shapes(I, N, [square(I)|T]) :- 0 is I mod 3, !, J is I + 1, shapes(J, N, T).
shapes(I, N, [box(I, J)|T]) :- J is I + 1, shapes(J, N, T).
total([], S, S).
total([X|T], S, R) :- area(X, A), S1 is (S + A) /\ 16777215, total(T, S1, R).
rounds(0, _, S, S) :- !.
rounds(N, L, S, R) :- total(L, S, T), M is N - 1, call(rounds(M, L, T, R)).
main(N, R) :- shapes(0, 50, L), rounds(N, L, 0, R).
