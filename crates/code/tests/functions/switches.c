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
