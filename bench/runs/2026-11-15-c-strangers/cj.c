#include "../cJSON-1.7.15/cJSON.c"
int main(void) {
  char buf[8]; size_t n = fread(buf, 1, 7, stdin); buf[n] = 0;
  cJSON *j = cJSON_Parse(buf);
  if (!j) return 1;
  char *s = cJSON_PrintUnformatted(j);
  if (s) { puts(s); cJSON_free(s); }
  cJSON_Delete(j);
  return 0;
}
