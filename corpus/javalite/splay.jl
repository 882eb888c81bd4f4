; A search tree whose nodes move up when they are looked for, one rotation at a time. With `bug`, a rotation loses the
; subtree between the two nodes.
(class Node ([Node left] [Node right] [int key])
  ((bool ordered [int low] [int high]
     (begin
       (if ((this $ key) <= low) (return false) else true)
       (if (high <= (this $ key)) (return false) else true)
       (if ((this $ left) = null) true else
         (if ((this $ left) @ ordered low (this $ key)) true else (return false)))
       (if ((this $ right) = null) true else
         (if ((this $ right) @ ordered (this $ key) high) true else (return false)))
       true))

   (int size
     (begin
       ((if ((this $ left) = null) 0 else ((this $ left) @ size)) +
         ((if ((this $ right) = null) 0 else ((this $ right) @ size)) + 1))))

   (Node up [int key] [bool bug]
     (var Node top := this in
       (begin
         (if (key < (this $ key))
             (if ((this $ left) = null) null else
               (begin
                 (this $ left := ((this $ left) @ up key bug))
                 (top := (this $ left))
                 (if bug (this $ left := null) else (this $ left := (top $ right)))
                 (top $ right := this)))
           else null)
         (if ((this $ key) < key)
             (if ((this $ right) = null) null else
               (begin
                 (this $ right := ((this $ right) @ up key bug))
                 (top := (this $ right))
                 (if bug (this $ right := null) else (this $ right := (top $ left)))
                 (top $ left := this)))
           else null)
         top)))))

(class Splay ([Node root])
  ((bool repOK (if ((this $ root) = null) true else ((this $ root) @ ordered -1000 1000)))
   (bool find [int key] [bool bug]
     (var int before := 0 in
       (begin
         (if ((this $ root) = null) (return true) else true)
         (before := ((this $ root) @ size))
         (this $ root := ((this $ root) @ up key bug))
         (assert (this @ repOK))
         (assert (((this $ root) @ size) = before)))))
   (bool check [int key] (this @ find key false))
   (bool checkBug [int key] (this @ find key true))))
(Splay check)
