; A skew heap: melding swaps the children on its way. With `bug`, the smaller root is hung below the larger.
(class Node ([Node left] [Node right] [int key])
  ((bool heap [int low] [int fuel]
     (begin
       (if (fuel = 0) (return false) else true)
       (if ((this $ key) < low) (return false) else true)
       (if ((this $ left) = null) true else
         (if ((this $ left) @ heap (this $ key) (fuel - 1)) true else (return false)))
       (if ((this $ right) = null) true else
         (if ((this $ right) @ heap (this $ key) (fuel - 1)) true else (return false)))
       true))

   (Node meld [Node other] [bool bug]
     (var Node left := (this $ left) in
       (begin
         (if (other = null) (return this) else null)
         (if bug null else (if ((other $ key) < (this $ key)) (return (other @ meld this bug)) else null))
         (this $ left := (if ((this $ right) = null) other else ((this $ right) @ meld other bug)))
         (this $ right := left)
         this)))))

(class Skew ([Node root])
  ((bool repOK (if ((this $ root) = null) true else ((this $ root) @ heap -1000 3)))
   (bool insert [int key] [bool bug]
     (var Node made := (new Node) in
       (begin
         (assume (-1000 <= key))
         (made $ key := key)
         (this $ root := (made @ meld (this $ root) bug))
         (assert ((this $ root) @ heap -1000 6)))))
   (bool check [int key] (this @ insert key false))
   (bool checkBug [int key] (this @ insert key true))))
(Skew check)
