fn sieve(n) {
    let flags = [];
    let i = 0;
    while i < n { push(flags, true); i = i + 1; }
    let count = 0;
    i = 2;
    while i < n {
        if flags[i] { count = count + 1; let j = i * i; while j < n { flags[j] = false; j = j + i; } }
        i = i + 1;
    }
    return count;
}
print sieve(2000000);
