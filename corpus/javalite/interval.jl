; An interval tree: ordered by lower end, each node knows the highest upper end below it. With `bug`, insertion does not
; bring it up to date on the way.
(class Node ([Node left] [Node right] [int low] [int high] [int most])
  ((bool ordered [int least] [int last] [int fuel]
     (var int most := (this $ high) in
       (begin
         (if (fuel = 0) (return false) else true)
         (if ((this $ low) < least) (return false) else true)
         (if (last < (this $ low)) (return false) else true)
         (if ((this $ high) < (this $ low)) (return false) else true)
         (if ((this $ left) = null) true else
           (begin
             (if ((this $ left) @ ordered least ((this $ low) - 1) (fuel - 1)) true else (return false))
             (if (most < ((this $ left) $ most)) (most := ((this $ left) $ most)) else 0)
             true))
         (if ((this $ right) = null) true else
           (begin
             (if ((this $ right) @ ordered (this $ low) last (fuel - 1)) true else (return false))
             (if (most < ((this $ right) $ most)) (most := ((this $ right) $ most)) else 0)
             true))
         ((this $ most) = most))))

   (bool insert [int low] [int high] [bool bug]
     (begin
       (if bug 0 else (if ((this $ most) < high) (this $ most := high) else 0))
       (if (low < (this $ low))
           (if ((this $ left) = null) (this $ left := (this @ leaf low high)) else (begin ((this $ left) @ insert low high bug) null))
         else
           (if ((this $ right) = null) (this $ right := (this @ leaf low high)) else (begin ((this $ right) @ insert low high bug) null)))
       true))

   (Node leaf [int low] [int high]
     (var Node made := (new Node) in
       (begin (made $ low := low) (made $ high := high) (made $ most := high) made)))))

(class Intervals ([Node root])
  ((bool repOK (if ((this $ root) = null) true else ((this $ root) @ ordered -1000 1000 3)))
   (bool insert [int low] [int high] [bool bug]
     (begin
       (assume (-1000 <= low))
       (assume (low <= high))
       (assume (low <= 1000))
       (if ((this $ root) = null) (return true) else true)
       ((this $ root) @ insert low high bug)
       (assert ((this $ root) @ ordered -1000 1000 5))))
   (bool check [int low] [int high] (this @ insert low high false))
   (bool checkBug [int low] [int high] (this @ insert low high true))))
(Intervals check)
