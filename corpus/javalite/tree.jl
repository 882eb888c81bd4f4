; A binary search tree: its precondition, search and insertion. `attachBug` hangs a leaf on whichever side is free.
(class Node ([Node left] [Node right] [int key])
  ((bool ordered [int low] [int high]
     (begin
       (if ((this $ key) <= low) (return false) else true)
       (if (high <= (this $ key)) (return false) else true)
       (if ((this $ left) = null) true else
         (if ((this $ left) @ ordered low (this $ key)) true else (return false)))
       (if ((this $ right) = null) true else
         (if ((this $ right) @ ordered (this $ key) high) true else (return false)))
       true))))

(class Tree ([Node root])
  ((bool repOK (if ((this $ root) = null) true else ((this $ root) @ ordered -1000 1000)))

   (Node search [int key]
     (var Node node := (this $ root) in
       (begin
         (while (node != null)
           (begin
             (if ((node $ key) = key) (return node) else null)
             (if (key < (node $ key)) (node := (node $ left)) else (node := (node $ right)))))
         null)))

   (bool attach [Node parent] [Node leaf]
     (begin
       (if ((leaf $ key) < (parent $ key)) (parent $ left := leaf) else (parent $ right := leaf))
       true))

   (bool attachBug [Node parent] [Node leaf]
     (begin
       (if ((parent $ left) = null) (parent $ left := leaf) else (parent $ right := leaf))
       true))

   (bool insert [int key] [bool bug]
     (var Node node := (this $ root) in
     (var Node parent := null in
     (var Node leaf := (new Node) in
       (begin
         (leaf $ key := key)
         (while (node != null)
           (begin
             (if ((node $ key) = key) (return false) else true)
             (parent := node)
             (if (key < (node $ key)) (node := (node $ left)) else (node := (node $ right)))))
         (if (parent = null) (this $ root := leaf) else
           (if bug (this @ attachBug parent leaf) else (this @ attach parent leaf)))
         true)))))

   (bool check [int key]
     (begin (assume (-1000 < key)) (assume (key < 1000)) (this @ insert key false) (assert (this @ repOK))))
   (bool checkBug [int key]
     (begin (assume (-1000 < key)) (assume (key < 1000)) (this @ insert key true) (assert (this @ repOK))))))
(Tree search)
