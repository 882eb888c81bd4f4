// finds: assertion
// symbolic-stdin: 12
// A ball in a maze: the assertion fails where the exit is reached.
#include <assert.h>
#include <stdio.h>
static char maze[5][8] = {"+-+---+", "| |  #|", "| + + |", "|   | |", "+---+-+"};
int main(void) {
  int x = 1, y = 1;
  char moves[12];
  if (fread(moves, 1, 12, stdin) != 12) return 1;
  for (int i = 0; i < 12; i++) {
    int ox = x, oy = y;
    switch (moves[i]) {
    case 'w': y--; break;
    case 's': y++; break;
    case 'a': x--; break;
    case 'd': x++; break;
    default: return 2;
    }
    assert(maze[y][x] != '#'); //~ assertion
    if (maze[y][x] != ' ' || (ox == x && oy == y)) return 3;
  }
  return 0;
}
