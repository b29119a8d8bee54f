% all solutions of n queens by backtracking; how many were found first is counted by a deep cut
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
main(N, R) :- range(1, N, L), place(L, [], Qs), hash(Qs, 0, R), !.
