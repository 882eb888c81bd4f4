; A pairing heap: children in a list, none smaller than its parent. With `bug`, melding loses the children there were.
(class Node ([Node child] [Node sibling] [int key])
  ((bool heap [int low] [int fuel]
     (var Node child := (this $ child) in
       (begin
         (if (fuel = 0) (return false) else true)
         (if ((this $ key) < low) (return false) else true)
         (while (child != null)
           (begin
             (if (child @ heap (this $ key) (fuel - 1)) true else (return false))
             (fuel := (fuel - 1))
             (if (fuel = 0) (return false) else true)
             (child := (child $ sibling))))
         true)))

   (int size
     (var Node child := (this $ child) in
     (var int count := 1 in
       (begin
         (while (child != null)
           (begin (count := (count + (child @ size))) (child := (child $ sibling))))
         count))))

   (Node meld [Node other] [bool bug]
     (begin
       (if ((other $ key) < (this $ key)) (return (other @ meld this bug)) else null)
       (if bug (other $ sibling := null) else (other $ sibling := (this $ child)))
       (this $ child := other)
       this))))

(class Pairing ([Node root])
  ((bool repOK
     (begin
       (if ((this $ root) = null) (return true) else true)
       (if (((this $ root) $ sibling) = null) ((this $ root) @ heap -1000 3) else false)))
   (bool insert [int key] [bool bug]
     (var Node made := (new Node) in
     (var int before := 0 in
       (begin
         (assume (-1000 <= key))
         (made $ key := key)
         (if ((this $ root) = null) (begin (this $ root := made) (return true)) else true)
         (before := ((this $ root) @ size))
         (this $ root := ((this $ root) @ meld made bug))
         (assert ((this $ root) @ heap -1000 6))
         (assert (((this $ root) @ size) = (before + 1)))))))
   (bool check [int key] (this @ insert key false))
   (bool checkBug [int key] (this @ insert key true))))
(Pairing check)
