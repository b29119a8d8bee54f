# linked lists in memory: made, reversed, summed
main:
  addi r12, r15, 0
  addi r2, r0, 0
  addi r10, r0, 200
  addi r3, r0, 0
round:
  addi r4, r0, 0       # list
  addi r5, r0, 0
  addi r6, r0, 1024    # free memory
make:
  sw r5, r6, 0
  sw r4, r6, 4
  addi r4, r6, 0
  addi r6, r6, 8
  addi r5, r5, 1
  blt r5, r10, make
  addi r7, r0, 0
reverse:
  beq r4, r0, total
  lw r8, r4, 4
  sw r7, r4, 4
  addi r7, r4, 0
  addi r4, r8, 0
  jump reverse
total:
  beq r7, r0, done
  slli r8, r3, 1
  add r3, r3, r8
  lw r8, r7, 0
  add r3, r3, r8
  slli r3, r3, 8
  srli r3, r3, 8
  lw r7, r7, 4
  jump total
done:
  addi r2, r2, 1
  blt r2, r1, round
  addi r1, r3, 0
  jr r12
