; An AVL tree: insertion with rotations. With `bug`, a rotation leaves the height of the old root as it was.
(class Node ([Node left] [Node right] [int key] [int height])
  ((int leftHeight (if ((this $ left) = null) 0 else ((this $ left) $ height)))
   (int rightHeight (if ((this $ right) = null) 0 else ((this $ right) $ height)))
   (bool measure
     (begin
       (if ((this @ leftHeight) < (this @ rightHeight))
           (this $ height := ((this @ rightHeight) + 1))
         else
           (this $ height := ((this @ leftHeight) + 1)))
       true))

   (bool balanced [int low] [int high]
     (begin
       (if ((this $ key) <= low) (return false) else true)
       (if (high <= (this $ key)) (return false) else true)
       (if ((this $ left) = null) true else
         (if ((this $ left) @ balanced low (this $ key)) true else (return false)))
       (if ((this $ right) = null) true else
         (if ((this $ right) @ balanced (this $ key) high) true else (return false)))
       (var int left := (this @ leftHeight) in
       (var int right := (this @ rightHeight) in
         (begin
           (if ((left + 1) < right) (return false) else true)
           (if ((right + 1) < left) (return false) else true)
           (if (left < right) ((this $ height) = (right + 1)) else ((this $ height) = (left + 1))))))))

   (Node rotateRight [bool bug]
     (var Node up := (this $ left) in
       (begin
         (this $ left := (up $ right))
         (up $ right := this)
         (if bug true else (this @ measure))
         (up @ measure)
         up)))

   (Node rotateLeft
     (var Node up := (this $ right) in
       (begin
         (this $ right := (up $ left))
         (up $ left := this)
         (this @ measure)
         (up @ measure)
         up)))

   (Node insert [int key] [bool bug]
     (begin
       (if (key = (this $ key)) (return this) else null)
       (if (key < (this $ key))
           (if ((this $ left) = null)
               (begin (this $ left := (new Node)) ((this $ left) $ key := key) ((this $ left) $ height := 1))
             else
               (this $ left := ((this $ left) @ insert key bug)))
         else
           (if ((this $ right) = null)
               (begin (this $ right := (new Node)) ((this $ right) $ key := key) ((this $ right) $ height := 1))
             else
               (this $ right := ((this $ right) @ insert key bug))))
       (this @ measure)
       (if (((this @ rightHeight) + 1) < (this @ leftHeight))
           (begin
             (if (((this $ left) @ leftHeight) < ((this $ left) @ rightHeight))
                 (this $ left := ((this $ left) @ rotateLeft))
               else null)
             (return (this @ rotateRight bug)))
         else null)
       (if (((this @ leftHeight) + 1) < (this @ rightHeight))
           (begin
             (if (((this $ right) @ rightHeight) < ((this $ right) @ leftHeight))
                 (this $ right := ((this $ right) @ rotateRight false))
               else null)
             (return (this @ rotateLeft)))
         else null)
       this))))

(class Avl ([Node root])
  ((bool repOK (if ((this $ root) = null) true else ((this $ root) @ balanced -1000 1000)))
   (bool insert [int key] [bool bug]
     (begin
       (assume (-1000 < key))
       (assume (key < 1000))
       (if ((this $ root) = null)
           (begin (this $ root := (new Node)) ((this $ root) $ key := key) ((this $ root) $ height := 1))
         else
           (this $ root := ((this $ root) @ insert key bug)))
       (assert (this @ repOK))))
   (bool check [int key] (this @ insert key false))
   (bool checkBug [int key] (this @ insert key true))))
(Avl check)
