% a loop by failure and backtracking
between(L, H, L) :- L =< H.
between(L, H, X) :- L < H, M is L + 1, between(M, H, X).
triple(N, A, B, C) :- between(1, N, A), between(A, N, B), C2 is A * A + B * B, C is N - 1, C * C =:= C2.
main(N, R) :- triple(N, A, B, C), !, R is A * 10000 + B * 100 + C.
main(N, N).
