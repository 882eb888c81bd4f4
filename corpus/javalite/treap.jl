; A treap: a search tree by keys, a heap by priorities. With `bug`, a new node stays where it was hung.
(class Node ([Node left] [Node right] [int key] [int priority])
  ((bool ordered [int low] [int high] [int least]
     (begin
       (if ((this $ key) <= low) (return false) else true)
       (if (high <= (this $ key)) (return false) else true)
       (if ((this $ priority) < least) (return false) else true)
       (if ((this $ left) = null) true else
         (if ((this $ left) @ ordered low (this $ key) (this $ priority)) true else (return false)))
       (if ((this $ right) = null) true else
         (if ((this $ right) @ ordered (this $ key) high (this $ priority)) true else (return false)))
       true))

   (Node insert [Node made] [bool bug]
     (var Node top := this in
       (begin
         (if ((made $ key) = (this $ key)) (return this) else null)
         (if ((made $ key) < (this $ key))
             (begin
               (this $ left := (if ((this $ left) = null) made else ((this $ left) @ insert made bug)))
               (top := (this $ left))
               (if (if bug false else ((top $ priority) < (this $ priority)))
                   (begin (this $ left := (top $ right)) (top $ right := this) (return top))
                 else null))
           else
             (begin
               (this $ right := (if ((this $ right) = null) made else ((this $ right) @ insert made bug)))
               (top := (this $ right))
               (if (if bug false else ((top $ priority) < (this $ priority)))
                   (begin (this $ right := (top $ left)) (top $ left := this) (return top))
                 else null)))
         this)))))

(class Treap ([Node root])
  ((bool repOK (if ((this $ root) = null) true else ((this $ root) @ ordered -1000 1000 0)))
   (bool insert [int key] [int priority] [bool bug]
     (var Node made := (new Node) in
       (begin
         (assume (-1000 < key))
         (assume (key < 1000))
         (assume (0 <= priority))
         (made $ key := key)
         (made $ priority := priority)
         (this $ root := (if ((this $ root) = null) made else ((this $ root) @ insert made bug)))
         (assert (this @ repOK)))))
   (bool check [int key] [int priority] (this @ insert key priority false))
   (bool checkBug [int key] [int priority] (this @ insert key priority true))))
(Treap check)
