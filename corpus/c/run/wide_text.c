// Wide characters: copying, searching, comparing, numbers, formatted output.
#include <stdlib.h>
#include <wchar.h>
#include <wctype.h>
int main(void) {
  wchar_t text[64], *rest, *state;
  wcscpy(text, L"alpha,beta;;gamma");
  wprintf(L"%zu %d %d\n", wcslen(text), wcscmp(text, L"alpha") > 0, wcsncmp(text, L"alpha", 5));
  wprintf(L"[%ls] [%10ls] [%-8.3ls] [%s] [%c]\n", text, L"right", L"cutoff", "narrow", 'x');
  for (wchar_t *t = wcstok(text, L",;", &state); t; t = wcstok(NULL, L",;", &state)) wprintf(L"<%ls>", t);
  wprintf(L"%ls|%ls\n", wcschr(L"key=value", L'=') + 1, wcsstr(L"one two three", L"two"));
  wchar_t out[16];
  int n = swprintf(out, 16, L"%d-%05.1f-%x", -7, 2.25, 255);
  wprintf(L"%d %ls\n", n, out);
  wprintf(L"%d\n", swprintf(out, 4, L"too long"));
  wmemset(out, L'z', 3);
  out[3] = 0;
  wcscat(out, L"Az9 ");
  for (wchar_t *p = out; *p; p++)
    wprintf(L"%d%d%d%lc ", !!iswalpha(*p), !!iswdigit(*p), !!iswspace(*p), towupper(*p));
  char bytes[16];
  wprintf(L"\n%zu %zu\n", wcstombs(bytes, L"back", sizeof bytes), mbstowcs(out, "again", 16));
  wchar_t *copy = wcsdup(out);
  wprintf(L"%ls %d\n", copy, wmemcmp(copy, out, 5));
  free(copy);
  return 0;
}
