/* The program of Fig. 4.8: two functions that do nothing, called in nested loops. */
#ifndef LOOP_I
#define LOOP_I 16
#endif
#define LOOP_J 16
#define LOOP_K 16
#define LOOP_L 8
void foo(int x, int y) {}
void bar(int z) {}
int main(void) {
    int i, j, k, l;
    for (i = 0; i < LOOP_I; i++) {
        for (j = 0; j < LOOP_J; j++) {
            for (k = 0; k < LOOP_K; k++) {
                bar(i * LOOP_K + k);
            }
            foo(i, i * LOOP_J + j);
            for (l = 0; l < LOOP_L; l++) {
                bar(i * LOOP_L + l);
            }
        }
    }
    return 0;
}
