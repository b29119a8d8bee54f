% catch and throw
check(I) :- 0 is I mod 3, !, throw(problem(I)).
check(I) :- 0 is I mod 7, !, throw(seven).
check(_).
middle(I, 1) :- catch(check(I), seven, true).
value(I, V) :- catch(middle(I, V), problem(V), true).
loop(N, N, S, S) :- !.
loop(I, N, S, R) :- value(I, V), T is (S + V) /\ 16777215, J is I + 1, loop(J, N, T, R).
main(N, R) :- loop(0, N, 0, R).
