% 200 predicates that count
c0(N, N, S, S) :- !.
c0(I, N, S, R) :- T is (S + I * 2) /\ 65535, J is I + 1, c0(J, N, T, R).
c1(N, N, S, S) :- !.
c1(I, N, S, R) :- T is (S + I * 3) /\ 65535, J is I + 1, c1(J, N, T, R).
c2(N, N, S, S) :- !.
c2(I, N, S, R) :- T is (S + I * 4) /\ 65535, J is I + 1, c2(J, N, T, R).
c3(N, N, S, S) :- !.
c3(I, N, S, R) :- T is (S + I * 5) /\ 65535, J is I + 1, c3(J, N, T, R).
c4(N, N, S, S) :- !.
c4(I, N, S, R) :- T is (S + I * 6) /\ 65535, J is I + 1, c4(J, N, T, R).
c5(N, N, S, S) :- !.
c5(I, N, S, R) :- T is (S + I * 7) /\ 65535, J is I + 1, c5(J, N, T, R).
c6(N, N, S, S) :- !.
c6(I, N, S, R) :- T is (S + I * 8) /\ 65535, J is I + 1, c6(J, N, T, R).
c7(N, N, S, S) :- !.
c7(I, N, S, R) :- T is (S + I * 9) /\ 65535, J is I + 1, c7(J, N, T, R).
c8(N, N, S, S) :- !.
c8(I, N, S, R) :- T is (S + I * 10) /\ 65535, J is I + 1, c8(J, N, T, R).
c9(N, N, S, S) :- !.
c9(I, N, S, R) :- T is (S + I * 11) /\ 65535, J is I + 1, c9(J, N, T, R).
c10(N, N, S, S) :- !.
c10(I, N, S, R) :- T is (S + I * 12) /\ 65535, J is I + 1, c10(J, N, T, R).
c11(N, N, S, S) :- !.
c11(I, N, S, R) :- T is (S + I * 13) /\ 65535, J is I + 1, c11(J, N, T, R).
c12(N, N, S, S) :- !.
c12(I, N, S, R) :- T is (S + I * 14) /\ 65535, J is I + 1, c12(J, N, T, R).
c13(N, N, S, S) :- !.
c13(I, N, S, R) :- T is (S + I * 15) /\ 65535, J is I + 1, c13(J, N, T, R).
c14(N, N, S, S) :- !.
c14(I, N, S, R) :- T is (S + I * 16) /\ 65535, J is I + 1, c14(J, N, T, R).
c15(N, N, S, S) :- !.
c15(I, N, S, R) :- T is (S + I * 17) /\ 65535, J is I + 1, c15(J, N, T, R).
c16(N, N, S, S) :- !.
c16(I, N, S, R) :- T is (S + I * 18) /\ 65535, J is I + 1, c16(J, N, T, R).
c17(N, N, S, S) :- !.
c17(I, N, S, R) :- T is (S + I * 19) /\ 65535, J is I + 1, c17(J, N, T, R).
c18(N, N, S, S) :- !.
c18(I, N, S, R) :- T is (S + I * 20) /\ 65535, J is I + 1, c18(J, N, T, R).
c19(N, N, S, S) :- !.
c19(I, N, S, R) :- T is (S + I * 21) /\ 65535, J is I + 1, c19(J, N, T, R).
c20(N, N, S, S) :- !.
c20(I, N, S, R) :- T is (S + I * 22) /\ 65535, J is I + 1, c20(J, N, T, R).
c21(N, N, S, S) :- !.
c21(I, N, S, R) :- T is (S + I * 23) /\ 65535, J is I + 1, c21(J, N, T, R).
c22(N, N, S, S) :- !.
c22(I, N, S, R) :- T is (S + I * 24) /\ 65535, J is I + 1, c22(J, N, T, R).
c23(N, N, S, S) :- !.
c23(I, N, S, R) :- T is (S + I * 25) /\ 65535, J is I + 1, c23(J, N, T, R).
c24(N, N, S, S) :- !.
c24(I, N, S, R) :- T is (S + I * 26) /\ 65535, J is I + 1, c24(J, N, T, R).
c25(N, N, S, S) :- !.
c25(I, N, S, R) :- T is (S + I * 27) /\ 65535, J is I + 1, c25(J, N, T, R).
c26(N, N, S, S) :- !.
c26(I, N, S, R) :- T is (S + I * 28) /\ 65535, J is I + 1, c26(J, N, T, R).
c27(N, N, S, S) :- !.
c27(I, N, S, R) :- T is (S + I * 29) /\ 65535, J is I + 1, c27(J, N, T, R).
c28(N, N, S, S) :- !.
c28(I, N, S, R) :- T is (S + I * 30) /\ 65535, J is I + 1, c28(J, N, T, R).
c29(N, N, S, S) :- !.
c29(I, N, S, R) :- T is (S + I * 31) /\ 65535, J is I + 1, c29(J, N, T, R).
c30(N, N, S, S) :- !.
c30(I, N, S, R) :- T is (S + I * 32) /\ 65535, J is I + 1, c30(J, N, T, R).
c31(N, N, S, S) :- !.
c31(I, N, S, R) :- T is (S + I * 33) /\ 65535, J is I + 1, c31(J, N, T, R).
c32(N, N, S, S) :- !.
c32(I, N, S, R) :- T is (S + I * 34) /\ 65535, J is I + 1, c32(J, N, T, R).
c33(N, N, S, S) :- !.
c33(I, N, S, R) :- T is (S + I * 35) /\ 65535, J is I + 1, c33(J, N, T, R).
c34(N, N, S, S) :- !.
c34(I, N, S, R) :- T is (S + I * 36) /\ 65535, J is I + 1, c34(J, N, T, R).
c35(N, N, S, S) :- !.
c35(I, N, S, R) :- T is (S + I * 37) /\ 65535, J is I + 1, c35(J, N, T, R).
c36(N, N, S, S) :- !.
c36(I, N, S, R) :- T is (S + I * 38) /\ 65535, J is I + 1, c36(J, N, T, R).
c37(N, N, S, S) :- !.
c37(I, N, S, R) :- T is (S + I * 39) /\ 65535, J is I + 1, c37(J, N, T, R).
c38(N, N, S, S) :- !.
c38(I, N, S, R) :- T is (S + I * 40) /\ 65535, J is I + 1, c38(J, N, T, R).
c39(N, N, S, S) :- !.
c39(I, N, S, R) :- T is (S + I * 41) /\ 65535, J is I + 1, c39(J, N, T, R).
c40(N, N, S, S) :- !.
c40(I, N, S, R) :- T is (S + I * 42) /\ 65535, J is I + 1, c40(J, N, T, R).
c41(N, N, S, S) :- !.
c41(I, N, S, R) :- T is (S + I * 43) /\ 65535, J is I + 1, c41(J, N, T, R).
c42(N, N, S, S) :- !.
c42(I, N, S, R) :- T is (S + I * 44) /\ 65535, J is I + 1, c42(J, N, T, R).
c43(N, N, S, S) :- !.
c43(I, N, S, R) :- T is (S + I * 45) /\ 65535, J is I + 1, c43(J, N, T, R).
c44(N, N, S, S) :- !.
c44(I, N, S, R) :- T is (S + I * 46) /\ 65535, J is I + 1, c44(J, N, T, R).
c45(N, N, S, S) :- !.
c45(I, N, S, R) :- T is (S + I * 47) /\ 65535, J is I + 1, c45(J, N, T, R).
c46(N, N, S, S) :- !.
c46(I, N, S, R) :- T is (S + I * 48) /\ 65535, J is I + 1, c46(J, N, T, R).
c47(N, N, S, S) :- !.
c47(I, N, S, R) :- T is (S + I * 49) /\ 65535, J is I + 1, c47(J, N, T, R).
c48(N, N, S, S) :- !.
c48(I, N, S, R) :- T is (S + I * 50) /\ 65535, J is I + 1, c48(J, N, T, R).
c49(N, N, S, S) :- !.
c49(I, N, S, R) :- T is (S + I * 51) /\ 65535, J is I + 1, c49(J, N, T, R).
c50(N, N, S, S) :- !.
c50(I, N, S, R) :- T is (S + I * 52) /\ 65535, J is I + 1, c50(J, N, T, R).
c51(N, N, S, S) :- !.
c51(I, N, S, R) :- T is (S + I * 53) /\ 65535, J is I + 1, c51(J, N, T, R).
c52(N, N, S, S) :- !.
c52(I, N, S, R) :- T is (S + I * 54) /\ 65535, J is I + 1, c52(J, N, T, R).
c53(N, N, S, S) :- !.
c53(I, N, S, R) :- T is (S + I * 55) /\ 65535, J is I + 1, c53(J, N, T, R).
c54(N, N, S, S) :- !.
c54(I, N, S, R) :- T is (S + I * 56) /\ 65535, J is I + 1, c54(J, N, T, R).
c55(N, N, S, S) :- !.
c55(I, N, S, R) :- T is (S + I * 57) /\ 65535, J is I + 1, c55(J, N, T, R).
c56(N, N, S, S) :- !.
c56(I, N, S, R) :- T is (S + I * 58) /\ 65535, J is I + 1, c56(J, N, T, R).
c57(N, N, S, S) :- !.
c57(I, N, S, R) :- T is (S + I * 59) /\ 65535, J is I + 1, c57(J, N, T, R).
c58(N, N, S, S) :- !.
c58(I, N, S, R) :- T is (S + I * 60) /\ 65535, J is I + 1, c58(J, N, T, R).
c59(N, N, S, S) :- !.
c59(I, N, S, R) :- T is (S + I * 61) /\ 65535, J is I + 1, c59(J, N, T, R).
c60(N, N, S, S) :- !.
c60(I, N, S, R) :- T is (S + I * 62) /\ 65535, J is I + 1, c60(J, N, T, R).
c61(N, N, S, S) :- !.
c61(I, N, S, R) :- T is (S + I * 63) /\ 65535, J is I + 1, c61(J, N, T, R).
c62(N, N, S, S) :- !.
c62(I, N, S, R) :- T is (S + I * 64) /\ 65535, J is I + 1, c62(J, N, T, R).
c63(N, N, S, S) :- !.
c63(I, N, S, R) :- T is (S + I * 65) /\ 65535, J is I + 1, c63(J, N, T, R).
c64(N, N, S, S) :- !.
c64(I, N, S, R) :- T is (S + I * 66) /\ 65535, J is I + 1, c64(J, N, T, R).
c65(N, N, S, S) :- !.
c65(I, N, S, R) :- T is (S + I * 67) /\ 65535, J is I + 1, c65(J, N, T, R).
c66(N, N, S, S) :- !.
c66(I, N, S, R) :- T is (S + I * 68) /\ 65535, J is I + 1, c66(J, N, T, R).
c67(N, N, S, S) :- !.
c67(I, N, S, R) :- T is (S + I * 69) /\ 65535, J is I + 1, c67(J, N, T, R).
c68(N, N, S, S) :- !.
c68(I, N, S, R) :- T is (S + I * 70) /\ 65535, J is I + 1, c68(J, N, T, R).
c69(N, N, S, S) :- !.
c69(I, N, S, R) :- T is (S + I * 71) /\ 65535, J is I + 1, c69(J, N, T, R).
c70(N, N, S, S) :- !.
c70(I, N, S, R) :- T is (S + I * 72) /\ 65535, J is I + 1, c70(J, N, T, R).
c71(N, N, S, S) :- !.
c71(I, N, S, R) :- T is (S + I * 73) /\ 65535, J is I + 1, c71(J, N, T, R).
c72(N, N, S, S) :- !.
c72(I, N, S, R) :- T is (S + I * 74) /\ 65535, J is I + 1, c72(J, N, T, R).
c73(N, N, S, S) :- !.
c73(I, N, S, R) :- T is (S + I * 75) /\ 65535, J is I + 1, c73(J, N, T, R).
c74(N, N, S, S) :- !.
c74(I, N, S, R) :- T is (S + I * 76) /\ 65535, J is I + 1, c74(J, N, T, R).
c75(N, N, S, S) :- !.
c75(I, N, S, R) :- T is (S + I * 77) /\ 65535, J is I + 1, c75(J, N, T, R).
c76(N, N, S, S) :- !.
c76(I, N, S, R) :- T is (S + I * 78) /\ 65535, J is I + 1, c76(J, N, T, R).
c77(N, N, S, S) :- !.
c77(I, N, S, R) :- T is (S + I * 79) /\ 65535, J is I + 1, c77(J, N, T, R).
c78(N, N, S, S) :- !.
c78(I, N, S, R) :- T is (S + I * 80) /\ 65535, J is I + 1, c78(J, N, T, R).
c79(N, N, S, S) :- !.
c79(I, N, S, R) :- T is (S + I * 81) /\ 65535, J is I + 1, c79(J, N, T, R).
c80(N, N, S, S) :- !.
c80(I, N, S, R) :- T is (S + I * 82) /\ 65535, J is I + 1, c80(J, N, T, R).
c81(N, N, S, S) :- !.
c81(I, N, S, R) :- T is (S + I * 83) /\ 65535, J is I + 1, c81(J, N, T, R).
c82(N, N, S, S) :- !.
c82(I, N, S, R) :- T is (S + I * 84) /\ 65535, J is I + 1, c82(J, N, T, R).
c83(N, N, S, S) :- !.
c83(I, N, S, R) :- T is (S + I * 85) /\ 65535, J is I + 1, c83(J, N, T, R).
c84(N, N, S, S) :- !.
c84(I, N, S, R) :- T is (S + I * 86) /\ 65535, J is I + 1, c84(J, N, T, R).
c85(N, N, S, S) :- !.
c85(I, N, S, R) :- T is (S + I * 87) /\ 65535, J is I + 1, c85(J, N, T, R).
c86(N, N, S, S) :- !.
c86(I, N, S, R) :- T is (S + I * 88) /\ 65535, J is I + 1, c86(J, N, T, R).
c87(N, N, S, S) :- !.
c87(I, N, S, R) :- T is (S + I * 89) /\ 65535, J is I + 1, c87(J, N, T, R).
c88(N, N, S, S) :- !.
c88(I, N, S, R) :- T is (S + I * 90) /\ 65535, J is I + 1, c88(J, N, T, R).
c89(N, N, S, S) :- !.
c89(I, N, S, R) :- T is (S + I * 91) /\ 65535, J is I + 1, c89(J, N, T, R).
c90(N, N, S, S) :- !.
c90(I, N, S, R) :- T is (S + I * 92) /\ 65535, J is I + 1, c90(J, N, T, R).
c91(N, N, S, S) :- !.
c91(I, N, S, R) :- T is (S + I * 93) /\ 65535, J is I + 1, c91(J, N, T, R).
c92(N, N, S, S) :- !.
c92(I, N, S, R) :- T is (S + I * 94) /\ 65535, J is I + 1, c92(J, N, T, R).
c93(N, N, S, S) :- !.
c93(I, N, S, R) :- T is (S + I * 95) /\ 65535, J is I + 1, c93(J, N, T, R).
c94(N, N, S, S) :- !.
c94(I, N, S, R) :- T is (S + I * 96) /\ 65535, J is I + 1, c94(J, N, T, R).
c95(N, N, S, S) :- !.
c95(I, N, S, R) :- T is (S + I * 97) /\ 65535, J is I + 1, c95(J, N, T, R).
c96(N, N, S, S) :- !.
c96(I, N, S, R) :- T is (S + I * 98) /\ 65535, J is I + 1, c96(J, N, T, R).
c97(N, N, S, S) :- !.
c97(I, N, S, R) :- T is (S + I * 99) /\ 65535, J is I + 1, c97(J, N, T, R).
c98(N, N, S, S) :- !.
c98(I, N, S, R) :- T is (S + I * 100) /\ 65535, J is I + 1, c98(J, N, T, R).
c99(N, N, S, S) :- !.
c99(I, N, S, R) :- T is (S + I * 101) /\ 65535, J is I + 1, c99(J, N, T, R).
c100(N, N, S, S) :- !.
c100(I, N, S, R) :- T is (S + I * 102) /\ 65535, J is I + 1, c100(J, N, T, R).
c101(N, N, S, S) :- !.
c101(I, N, S, R) :- T is (S + I * 103) /\ 65535, J is I + 1, c101(J, N, T, R).
c102(N, N, S, S) :- !.
c102(I, N, S, R) :- T is (S + I * 104) /\ 65535, J is I + 1, c102(J, N, T, R).
c103(N, N, S, S) :- !.
c103(I, N, S, R) :- T is (S + I * 105) /\ 65535, J is I + 1, c103(J, N, T, R).
c104(N, N, S, S) :- !.
c104(I, N, S, R) :- T is (S + I * 106) /\ 65535, J is I + 1, c104(J, N, T, R).
c105(N, N, S, S) :- !.
c105(I, N, S, R) :- T is (S + I * 107) /\ 65535, J is I + 1, c105(J, N, T, R).
c106(N, N, S, S) :- !.
c106(I, N, S, R) :- T is (S + I * 108) /\ 65535, J is I + 1, c106(J, N, T, R).
c107(N, N, S, S) :- !.
c107(I, N, S, R) :- T is (S + I * 109) /\ 65535, J is I + 1, c107(J, N, T, R).
c108(N, N, S, S) :- !.
c108(I, N, S, R) :- T is (S + I * 110) /\ 65535, J is I + 1, c108(J, N, T, R).
c109(N, N, S, S) :- !.
c109(I, N, S, R) :- T is (S + I * 111) /\ 65535, J is I + 1, c109(J, N, T, R).
c110(N, N, S, S) :- !.
c110(I, N, S, R) :- T is (S + I * 112) /\ 65535, J is I + 1, c110(J, N, T, R).
c111(N, N, S, S) :- !.
c111(I, N, S, R) :- T is (S + I * 113) /\ 65535, J is I + 1, c111(J, N, T, R).
c112(N, N, S, S) :- !.
c112(I, N, S, R) :- T is (S + I * 114) /\ 65535, J is I + 1, c112(J, N, T, R).
c113(N, N, S, S) :- !.
c113(I, N, S, R) :- T is (S + I * 115) /\ 65535, J is I + 1, c113(J, N, T, R).
c114(N, N, S, S) :- !.
c114(I, N, S, R) :- T is (S + I * 116) /\ 65535, J is I + 1, c114(J, N, T, R).
c115(N, N, S, S) :- !.
c115(I, N, S, R) :- T is (S + I * 117) /\ 65535, J is I + 1, c115(J, N, T, R).
c116(N, N, S, S) :- !.
c116(I, N, S, R) :- T is (S + I * 118) /\ 65535, J is I + 1, c116(J, N, T, R).
c117(N, N, S, S) :- !.
c117(I, N, S, R) :- T is (S + I * 119) /\ 65535, J is I + 1, c117(J, N, T, R).
c118(N, N, S, S) :- !.
c118(I, N, S, R) :- T is (S + I * 120) /\ 65535, J is I + 1, c118(J, N, T, R).
c119(N, N, S, S) :- !.
c119(I, N, S, R) :- T is (S + I * 121) /\ 65535, J is I + 1, c119(J, N, T, R).
c120(N, N, S, S) :- !.
c120(I, N, S, R) :- T is (S + I * 122) /\ 65535, J is I + 1, c120(J, N, T, R).
c121(N, N, S, S) :- !.
c121(I, N, S, R) :- T is (S + I * 123) /\ 65535, J is I + 1, c121(J, N, T, R).
c122(N, N, S, S) :- !.
c122(I, N, S, R) :- T is (S + I * 124) /\ 65535, J is I + 1, c122(J, N, T, R).
c123(N, N, S, S) :- !.
c123(I, N, S, R) :- T is (S + I * 125) /\ 65535, J is I + 1, c123(J, N, T, R).
c124(N, N, S, S) :- !.
c124(I, N, S, R) :- T is (S + I * 126) /\ 65535, J is I + 1, c124(J, N, T, R).
c125(N, N, S, S) :- !.
c125(I, N, S, R) :- T is (S + I * 127) /\ 65535, J is I + 1, c125(J, N, T, R).
c126(N, N, S, S) :- !.
c126(I, N, S, R) :- T is (S + I * 128) /\ 65535, J is I + 1, c126(J, N, T, R).
c127(N, N, S, S) :- !.
c127(I, N, S, R) :- T is (S + I * 129) /\ 65535, J is I + 1, c127(J, N, T, R).
c128(N, N, S, S) :- !.
c128(I, N, S, R) :- T is (S + I * 130) /\ 65535, J is I + 1, c128(J, N, T, R).
c129(N, N, S, S) :- !.
c129(I, N, S, R) :- T is (S + I * 131) /\ 65535, J is I + 1, c129(J, N, T, R).
c130(N, N, S, S) :- !.
c130(I, N, S, R) :- T is (S + I * 132) /\ 65535, J is I + 1, c130(J, N, T, R).
c131(N, N, S, S) :- !.
c131(I, N, S, R) :- T is (S + I * 133) /\ 65535, J is I + 1, c131(J, N, T, R).
c132(N, N, S, S) :- !.
c132(I, N, S, R) :- T is (S + I * 134) /\ 65535, J is I + 1, c132(J, N, T, R).
c133(N, N, S, S) :- !.
c133(I, N, S, R) :- T is (S + I * 135) /\ 65535, J is I + 1, c133(J, N, T, R).
c134(N, N, S, S) :- !.
c134(I, N, S, R) :- T is (S + I * 136) /\ 65535, J is I + 1, c134(J, N, T, R).
c135(N, N, S, S) :- !.
c135(I, N, S, R) :- T is (S + I * 137) /\ 65535, J is I + 1, c135(J, N, T, R).
c136(N, N, S, S) :- !.
c136(I, N, S, R) :- T is (S + I * 138) /\ 65535, J is I + 1, c136(J, N, T, R).
c137(N, N, S, S) :- !.
c137(I, N, S, R) :- T is (S + I * 139) /\ 65535, J is I + 1, c137(J, N, T, R).
c138(N, N, S, S) :- !.
c138(I, N, S, R) :- T is (S + I * 140) /\ 65535, J is I + 1, c138(J, N, T, R).
c139(N, N, S, S) :- !.
c139(I, N, S, R) :- T is (S + I * 141) /\ 65535, J is I + 1, c139(J, N, T, R).
c140(N, N, S, S) :- !.
c140(I, N, S, R) :- T is (S + I * 142) /\ 65535, J is I + 1, c140(J, N, T, R).
c141(N, N, S, S) :- !.
c141(I, N, S, R) :- T is (S + I * 143) /\ 65535, J is I + 1, c141(J, N, T, R).
c142(N, N, S, S) :- !.
c142(I, N, S, R) :- T is (S + I * 144) /\ 65535, J is I + 1, c142(J, N, T, R).
c143(N, N, S, S) :- !.
c143(I, N, S, R) :- T is (S + I * 145) /\ 65535, J is I + 1, c143(J, N, T, R).
c144(N, N, S, S) :- !.
c144(I, N, S, R) :- T is (S + I * 146) /\ 65535, J is I + 1, c144(J, N, T, R).
c145(N, N, S, S) :- !.
c145(I, N, S, R) :- T is (S + I * 147) /\ 65535, J is I + 1, c145(J, N, T, R).
c146(N, N, S, S) :- !.
c146(I, N, S, R) :- T is (S + I * 148) /\ 65535, J is I + 1, c146(J, N, T, R).
c147(N, N, S, S) :- !.
c147(I, N, S, R) :- T is (S + I * 149) /\ 65535, J is I + 1, c147(J, N, T, R).
c148(N, N, S, S) :- !.
c148(I, N, S, R) :- T is (S + I * 150) /\ 65535, J is I + 1, c148(J, N, T, R).
c149(N, N, S, S) :- !.
c149(I, N, S, R) :- T is (S + I * 151) /\ 65535, J is I + 1, c149(J, N, T, R).
c150(N, N, S, S) :- !.
c150(I, N, S, R) :- T is (S + I * 152) /\ 65535, J is I + 1, c150(J, N, T, R).
c151(N, N, S, S) :- !.
c151(I, N, S, R) :- T is (S + I * 153) /\ 65535, J is I + 1, c151(J, N, T, R).
c152(N, N, S, S) :- !.
c152(I, N, S, R) :- T is (S + I * 154) /\ 65535, J is I + 1, c152(J, N, T, R).
c153(N, N, S, S) :- !.
c153(I, N, S, R) :- T is (S + I * 155) /\ 65535, J is I + 1, c153(J, N, T, R).
c154(N, N, S, S) :- !.
c154(I, N, S, R) :- T is (S + I * 156) /\ 65535, J is I + 1, c154(J, N, T, R).
c155(N, N, S, S) :- !.
c155(I, N, S, R) :- T is (S + I * 157) /\ 65535, J is I + 1, c155(J, N, T, R).
c156(N, N, S, S) :- !.
c156(I, N, S, R) :- T is (S + I * 158) /\ 65535, J is I + 1, c156(J, N, T, R).
c157(N, N, S, S) :- !.
c157(I, N, S, R) :- T is (S + I * 159) /\ 65535, J is I + 1, c157(J, N, T, R).
c158(N, N, S, S) :- !.
c158(I, N, S, R) :- T is (S + I * 160) /\ 65535, J is I + 1, c158(J, N, T, R).
c159(N, N, S, S) :- !.
c159(I, N, S, R) :- T is (S + I * 161) /\ 65535, J is I + 1, c159(J, N, T, R).
c160(N, N, S, S) :- !.
c160(I, N, S, R) :- T is (S + I * 162) /\ 65535, J is I + 1, c160(J, N, T, R).
c161(N, N, S, S) :- !.
c161(I, N, S, R) :- T is (S + I * 163) /\ 65535, J is I + 1, c161(J, N, T, R).
c162(N, N, S, S) :- !.
c162(I, N, S, R) :- T is (S + I * 164) /\ 65535, J is I + 1, c162(J, N, T, R).
c163(N, N, S, S) :- !.
c163(I, N, S, R) :- T is (S + I * 165) /\ 65535, J is I + 1, c163(J, N, T, R).
c164(N, N, S, S) :- !.
c164(I, N, S, R) :- T is (S + I * 166) /\ 65535, J is I + 1, c164(J, N, T, R).
c165(N, N, S, S) :- !.
c165(I, N, S, R) :- T is (S + I * 167) /\ 65535, J is I + 1, c165(J, N, T, R).
c166(N, N, S, S) :- !.
c166(I, N, S, R) :- T is (S + I * 168) /\ 65535, J is I + 1, c166(J, N, T, R).
c167(N, N, S, S) :- !.
c167(I, N, S, R) :- T is (S + I * 169) /\ 65535, J is I + 1, c167(J, N, T, R).
c168(N, N, S, S) :- !.
c168(I, N, S, R) :- T is (S + I * 170) /\ 65535, J is I + 1, c168(J, N, T, R).
c169(N, N, S, S) :- !.
c169(I, N, S, R) :- T is (S + I * 171) /\ 65535, J is I + 1, c169(J, N, T, R).
c170(N, N, S, S) :- !.
c170(I, N, S, R) :- T is (S + I * 172) /\ 65535, J is I + 1, c170(J, N, T, R).
c171(N, N, S, S) :- !.
c171(I, N, S, R) :- T is (S + I * 173) /\ 65535, J is I + 1, c171(J, N, T, R).
c172(N, N, S, S) :- !.
c172(I, N, S, R) :- T is (S + I * 174) /\ 65535, J is I + 1, c172(J, N, T, R).
c173(N, N, S, S) :- !.
c173(I, N, S, R) :- T is (S + I * 175) /\ 65535, J is I + 1, c173(J, N, T, R).
c174(N, N, S, S) :- !.
c174(I, N, S, R) :- T is (S + I * 176) /\ 65535, J is I + 1, c174(J, N, T, R).
c175(N, N, S, S) :- !.
c175(I, N, S, R) :- T is (S + I * 177) /\ 65535, J is I + 1, c175(J, N, T, R).
c176(N, N, S, S) :- !.
c176(I, N, S, R) :- T is (S + I * 178) /\ 65535, J is I + 1, c176(J, N, T, R).
c177(N, N, S, S) :- !.
c177(I, N, S, R) :- T is (S + I * 179) /\ 65535, J is I + 1, c177(J, N, T, R).
c178(N, N, S, S) :- !.
c178(I, N, S, R) :- T is (S + I * 180) /\ 65535, J is I + 1, c178(J, N, T, R).
c179(N, N, S, S) :- !.
c179(I, N, S, R) :- T is (S + I * 181) /\ 65535, J is I + 1, c179(J, N, T, R).
c180(N, N, S, S) :- !.
c180(I, N, S, R) :- T is (S + I * 182) /\ 65535, J is I + 1, c180(J, N, T, R).
c181(N, N, S, S) :- !.
c181(I, N, S, R) :- T is (S + I * 183) /\ 65535, J is I + 1, c181(J, N, T, R).
c182(N, N, S, S) :- !.
c182(I, N, S, R) :- T is (S + I * 184) /\ 65535, J is I + 1, c182(J, N, T, R).
c183(N, N, S, S) :- !.
c183(I, N, S, R) :- T is (S + I * 185) /\ 65535, J is I + 1, c183(J, N, T, R).
c184(N, N, S, S) :- !.
c184(I, N, S, R) :- T is (S + I * 186) /\ 65535, J is I + 1, c184(J, N, T, R).
c185(N, N, S, S) :- !.
c185(I, N, S, R) :- T is (S + I * 187) /\ 65535, J is I + 1, c185(J, N, T, R).
c186(N, N, S, S) :- !.
c186(I, N, S, R) :- T is (S + I * 188) /\ 65535, J is I + 1, c186(J, N, T, R).
c187(N, N, S, S) :- !.
c187(I, N, S, R) :- T is (S + I * 189) /\ 65535, J is I + 1, c187(J, N, T, R).
c188(N, N, S, S) :- !.
c188(I, N, S, R) :- T is (S + I * 190) /\ 65535, J is I + 1, c188(J, N, T, R).
c189(N, N, S, S) :- !.
c189(I, N, S, R) :- T is (S + I * 191) /\ 65535, J is I + 1, c189(J, N, T, R).
c190(N, N, S, S) :- !.
c190(I, N, S, R) :- T is (S + I * 192) /\ 65535, J is I + 1, c190(J, N, T, R).
c191(N, N, S, S) :- !.
c191(I, N, S, R) :- T is (S + I * 193) /\ 65535, J is I + 1, c191(J, N, T, R).
c192(N, N, S, S) :- !.
c192(I, N, S, R) :- T is (S + I * 194) /\ 65535, J is I + 1, c192(J, N, T, R).
c193(N, N, S, S) :- !.
c193(I, N, S, R) :- T is (S + I * 195) /\ 65535, J is I + 1, c193(J, N, T, R).
c194(N, N, S, S) :- !.
c194(I, N, S, R) :- T is (S + I * 196) /\ 65535, J is I + 1, c194(J, N, T, R).
c195(N, N, S, S) :- !.
c195(I, N, S, R) :- T is (S + I * 197) /\ 65535, J is I + 1, c195(J, N, T, R).
c196(N, N, S, S) :- !.
c196(I, N, S, R) :- T is (S + I * 198) /\ 65535, J is I + 1, c196(J, N, T, R).
c197(N, N, S, S) :- !.
c197(I, N, S, R) :- T is (S + I * 199) /\ 65535, J is I + 1, c197(J, N, T, R).
c198(N, N, S, S) :- !.
c198(I, N, S, R) :- T is (S + I * 200) /\ 65535, J is I + 1, c198(J, N, T, R).
c199(N, N, S, S) :- !.
c199(I, N, S, R) :- T is (S + I * 201) /\ 65535, J is I + 1, c199(J, N, T, R).
g0(N, S0, S20) :- c0(0, N, S0, S1), c1(0, N, S1, S2), c2(0, N, S2, S3), c3(0, N, S3, S4), c4(0, N, S4, S5), c5(0, N, S5, S6), c6(0, N, S6, S7), c7(0, N, S7, S8), c8(0, N, S8, S9), c9(0, N, S9, S10), c10(0, N, S10, S11), c11(0, N, S11, S12), c12(0, N, S12, S13), c13(0, N, S13, S14), c14(0, N, S14, S15), c15(0, N, S15, S16), c16(0, N, S16, S17), c17(0, N, S17, S18), c18(0, N, S18, S19), c19(0, N, S19, S20).
g1(N, S0, S20) :- c20(0, N, S0, S1), c21(0, N, S1, S2), c22(0, N, S2, S3), c23(0, N, S3, S4), c24(0, N, S4, S5), c25(0, N, S5, S6), c26(0, N, S6, S7), c27(0, N, S7, S8), c28(0, N, S8, S9), c29(0, N, S9, S10), c30(0, N, S10, S11), c31(0, N, S11, S12), c32(0, N, S12, S13), c33(0, N, S13, S14), c34(0, N, S14, S15), c35(0, N, S15, S16), c36(0, N, S16, S17), c37(0, N, S17, S18), c38(0, N, S18, S19), c39(0, N, S19, S20).
g2(N, S0, S20) :- c40(0, N, S0, S1), c41(0, N, S1, S2), c42(0, N, S2, S3), c43(0, N, S3, S4), c44(0, N, S4, S5), c45(0, N, S5, S6), c46(0, N, S6, S7), c47(0, N, S7, S8), c48(0, N, S8, S9), c49(0, N, S9, S10), c50(0, N, S10, S11), c51(0, N, S11, S12), c52(0, N, S12, S13), c53(0, N, S13, S14), c54(0, N, S14, S15), c55(0, N, S15, S16), c56(0, N, S16, S17), c57(0, N, S17, S18), c58(0, N, S18, S19), c59(0, N, S19, S20).
g3(N, S0, S20) :- c60(0, N, S0, S1), c61(0, N, S1, S2), c62(0, N, S2, S3), c63(0, N, S3, S4), c64(0, N, S4, S5), c65(0, N, S5, S6), c66(0, N, S6, S7), c67(0, N, S7, S8), c68(0, N, S8, S9), c69(0, N, S9, S10), c70(0, N, S10, S11), c71(0, N, S11, S12), c72(0, N, S12, S13), c73(0, N, S13, S14), c74(0, N, S14, S15), c75(0, N, S15, S16), c76(0, N, S16, S17), c77(0, N, S17, S18), c78(0, N, S18, S19), c79(0, N, S19, S20).
g4(N, S0, S20) :- c80(0, N, S0, S1), c81(0, N, S1, S2), c82(0, N, S2, S3), c83(0, N, S3, S4), c84(0, N, S4, S5), c85(0, N, S5, S6), c86(0, N, S6, S7), c87(0, N, S7, S8), c88(0, N, S8, S9), c89(0, N, S9, S10), c90(0, N, S10, S11), c91(0, N, S11, S12), c92(0, N, S12, S13), c93(0, N, S13, S14), c94(0, N, S14, S15), c95(0, N, S15, S16), c96(0, N, S16, S17), c97(0, N, S17, S18), c98(0, N, S18, S19), c99(0, N, S19, S20).
g5(N, S0, S20) :- c100(0, N, S0, S1), c101(0, N, S1, S2), c102(0, N, S2, S3), c103(0, N, S3, S4), c104(0, N, S4, S5), c105(0, N, S5, S6), c106(0, N, S6, S7), c107(0, N, S7, S8), c108(0, N, S8, S9), c109(0, N, S9, S10), c110(0, N, S10, S11), c111(0, N, S11, S12), c112(0, N, S12, S13), c113(0, N, S13, S14), c114(0, N, S14, S15), c115(0, N, S15, S16), c116(0, N, S16, S17), c117(0, N, S17, S18), c118(0, N, S18, S19), c119(0, N, S19, S20).
g6(N, S0, S20) :- c120(0, N, S0, S1), c121(0, N, S1, S2), c122(0, N, S2, S3), c123(0, N, S3, S4), c124(0, N, S4, S5), c125(0, N, S5, S6), c126(0, N, S6, S7), c127(0, N, S7, S8), c128(0, N, S8, S9), c129(0, N, S9, S10), c130(0, N, S10, S11), c131(0, N, S11, S12), c132(0, N, S12, S13), c133(0, N, S13, S14), c134(0, N, S14, S15), c135(0, N, S15, S16), c136(0, N, S16, S17), c137(0, N, S17, S18), c138(0, N, S18, S19), c139(0, N, S19, S20).
g7(N, S0, S20) :- c140(0, N, S0, S1), c141(0, N, S1, S2), c142(0, N, S2, S3), c143(0, N, S3, S4), c144(0, N, S4, S5), c145(0, N, S5, S6), c146(0, N, S6, S7), c147(0, N, S7, S8), c148(0, N, S8, S9), c149(0, N, S9, S10), c150(0, N, S10, S11), c151(0, N, S11, S12), c152(0, N, S12, S13), c153(0, N, S13, S14), c154(0, N, S14, S15), c155(0, N, S15, S16), c156(0, N, S16, S17), c157(0, N, S17, S18), c158(0, N, S18, S19), c159(0, N, S19, S20).
g8(N, S0, S20) :- c160(0, N, S0, S1), c161(0, N, S1, S2), c162(0, N, S2, S3), c163(0, N, S3, S4), c164(0, N, S4, S5), c165(0, N, S5, S6), c166(0, N, S6, S7), c167(0, N, S7, S8), c168(0, N, S8, S9), c169(0, N, S9, S10), c170(0, N, S10, S11), c171(0, N, S11, S12), c172(0, N, S12, S13), c173(0, N, S13, S14), c174(0, N, S14, S15), c175(0, N, S15, S16), c176(0, N, S16, S17), c177(0, N, S17, S18), c178(0, N, S18, S19), c179(0, N, S19, S20).
g9(N, S0, S20) :- c180(0, N, S0, S1), c181(0, N, S1, S2), c182(0, N, S2, S3), c183(0, N, S3, S4), c184(0, N, S4, S5), c185(0, N, S5, S6), c186(0, N, S6, S7), c187(0, N, S7, S8), c188(0, N, S8, S9), c189(0, N, S9, S10), c190(0, N, S10, S11), c191(0, N, S11, S12), c192(0, N, S12, S13), c193(0, N, S13, S14), c194(0, N, S14, S15), c195(0, N, S15, S16), c196(0, N, S16, S17), c197(0, N, S17, S18), c198(0, N, S18, S19), c199(0, N, S19, S20).
main(N, S10) :- S0 is 1, g0(N, S0, S1), g1(N, S1, S2), g2(N, S2, S3), g3(N, S3, S4), g4(N, S4, S5), g5(N, S5, S6), g6(N, S6, S7), g7(N, S7, S8), g8(N, S8, S9), g9(N, S9, S10).
