__attribute__((weak)) int hook(int);
int main(int argc, char **argv) {
  if (hook) return hook(1);
  if (argc > 1) return hook(2); //~ x
  return 0;
}
