% the first solution of eight queens by backtracking, n times
range(N, N, [N]) :- !.
range(I, N, [I|T]) :- J is I + 1, range(J, N, T).
select(X, [X|T], T).
select(X, [H|T], [H|R]) :- select(X, T, R).
safe([], _, _).
safe([Q|Qs], X, D) :- Q =\= X + D, Q =\= X - D, E is D + 1, safe(Qs, X, E).
place([], Qs, Qs).
place(Free, Placed, Qs) :- select(X, Free, Rest), safe(Placed, X, 1), place(Rest, [X|Placed], Qs).
hash([], H, H).
hash([Q|Qs], H, R) :- K is (H * 31 + Q) /\ 16777215, hash(Qs, K, R).
queens(H, R) :- range(1, 8, L), place(L, [], Qs), hash(Qs, H, R), !.
rounds(0, H, H) :- !.
rounds(N, H, R) :- queens(H, K), M is N - 1, rounds(M, K, R).
main(N, R) :- rounds(N, 0, R).
