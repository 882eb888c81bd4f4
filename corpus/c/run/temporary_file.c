// A temporary file: written, sought in, read back by characters, lines, blocks and formats.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  FILE *file = tmpfile();
  if (!file) return 1;
  fprintf(file, "%d %s\n%5.2f|\nlast", 17, "words", 3.14159);
  printf("%ld\n", ftell(file));
  rewind(file);
  char line[32], *grown = NULL;
  size_t room = 0;
  int number;
  if (fscanf(file, "%d %31s", &number, line) == 2) printf("%d %s\n", number, line);
  printf("%d ", fgetc(file) == '\n');
  printf("%ld ", (long)getline(&grown, &room, file));
  fputs(grown, stdout);
  printf("%s %d\n", fgets(line, sizeof line, file), feof(file));
  printf("%d %d\n", fgetc(file), feof(file) != 0);
  fseek(file, -4, SEEK_END);
  printf("%zu %.4s\n", fread(line, 1, sizeof line, file), line);
  clearerr(file);
  fseek(file, 0, SEEK_SET);
  ungetc('#', file);
  printf("%c%c\n", fgetc(file), fgetc(file));
  fseek(file, 3, SEEK_SET);
  fputs("WORDS", file);
  fseek(file, 0, SEEK_SET);
  printf("%s", fgets(line, sizeof line, file));
  free(grown);
  fclose(file);
  printf("%d\n", fopen("/no/such/folder/file", "r") == NULL);
  return 0;
}
