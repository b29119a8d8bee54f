% a counting loop
count(N, N, S, S) :- !.
count(I, N, S, R) :- T is (S + I * 3) /\ 1048575, J is I + 1, count(J, N, T, R).
main(N, R) :- count(0, N, 0, R).
