static const struct entry { int code; const char *name; } entries[] = {{3, "three"}, {7, "seven"}};
const char *lookup(int code) {
  for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++)
    if (entries[i].code == code) return entries[i].name;
  return 0;
}
