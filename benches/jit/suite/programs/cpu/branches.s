# branches that depend on data
main:
  addi r2, r0, 1      # i
  addi r3, r0, 0      # longest
  addi r8, r0, 1
each:
  addi r4, r2, 0
  addi r5, r0, 0
step:
  beq r4, r8, done
  andi r6, r4, 1
  beq r6, r0, even
  add r6, r4, r4
  add r4, r4, r6
  addi r4, r4, 1
  addi r5, r5, 1
  jump step
even:
  srli r4, r4, 1
  addi r5, r5, 1
  jump step
done:
  bge r3, r5, next
  addi r3, r5, 0
  addi r7, r2, 0
next:
  addi r2, r2, 1
  blt r2, r1, each
  addi r4, r0, 10000
  mul r3, r3, r4
  add r1, r3, r7
  jr r15
