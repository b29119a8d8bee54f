# quicksort of words; r1 n, r10 the first address, r11 the last one
main:
  addi r9, r15, 0
  addi r2, r0, 0
  addi r3, r0, 42
  lui r5, 1
  addi r5, r5, -1
  addi r6, r0, 20077
fill:
  mul r3, r3, r6
  addi r3, r3, 12345
  srli r4, r3, 8
  and r4, r4, r5
  slli r7, r2, 2
  sw r4, r7, 0
  addi r2, r2, 1
  blt r2, r1, fill
  addi r10, r0, 0
  addi r11, r1, -1
  slli r11, r11, 2
  jal sort
  addi r2, r0, 0
  addi r3, r0, 0
sum:
  slli r7, r2, 2
  lw r4, r7, 0
  slli r5, r3, 2
  add r3, r3, r5
  add r3, r3, r4
  slli r3, r3, 8
  srli r3, r3, 8
  addi r2, r2, 1
  blt r2, r1, sum
  addi r1, r3, 0
  jr r9
sort:
  bge r10, r11, return
  add r2, r10, r11
  srli r2, r2, 3
  slli r2, r2, 2
  lw r2, r2, 0        # pivot
  addi r3, r10, 0     # i
  addi r4, r11, 0     # j
part:
  lw r5, r3, 0
  bge r5, r2, down
  addi r3, r3, 4
  jump part
down:
  lw r6, r4, 0
  bge r2, r6, swap
  addi r4, r4, -4
  jump down
swap:
  blt r4, r3, again
  sw r5, r4, 0
  sw r6, r3, 0
  addi r3, r3, 4
  addi r4, r4, -4
again:
  bge r4, r3, part
  addi r14, r14, -12
  sw r15, r14, 0
  sw r3, r14, 4
  sw r11, r14, 8
  addi r11, r4, 0
  jal sort
  lw r10, r14, 4
  lw r11, r14, 8
  jal sort
  lw r15, r14, 0
  addi r14, r14, 12
return:
  jr r15
