% quicksort of a list
part([], _, [], []).
part([X|L], Y, [X|L1], L2) :- X =< Y, !, part(L, Y, L1, L2).
part([X|L], Y, L1, [X|L2]) :- part(L, Y, L1, L2).
qsort([], R, R).
qsort([X|L], R, R0) :- part(L, X, L1, L2), qsort(L2, R1, R0), qsort(L1, R, [X|R1]).
random(0, _, []) :- !.
random(N, S, [X|T]) :- S1 is (S * 1103515 + 12345) mod 2147483647, X is S1 mod 100000, M is N - 1, random(M, S1, T).
check([], C, C).
check([X|T], C, R) :- D is (C * 5 + X) /\ 16777215, check(T, D, R).
main(N, R) :- random(N, 42, L), qsort(L, S, []), check(S, 0, R).
