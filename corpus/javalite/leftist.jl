; A leftist heap: merging two heaps. `mergeBug` does not swap the children.
(class Node ([Node left] [Node right] [int key] [int rank])
  ((int leftRank (if ((this $ left) = null) 0 else ((this $ left) $ rank)))
   (int rightRank (if ((this $ right) = null) 0 else ((this $ right) $ rank)))

   (bool leftist [int low] [int fuel]
     (begin
       (if (fuel = 0) (return false) else true)
       (if ((this $ key) < low) (return false) else true)
       (if ((this $ left) = null) true else
         (if ((this $ left) @ leftist (this $ key) (fuel - 1)) true else (return false)))
       (if ((this $ right) = null) true else
         (if ((this $ right) @ leftist (this $ key) (fuel - 1)) true else (return false)))
       (if ((this @ leftRank) < (this @ rightRank)) (return false) else true)
       ((this $ rank) = ((this @ rightRank) + 1))))

   (Node merge [Node other] [bool bug]
     (begin
       (if (other = null) (return this) else null)
       (if ((other $ key) < (this $ key)) (return (other @ merge this bug)) else null)
       (if ((this $ right) = null)
           (this $ right := other)
         else
           (this $ right := ((this $ right) @ merge other bug)))
       (if bug null else
         (if ((this @ leftRank) < (this @ rightRank))
             (var Node left := (this $ left) in
               (begin (this $ left := (this $ right)) (this $ right := left)))
           else null))
       (this $ rank := ((this @ rightRank) + 1))
       this))))

(class Heap ([Node root])
  ((bool repOK (if ((this $ root) = null) true else ((this $ root) @ leftist -1000 4)))
   (bool insert [int key] [bool bug]
     (var Node node := (new Node) in
       (begin
         (assume (-1000 <= key))
         (node $ key := key)
         (node $ rank := 1)
         (this $ root := (node @ merge (this $ root) bug))
         ; One level more than before is fine, so the check has more fuel.
         (assert ((this $ root) @ leftist -1000 6)))))
   (bool check [int key] (this @ insert key false))
   (bool checkBug [int key] (this @ insert key true))))
(Heap check)
