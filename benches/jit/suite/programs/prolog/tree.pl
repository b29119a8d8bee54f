% a search tree as a dict, filled and looked up
insert(t, K, V, n(t, K, V, t)).
insert(n(L, K0, V0, R), K, V, n(L1, K0, V0, R)) :- K < K0, !, insert(L, K, V, L1).
insert(n(L, K0, V0, R), K, V, n(L, K0, V0, R1)) :- K > K0, !, insert(R, K, V, R1).
insert(n(L, K, _, R), K, V, n(L, K, V, R)).
lookup(n(L, K0, _, _), K, V) :- K < K0, !, lookup(L, K, V).
lookup(n(_, K0, _, R), K, V) :- K > K0, !, lookup(R, K, V).
lookup(n(_, K, V, _), K, V).
fill(0, T, T) :- !.
fill(N, T, R) :- K is N * 7919 mod 1009, insert(T, K, N, T1), M is N - 1, fill(M, T1, R).
total(0, _, S, S) :- !.
total(N, T, S, R) :- K is N * 7919 mod 1009, lookup(T, K, V), S1 is S + V, M is N - 1, total(M, T, S1, R).
main(N, R) :- fill(N, t, T), total(N, T, 0, R).
