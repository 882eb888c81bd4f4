; Expressions as objects: a number, a negation, a sum. Simplifying must not change the value. With `bug`, a sum with
; zero on its left is taken for zero.
(class Expression ([int number])
  ((int value (this $ number))
   (bool small [int fuel] (0 < fuel))
   (bool isZero ((this $ number) = 0))
   (Expression simpler [bool bug] this)))
(class Negation extends Expression ([Expression of])
  ((int value (0 - ((this $ of) @ value)))
   (bool small [int fuel]
     (begin
       (if (fuel <= 0) (return false) else true)
       (if ((this $ of) = null) (return false) else true)
       ((this $ of) @ small (fuel - 1))))
   (bool isZero false)
   (Expression simpler [bool bug]
     (var Expression inner := ((this $ of) @ simpler bug) in (if (inner @ isZero) inner else this)))))
(class Sum extends Expression ([Expression left] [Expression right])
  ((int value (((this $ left) @ value) + ((this $ right) @ value)))
   (bool small [int fuel]
     (begin
       (if (fuel <= 0) (return false) else true)
       (if ((this $ left) = null) (return false) else true)
       (if ((this $ right) = null) (return false) else true)
       (if ((this $ left) @ small (fuel - 1)) true else (return false))
       ((this $ right) @ small (fuel - 1))))
   (bool isZero false)
   (Expression simpler [bool bug]
     (begin
       (if ((this $ left) @ isZero) (return (if bug (this $ left) else (this $ right))) else this)
       (if ((this $ right) @ isZero) (this $ left) else this)))))
(class Formula ([Expression root])
  ((bool repOK (if ((this $ root) = null) false else ((this $ root) @ small 2)))
   (bool check
     (assert ((((this $ root) @ simpler false) @ value) = ((this $ root) @ value))))
   (bool checkBug
     (assert ((((this $ root) @ simpler true) @ value) = ((this $ root) @ value))))))
(Formula check)
