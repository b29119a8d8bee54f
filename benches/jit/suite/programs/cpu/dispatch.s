# objects with a method's address, called through it
main:
  addi r12, r15, 0
  addi r2, r0, 0
  addi r3, r0, 50
  addi r6, r0, 3
prepare:
  addi r4, r0, 12
  mul r4, r4, r2
  slli r5, r2, 3
  sub r5, r5, r2
  rem r5, r5, r6
  la r7, box
  bne r5, r0, put
  la r7, square
put:
  sw r7, r4, 0
  sw r2, r4, 4
  addi r5, r2, 1
  sw r5, r4, 8
  addi r2, r2, 1
  blt r2, r3, prepare
  addi r8, r0, 0      # sum
  addi r9, r0, 0      # rounds
round:
  addi r2, r0, 0
  addi r4, r0, 0
each:
  lw r5, r4, 0
  jalr r5
  add r8, r8, r6
  slli r8, r8, 8
  srli r8, r8, 8
  addi r4, r4, 12
  addi r2, r2, 1
  blt r2, r3, each
  addi r9, r9, 1
  blt r9, r1, round
  addi r1, r8, 0
  jr r12
square:
  lw r6, r4, 4
  mul r6, r6, r6
  jr r15
box:
  lw r6, r4, 4
  lw r7, r4, 8
  mul r6, r6, r7
  jr r15
