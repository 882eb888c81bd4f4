// A switch that becomes a table: dense cases, some of which share their code, and values that no arithmetic gives.
int choose(int x, int y) {
  switch (x) {
    case 0: return y + 1;
    case 1: return y * 3;
    case 2: return y ^ 0x55;
    case 3: return 7 - y;
    case 4: case 9: return y & 12;
    case 5: return y << 2;
    case 6: return y | 3;
    case 7: return ~y;
    case 8: return y - 100;
    case 10: return y / 16;
    case 11: return -y;
    default: return 42;
  }
}

// The index is wide and its first case is not zero.
long offset_cases(long x, long y) {
  switch (x) {
    case 100: return y + 1;
    case 101: return y * 3;
    case 102: return y ^ 0x55;
    case 103: return 7 - y;
    case 104: return y & 12;
    case 105: return y << 2;
    case 106: return y | 3;
    default: return 1;
  }
}

// A machine of seven states: the switch is in a loop, and which case comes next depends on the input and on the case.
int machine(int x, int y) {
  unsigned input = x;
  int state = 0, n = y;
  for (int i = 0; i < 6; i++) {
    unsigned c = input & 15;
    input >>= 4;
    switch (state) {
      case 0: if (c == 1) state = 1; else if (c == 2) state = 2; else state = 5; break;
      case 1: n += c; state = c & 1 ? 2 : 3; break;
      case 2: n ^= c; state = 4; break;
      case 3: n -= c * 3; state = c > 9 ? 0 : 6; break;
      case 4: n *= 5; state = 0; break;
      case 5: if (c == 0) return -1; n += 2; state = 1; break;
      case 6: n = ~n; state = c == 7 ? 5 : 3; break;
    }
  }
  return n;
}

// Two ways lead back to the head of the loop, and every round may divide by zero as far as an instruction knows.
int divisor(int x, int y) {
  unsigned n = x, d = y & 1;
  for (unsigned i = 2; i < 20; i++)
    if (n % (i + d) == 0 && n != i) return i;
  return 0;
}
