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

#endif
