# bytes: strings made, reversed and hashed
main:
  addi r12, r15, 0
  addi r2, r0, 0
  addi r3, r0, 0
  addi r10, r0, 24
  addi r11, r0, 26
round:
  addi r4, r0, 0
make:
  mul r5, r4, r4
  add r5, r5, r2
  rem r5, r5, r11
  addi r5, r5, 97
  sb r5, r4, 1024
  addi r4, r4, 1
  blt r4, r10, make
  addi r4, r0, 0
reverse:
  lb r5, r4, 1024
  sub r6, r10, r4
  sb r5, r6, 2047
  addi r4, r4, 1
  blt r4, r10, reverse
  addi r4, r0, 0
hash:
  lb r5, r4, 2048
  lb r6, r4, 1024
  bne r5, r6, differ
  addi r3, r3, 1
differ:
  slli r7, r3, 5
  sub r3, r7, r3
  add r3, r3, r5
  addi r4, r4, 1
  blt r4, r10, hash
  addi r2, r2, 1
  blt r2, r1, round
  addi r1, r3, 0
  jr r12
