/* What a program can say to Parallax. Other compilers see nothing. */
#ifndef PARALLAX_H
#define PARALLAX_H

#ifdef __clang__
/* MIX(typed), MIX(symbolic), MIX(model): how a function is analysed by `parallax check`. Write it before or after the
   declarator, on a definition or a declaration. */
#define MIX(mode) __attribute__((annotate("mix:" #mode)))
#else
#define MIX(mode)
#endif

/* Contracts: assumed where a function is entered, checked where it is called. */

/* A contract outside of the function, in a file that is given with the others:
   PX_CONTRACT(parse)(const char *text, unsigned long n) { PX_REQUIRES(PX_BYTES(text, n)); } */
#define PX_CONTRACT(function) void __parallax_contract_##function
#ifdef __PARALLAX__
void __parallax_requires(int holds);
void __parallax_ensures(int holds);
int __parallax_has_bytes(const void *at, unsigned long count);
int __parallax_is_string(const char *text);
int __parallax_apart(const void *a, const void *b);
/* At the start of a function: what its callers promise. */
#define PX_REQUIRES(condition) __parallax_requires(!!(condition))
/* Before it returns: what it promises. */
#define PX_ENSURES(condition) __parallax_ensures(!!(condition))
/* There are COUNT bytes at AT. */
#define PX_BYTES(at, count) __parallax_has_bytes(at, count)
/* TEXT ends with a NUL within its object. */
#define PX_STRING(text) __parallax_is_string(text)
/* A and B are in different objects. */
#define PX_APART(a, b) __parallax_apart(a, b)
#else
#define PX_REQUIRES(condition) ((void)0)
#define PX_ENSURES(condition) ((void)0)
#define PX_BYTES(at, count) 1
#define PX_STRING(text) 1
#define PX_APART(a, b) 1
#endif

#endif
