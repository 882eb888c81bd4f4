// finds: uninitialised
// with: part_show.c
// Half of an array is set, all of it is looked at.
#include "show.h"
int main(void) {
  int *numbers = malloc(6 * sizeof *numbers), sum = 0;
  if (!numbers) return 1;
  for (int i = 0; i < 3; i++) numbers[i] = i;
  for (int i = 0; i < 6; i++) sum += numbers[i];
  if (sum > 3) show_text("large"); //~ uninitialised
  free(numbers);
  return 0;
}
