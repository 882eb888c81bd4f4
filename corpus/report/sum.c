#include <stdlib.h>
#include <string.h>
struct node { int key; struct node *next; };
static int limit = 3;
int sum(const int *values, int count)
{
  int total = 0;
  for (int i = 0; i <= count; i++)
    if (values[i] > limit)
      total += values[i];
  return total;
}
int scale(int n)
{
  int half = n / 2;
  return half * 3;
}
int main(int argc, char **argv)
{
  int data[4];
  int n;
  if (argc > 1)
    n = scale(argc);
  else
    n = 4;
  for (int i = 0; i < 4; i++)
    data[i] = i * n;
  struct node *p = malloc(sizeof *p);
  if (p)
    p->key = sum(data, 4);
  return p->key;
}
