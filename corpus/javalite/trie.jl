; A trie of words of truth values: no leaf without a word. With `bug`, a word that is removed leaves its leaf behind.
(class Node ([Node zero] [Node one] [bool word])
  ((bool isLeaf (if ((this $ zero) = null) ((this $ one) = null) else false))
   (bool full [int fuel]
     (begin
       (if (fuel = 0) (return false) else true)
       (if (this @ isLeaf) (return (this $ word)) else true)
       (if ((this $ zero) = null) true else
         (if ((this $ zero) @ full (fuel - 1)) true else (return false)))
       (if ((this $ one) = null) true else
         (if ((this $ one) @ full (fuel - 1)) true else (return false)))
       true))))

(class Trie ([Node root])
  ((bool repOK (if ((this $ root) = null) true else ((this $ root) @ full 4)))

   (Node insert [Node node] [bool first] [bool second] [int left]
     (var Node here := (if (node = null) (new Node) else node) in
       (begin
         (if (left = 0) (begin (here $ word := true) (return here)) else null)
         (if first
             (here $ one := (this @ insert (here $ one) second second (left - 1)))
           else
             (here $ zero := (this @ insert (here $ zero) second second (left - 1))))
         here)))

   (Node remove [Node node] [bool first] [bool second] [int left] [bool bug]
     (begin
       (if (node = null) (return null) else null)
       (if (left = 0)
           (node $ word := false)
         else
           (begin
             (if first
                 (node $ one := (this @ remove (node $ one) second second (left - 1) bug))
               else
                 (node $ zero := (this @ remove (node $ zero) second second (left - 1) bug)))
             false))
       (if bug (return node) else null)
       (if (node @ isLeaf) (if (node $ word) node else null) else node)))

   (bool check [bool first] [bool second]
     (begin
       (this $ root := (this @ insert (this $ root) first second 2))
       (assert (this @ repOK))))
   (bool checkBug [bool first] [bool second]
     (begin
       (this $ root := (this @ remove (this $ root) first second 1 true))
       (assert (this @ repOK))))))
(Trie check)
