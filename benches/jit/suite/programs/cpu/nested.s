# nested loops, the sum in memory
main:
  addi r6, r0, 100
  sw r0, r6, 0
  addi r2, r0, 0
outer:
  addi r3, r0, 0
inner:
  lw r4, r6, 0
  andi r5, r3, 1
  beq r5, r0, even
  mul r5, r2, r3
  xor r4, r4, r5
  jump store
even:
  add r4, r4, r2
store:
  sw r4, r6, 0
  addi r3, r3, 1
  blt r3, r1, inner
  addi r2, r2, 1
  blt r2, r1, outer
  lw r1, r6, 0
  jr r15
