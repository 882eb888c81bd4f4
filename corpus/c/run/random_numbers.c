#include <stdio.h>
#include <stdlib.h>
int main(void) { for (int i = 0; i < 3; i++) printf("%d ", rand()); srand(42); for (int i = 0; i < 5; i++) printf("%d ", rand() % 1000); srand(0); printf("%d\n", rand()); }
