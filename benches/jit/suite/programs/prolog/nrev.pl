% naive reverse of a list of 30 elements, n times
app([], L, L).
app([H|T], L, [H|R]) :- app(T, L, R).
nrev([], []).
nrev([H|T], R) :- nrev(T, S), app(S, [H], R).
range(N, N, []) :- !.
range(I, N, [I|T]) :- J is I + 1, range(J, N, T).
sum([], S, S).
sum([H|T], S, R) :- U is (S * 3 + H) /\ 16777215, sum(T, U, R).
rounds(0, _, S, S) :- !.
rounds(N, L, S, R) :- nrev(L, M), sum(M, S, T), K is N - 1, rounds(K, L, T, R).
main(N, R) :- range(0, 30, L), rounds(N, L, 0, R).
