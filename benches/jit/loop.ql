fn loop(n) { let s = 0; let i = 0; while i < n { s = (s + i * i) % 1000003; i = i + 1; } return s; }
print loop(100000000);
