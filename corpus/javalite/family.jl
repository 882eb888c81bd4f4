; A tree of any width: first child, next sibling, and the way back up. With `bug`, a subtree that moves keeps its old parent.
(class Node ([Node child] [Node sibling] [Node parent])
  ((bool family [int fuel]
     (var Node child := (this $ child) in
       (begin
         (while (child != null)
           (begin
             (if (fuel = 0) (return false) else true)
             (fuel := (fuel - 1))
             (if ((child $ parent) = this) true else (return false))
             (if (child @ family fuel) true else (return false))
             (child := (child $ sibling))))
         true)))))

(class Family ([Node root])
  ((bool repOK
     (begin
       (if ((this $ root) = null) (return false) else true)
       (if (((this $ root) $ parent) = null) true else (return false))
       (if (((this $ root) $ sibling) = null) true else (return false))
       ((this $ root) @ family 3)))

   ; The first grandchild becomes the first child.
   (bool lift [bool bug]
     (var Node child := ((this $ root) $ child) in
       (begin
         (if (child = null) (return false) else true)
         (var Node up := (child $ child) in
           (begin
             (if (up = null) (return false) else true)
             (child $ child := (up $ sibling))
             (up $ sibling := child)
             ((this $ root) $ child := up)
             (if bug null else (up $ parent := (this $ root)))
             true)))))

   (bool check (begin (this @ lift false) (assert ((this $ root) @ family 6))))
   (bool checkBug (begin (this @ lift true) (assert ((this $ root) @ family 6))))))
(Family check)
